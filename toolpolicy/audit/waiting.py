"""Records that are not sealed yet, found without reading the whole history.

Never "after the last one": connections commit out of the order of their ids. Each look goes back to
what was sealed some time before, and from there only on. What comes later than that is a straggler,
looked for now and then (`keeping`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

from django.utils import timezone

from toolpolicy.audit.headers import COLUMNS
from toolpolicy.audit.signing import SealRefused
from toolpolicy.audit.unreadable import Unreadable, reading
from toolpolicy.models import Block, Leaf, Record
from toolpolicy.models.records import RecordQuerySet

RECENT: Final = timedelta(minutes=1)
"""How far back each look goes: a transaction that writes records is over sooner."""
STRAGGLERS: Final = timedelta(days=1)
"""How far back those looks go that are for stragglers."""
SETTLED: Final = timedelta(minutes=15)
"""After so long nothing that is older than a sealed record is still on its way."""


def waiting(limit: int, *, after: int) -> list[tuple[Any, ...]]:
    """Return the first unsealed records after an id, each as its id and its `headers.COLUMNS`.

    Raise SealRefused when one cannot be read.
    """
    with legible():
        return list(_unsealed(after).values_list("pk", *COLUMNS)[:limit])


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
    return _unsealed(floor(RECENT)).values_list("at", flat=True).first()


def count_waiting(most: int, *, up_to: Record | None = None) -> int:
    """Return how many records are unsealed, counted up to `most`; of those up to a record."""
    found = _unsealed(floor(RECENT))
    return (found if up_to is None else found.filter(pk__lte=up_to.pk))[:most].count()


def floor(back: timedelta) -> int:
    """Return an id up to which every record was looked at when it was sealed, so long ago."""
    before = Block.objects.filter(at__lt=timezone.now() - back, count__gt=0).order_by("-at")
    place = before.values_list("first", "count").first()
    if place is None:
        return 0
    first, count = place
    leaf = Leaf.objects.filter(seq=first + count - 1).values_list("record_id", flat=True).first()
    return leaf or 0


def _unsealed(after: int) -> RecordQuerySet:
    return Record.objects.filter(leaf__isnull=True, pk__gt=after).order_by("pk")
