"""Numbers that a writer gave and nobody finds: records that were deleted before they were sealed.

A writer's numbers have no gaps (`writer`), and a later one is never committed before an earlier
one of the same writer. So a missing number is a missing record.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Any, Final

from django.db.models import Q

from toolpolicy.models import Record

_AT_ONCE: Final = 200
Gap = tuple[str, int, int]


def gaps_before(numbers: Iterable[tuple[str, int]]) -> list[Gap]:
    """Return the gaps in and right before some records, each as (writer, first, last number).

    `numbers` are the writers and numbers of records; one query for every 200 writers.
    """
    given = set(numbers)
    # The one before may be sealed already, or wait for the next look: only the table tells.
    starts = sorted((w, n) for w, n in given if n > 1 and (w, n - 1) not in given)
    found: list[Gap] = []
    for place in range(0, len(starts), _AT_ONCE):
        found += _before(starts[place : place + _AT_ONCE])
    return found


def _before(starts: Sequence[tuple[str, int]]) -> Iterator[Gap]:
    wanted = reduce(or_, (Q(writer_id=writer, writer_n=number - 1) for writer, number in starts))
    there = set(Record.objects.filter(wanted).values_list("writer_id", "writer_n"))
    for writer, number in starts:
        if (writer, number - 1) not in there:
            yield writer, _last_before(writer, number) + 1, number - 1


def _last_before(writer: str, number: int) -> int:
    earlier: Any = Record.objects.filter(writer_id=writer, writer_n__lt=number)
    return earlier.order_by("-writer_n").values_list("writer_n", flat=True).first() or 0


def gaps_of(writer: str, last: int) -> Iterator[Gap]:
    """Yield every gap in the numbers of one writer up to `last`; memory does not grow."""
    given = Record.objects.filter(writer_id=writer).order_by("writer_n")
    before = 0
    for number in given.values_list("writer_n", flat=True).iterator(chunk_size=10_000):
        if number > before + 1:
            yield writer, before + 1, number - 1
        before = number
    if last > before:
        yield writer, before + 1, last
