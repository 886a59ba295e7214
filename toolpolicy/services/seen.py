"""What callers sent as context: the keys and values that a rule's `when` and a target can meet.

Each is written once. A process remembers what it has seen written, so that a decision in a context
that is known costs no query. What is a session's own is not kept: there are as many as there are
conversations.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import Window
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


def note(contexts: Iterable[Mapping[str, str]], now: datetime) -> None:
    """Keep what is new in these contexts: no query unless something is, then three at most.

    Belongs into the transaction of what was asked. Beyond the bounds nothing is kept.
    """
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
    for remembered in (_known, _full, _all):
        remembered.clear()


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
