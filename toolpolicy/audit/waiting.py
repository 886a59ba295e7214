"""Records that are not sealed yet, found without reading the whole history.

Never "after the last one": connections commit out of the order of their ids. Each look goes back to
what was sealed some time before, and from there only on. What comes later than that is a straggler,
looked for now and then (`keeping`).

From there it goes in spans of ids with two ends: so a database that has no statistics yet cannot
decide to read a whole table.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Exists, Min, OuterRef
from django.utils import timezone

from toolpolicy.audit.headers import COLUMNS
from toolpolicy.audit.signing import SealRefused
from toolpolicy.audit.unreadable import Unreadable, reading
from toolpolicy.models import Block, Leaf, Record, RecordBody
from toolpolicy.models.records import RecordQuerySet

RECENT: Final = timedelta(minutes=1)
"""How far back each look goes: a transaction that writes records is over sooner."""
STRAGGLERS: Final = timedelta(days=1)
"""How far back those looks go that are for stragglers."""
SETTLED: Final = timedelta(minutes=15)
"""After so long nothing that is older than a sealed record is still on its way."""
SHORTEST: Final = 1000
"""Ids in the first span of a look."""
LONGEST: Final = 32_000
LAST_ID: Final = 2**63 - 1
BEFORE_ALL: Final = -(2**63)
"""No row has this id: looks for all begin after it."""


def waiting(limit: int, *, after: int) -> list[tuple[Any, ...]]:
    """Return the first unsealed records after an id, each as its id and its `headers.COLUMNS`.

    Raise SealRefused when one cannot be read.
    """
    found: list[tuple[Any, ...]] = []
    with legible():
        for some in _unsealed(after):
            found += some.values_list("pk", *COLUMNS)[: limit - len(found)]
            if len(found) == limit:
                break
    return found


@contextmanager
def legible() -> Iterator[None]:
    """Raise SealRefused where a record holds what it cannot hold."""
    try:
        with reading():
            yield
    except Unreadable as error:
        raise SealRefused(f"a record that is to be sealed cannot be read: {error}") from error


def oldest_waiting() -> datetime | None:
    """Return the time of the first unsealed record; None when all are sealed."""
    firsts = (some.values_list("at", flat=True).first() for some in _unsealed(floor(RECENT)))
    return next((at for at in firsts if at is not None), None)


def count_waiting(most: int, *, up_to: Record | None = None) -> int:
    """Return how many records are unsealed, counted up to `most`; of those up to a record."""
    count = 0
    for some in _unsealed(floor(RECENT)):
        found = some if up_to is None else some.filter(pk__lte=up_to.pk)
        count += found[: most - count].count()
        if count >= most:
            break
    return count


def floor(back: timedelta) -> int:
    """Return an id up to which every record was looked at when it was sealed, so long ago.

    That is the last record of a block of then, unless its id is far ahead of those that were given
    since: somebody wrote it by hand. So it is no higher than the first one of the time after.
    """
    before = Block.objects.filter(at__lt=timezone.now() - back, count__gt=0).order_by("-at")
    place = before.values_list("first", "count").first()
    if place is None:
        return BEFORE_ALL
    first, count = place
    leaf = Leaf.objects.filter(seq=first + count - 1).values_list("record_id", flat=True).first()
    # The time stays in the database: it may hold one that is none.
    since = Record.objects.filter(at__gte=before.values("at")[:1]).order_by("at", "pk")
    begin = since.values_list("pk", flat=True).first()
    ends = [end for end in (leaf, None if begin is None else begin - 1) if end is not None]
    return min(ends, default=BEFORE_ALL)


def spans(
    after: int, model: type[Record | RecordBody] = Record, *, end: int = LAST_ID
) -> Iterator[tuple[int, int]]:
    """Yield spans of ids, both ends included, that together hold every row after an id, to an end.

    They get longer: what is sealed is passed over fast, and who finds enough soon reads little.
    """
    length = SHORTEST
    while after < end and (first := _first(model, after, end)) is not None:
        after = min(first + length - 1, end)
        yield first, after
        length = min(2 * length, LONGEST)


def _first(model: type[Record | RecordBody], after: int, end: int) -> int | None:
    rows = model._default_manager.filter(pk__gt=after, pk__lte=end)  # noqa: SLF001  (Django's own)
    first: int | None = rows.aggregate(first=Min("pk"))["first"]
    return first


def _unsealed(after: int) -> Iterator[RecordQuerySet]:
    """Yield the unsealed records after an id, span by span, each in the order of the ids."""
    for first, last in spans(after):
        sealed = Leaf.objects.filter(record=OuterRef("pk"), record__gte=first, record__lte=last)
        yield Record.objects.filter(~Exists(sealed), pk__range=(first, last)).order_by("pk")
