"""What sealed records of prunings and erasures say was deleted, as far as it may have been.

Whoever can write into the database can write such a record too, and have it sealed. So retention is
believed to have deleted what was six months old, and nothing that explains the log; what was
deleted on request is told apart from it, for the request gives a reason that somebody can look at.
"""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Final

from toolpolicy.audit.verification.contradictions import columns
from toolpolicy.conf import LEAST_RETENTION_DAYS
from toolpolicy.models import Record
from toolpolicy.models.choices import RecordKind

KEPT: Final = frozenset(
    (RecordKind.PRUNE, RecordKind.ERASE, RecordKind.ROTATION, RecordKind.REPAIR)
)
"""Kinds whose texts explain the log itself; they are never deleted."""
_OLD: Final = timedelta(days=LEAST_RETENTION_DAYS - 1)
"""How old a text is that retention deletes; a day less, for clocks that were set meanwhile."""
Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """A sealed record that says what was deleted: its number, and spans with both ends included.

    `youngest` is the day to which texts were too old to be kept; "": somebody asked for it.
    """

    seq: int
    spans: Sequence[Span]
    youngest: str

    @classmethod
    def read(cls, seq: int, at: datetime, text: str, member: str) -> "Deletion":
        """Read the text of such a record; an altered one explains nothing."""
        try:
            said = json.loads(text)
            spans = [(int(first), int(last)) for first, last in said[member]]
            on_request = said.get("before") is None
        except (ValueError, TypeError, KeyError, AttributeError):
            return cls(seq=seq, spans=(), youngest="")
        youngest = "" if on_request else (at - _OLD).date().isoformat()
        return cls(seq=seq, spans=spans, youngest=youngest)

    def explains(self, seq: int, at: str) -> bool:
        """Tell whether it may have deleted something of a record: its number, its time."""
        return seq < self.seq and (not self.youngest or at[:10] <= self.youngest)


class Deletions:
    """Which sealed record explains that something of another one is gone; never of some kinds."""

    __slots__ = ("_by", "_ends", "_firsts", "_never", "_reach")

    def __init__(self, known: Iterable[Deletion] = (), never: frozenset[str] = frozenset()) -> None:
        self._never = never
        found = sorted(
            ((*span, one) for one in known for span in one.spans),
            key=lambda item: (item[0], item[1], item[2].seq),
        )
        self._firsts = [first for first, _, _ in found]
        self._ends = [last for _, last, _ in found]
        self._by = [by for _, _, by in found]
        # How far those up to a place reach: a forged one may lie over many others.
        self._reach = list(accumulate(self._ends, max))

    def of(self, seq: int, header: bytes) -> Deletion | None:
        """Return what explains that something of a record is gone; None: nothing does."""
        candidates = list(self._over(seq))
        row = columns(header) if candidates else {}
        if not row or row["kind"] in self._never:
            return None
        return next((one for one in candidates if one.explains(seq, row["at"])), None)

    def _over(self, seq: int) -> Iterator[Deletion]:
        place = bisect_right(self._firsts, seq) - 1
        while place >= 0 and self._reach[place] >= seq:
            if self._ends[place] >= seq:
                yield self._by[place]
            place -= 1


@dataclass(frozen=True, slots=True)
class Known:
    """What was deleted, as the log says: texts, with their masked values, and such values alone."""

    texts: Deletions
    values: Deletions


NOTHING: Final = Known(Deletions(), Deletions())


def known() -> Known:
    """Read every sealed record of a deletion."""
    return Known(texts_deleted(), Deletions(_told(RecordKind.ERASE, "spans")))


def texts_deleted() -> Deletions:
    """Read every sealed record of a pruning."""
    return Deletions(_told(RecordKind.PRUNE, "bodies"), never=KEPT)


def _told(kind: RecordKind, member: str) -> Iterator[Deletion]:
    found = Record.objects.filter(kind=kind, leaf__isnull=False, body__isnull=False)
    rows = found.order_by("pk").values_list("leaf__seq", "at", "body__text")
    for seq, at, text in rows.iterator(chunk_size=100):
        yield Deletion.read(seq, at, text, member)
