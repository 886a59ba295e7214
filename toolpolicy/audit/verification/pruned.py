"""Which texts retention deleted, as the sealed records of kind `prune` say."""

import json
from bisect import bisect_right
from collections.abc import Iterable

from toolpolicy.models import Record
from toolpolicy.models.choices import RecordKind

Span = tuple[int, int]


class Pruned:
    """Numbers of records whose texts were deleted, each with the number of the record that says so.

    Given are spans with both ends included, by the number of their record.
    """

    __slots__ = ("_by", "_ends", "_firsts")

    def __init__(self, spans: Iterable[tuple[Span, int]]) -> None:
        self._firsts: list[int] = []
        self._ends: list[int] = []
        self._by: list[int] = []
        for (first, last), by in sorted(spans):
            start = max(first, self._ends[-1] + 1) if self._ends else first
            if start > last:
                continue
            if self._by and self._by[-1] == by and start == self._ends[-1] + 1:
                self._ends[-1] = last
                continue
            self._firsts.append(start)
            self._ends.append(last)
            self._by.append(by)

    def __contains__(self, seq: int) -> bool:
        return self.by(seq) is not None

    def by(self, seq: int) -> int | None:
        """Return the number of the record that says that a text was deleted; None: none does."""
        place = bisect_right(self._firsts, seq) - 1
        return self._by[place] if place >= 0 and seq <= self._ends[place] else None


def pruned() -> Pruned:
    """Read every sealed record of a pruning; its member `bodies` holds the spans."""
    found = Record.objects.filter(kind=RecordKind.PRUNE, leaf__isnull=False, body__isnull=False)
    rows = found.order_by("pk").values_list("leaf__seq", "body__text").iterator(chunk_size=100)
    return Pruned((span, by) for by, text in rows for span in _spans(text))


def _spans(text: str) -> list[Span]:
    try:
        return [(int(first), int(last)) for first, last in json.loads(text)["bodies"]]
    except (ValueError, TypeError, KeyError):
        return []  # an altered text excuses nothing
