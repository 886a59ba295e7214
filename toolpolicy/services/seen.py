"""What callers sent as context: the keys and values that a rule's `when` and a target can meet.

Each is written once. A process remembers for a day what it has seen written, so that a decision in
a context that is known costs no query. What is a session's own is not kept: there are as many as
there are conversations. What is kept goes with the records that it was sent with: when its time is
over, when somebody is erased, when its key is masked. What is still sent comes back within a day.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet, Window
from django.db.models.functions import RowNumber

from toolpolicy.engine.subjects import RESERVED_CONTEXT
from toolpolicy.models import SeenContext

MOST_KEYS: Final = 100
MOST_VALUES: Final = 1_000
"""Of one key."""

SESSION: Final = "session"
_ALWAYS: Final = ("agent", "channel", SESSION, *RESERVED_CONTEXT)

_known: set[tuple[str, str]] = set()
_full: set[str] = set()
"""Keys with as many values as they may have."""
_all: set[str] = set()
"""Every key that is kept, once there is no room for another; empty before."""
_days: set[date] = set()
"""The day on which the others were remembered."""


def note(contexts: Iterable[Mapping[str, str]], now: datetime) -> None:
    """Keep what is new in these contexts: no query unless something is, then three at most.

    Belongs into the transaction of what was asked. Beyond the bounds nothing is kept.
    """
    if now.date() not in _days:
        forget()
        _days.add(now.date())
    sent = {pair for context in contexts for pair in context.items() if _may_be_kept(pair[0])}
    new = sent - _known
    if not new:
        return
    names = {key for key, _ in new}
    stored = set(SeenContext.objects.filter(key__in=names).values_list("key", "value"))
    counts = Counter(key for key, _ in stored)
    keys = names if names <= counts.keys() else set(_stored_keys())
    kept, full, every = [], set(), set[str]()
    for key, value in sorted(new - stored):
        if counts[key] >= MOST_VALUES:
            full.add(key)
        elif key not in keys and len(keys) >= MOST_KEYS:
            every = keys
        else:
            keys.add(key)
            counts[key] += 1
            kept.append(SeenContext(key=key, value=value, first_seen_at=now))
    # In one order: two transactions that keep the same do not wait for each other crosswise.
    SeenContext.objects.bulk_create(kept, ignore_conflicts=True)
    known = stored | {(row.key, row.value) for row in kept}
    transaction.on_commit(partial(_remember, known, full, every))


def _may_be_kept(key: str) -> bool:
    return key != SESSION and key not in _full and (not _all or key in _all)


def _stored_keys() -> list[str]:
    return list(SeenContext.objects.order_by("key").values_list("key", flat=True).distinct())


def _remember(known: set[tuple[str, str]], full: set[str], every: set[str]) -> None:
    _known.update(known)
    _full.update(full)
    _all.update(every)


def forget() -> None:
    """Forget what this process knows to be written."""
    _known.clear()
    _full.clear()
    _all.clear()
    _days.clear()


def counted(context: Mapping[str, str]) -> int:
    """Return how many of these values of their keys are kept. One query."""
    return _holding(context).count()


def erase(context: Mapping[str, str]) -> int:
    """Delete these values of their keys; return how many were kept. One query."""
    return _deleted(_holding(context))


def _holding(context: Mapping[str, str]) -> QuerySet[SeenContext]:
    sought = Q(pk__in=())
    for key, value in context.items():
        sought |= Q(key=key, value=value)
    return SeenContext.objects.filter(sought)


def erase_hidden(shows: Callable[[str], bool]) -> int:
    """Delete the values of every key that records do not show; return how many. Two queries."""
    hidden = [key for key in _stored_keys() if not shows(key)]
    return _deleted(SeenContext.objects.filter(key__in=hidden))


def erase_before(end: datetime) -> int:
    """Delete what was written before `end`; return how many. One query."""
    return _deleted(SeenContext.objects.filter(first_seen_at__lt=end))


def _deleted(found: QuerySet[SeenContext]) -> int:
    count, _ = found.delete()
    transaction.on_commit(forget)
    return count


def keys() -> list[str]:
    """Return the context keys that callers sent or that have a meaning of their own. One query."""
    return sorted({*_ALWAYS, *_stored_keys()})


def values(key: str) -> list[str]:
    """Return the values of a key that callers sent, none of `session`. One query."""
    return list(SeenContext.objects.filter(key=key).values_list("value", flat=True))


def offered(most: int) -> dict[str, list[str]]:
    """Return the keys of `keys`, each with at most so many of its values. One query."""
    place = Window(RowNumber(), partition_by="key", order_by="value")
    rows = SeenContext.objects.annotate(place=place).filter(place__lte=most)
    found: dict[str, list[str]] = {key: [] for key in _ALWAYS}
    for key, value in rows.order_by("key", "value").values_list("key", "value"):
        found.setdefault(key, []).append(value)
    return found


def values_of(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the values of each of these keys, as `values` does. One query."""
    found: dict[str, list[str]] = {name: [] for name in names}
    rows = SeenContext.objects.filter(key__in=found).order_by("key", "value")
    for key, value in rows.values_list("key", "value"):
        found[key].append(value)
    return found


def is_complete(key: str) -> bool:
    """Tell whether a value that is not among a key's values was never sent. Two queries at most."""
    if key == SESSION:
        return False
    stored = _stored_keys()
    if key not in stored:
        return len(stored) < MOST_KEYS
    return SeenContext.objects.filter(key=key).count() < MOST_VALUES
