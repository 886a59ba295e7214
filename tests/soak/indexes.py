"""Kinds of indexes for a long log on PostgreSQL, each put in the place of ours and taken back."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from statistics import median
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Max, Min

from tests.soak.filling import fill
from toolpolicy.models import Leaf, Record

TIMES: Final = 5
WRITTEN: Final = 2000
Lookup = Callable[[], object]
Found = dict[str, Any]
DROPPED: Final = {
    "record_at": "DROP INDEX record_at",
    "leaf": "ALTER TABLE toolpolicy_leaf DROP CONSTRAINT toolpolicy_leaf_pkey",
}
CANDIDATES: Final = {
    "record_at": {
        "btree": "CREATE INDEX candidate ON toolpolicy_record (at)",
        "brin": "CREATE INDEX candidate ON toolpolicy_record USING brin (at)",
    },
    "leaf": {
        "btree": "CREATE UNIQUE INDEX candidate ON toolpolicy_leaf (seq)",
        "brin": "CREATE INDEX candidate ON toolpolicy_leaf USING brin (seq)",
    },
}


def indexes() -> dict[str, Any]:
    """Measure each candidate: its size, how long it takes to build, what is looked for with it."""
    found: dict[str, Any] = {}
    for place, candidates in CANDIDATES.items():
        lookups = _of_times() if place == "record_at" else _of_leaves()
        found[place] = {
            kind: _measured(DROPPED[place], statement, lookups)
            for kind, statement in candidates.items()
        }
    return {"records": Record.objects.count(), **found, "whole": True}


def _of_times() -> dict[str, Lookup]:
    ends = Record.objects.aggregate(first=Min("at"), last=Max("at"))
    middle: datetime = ends["first"] + (ends["last"] - ends["first"]) / 2
    by_time = Record.objects.order_by("at", "id").values_list("id", flat=True)
    minute = Record.objects.filter(at__gte=middle, at__lt=middle + timedelta(minutes=1))
    return {
        "the first since a time": lambda: by_time.filter(at__gte=middle).first(),
        "how many in a minute": lambda: minute.order_by().count(),
        f"{WRITTEN} written": lambda: fill(WRITTEN),
    }


def _of_leaves() -> dict[str, Lookup]:
    first = Leaf.objects.count() // 2
    block = Leaf.objects.filter(seq__gte=first, seq__lt=first + 1000).order_by("seq")
    return {
        "a block's leaves": lambda: list(block.values_list("hash", flat=True)),
        "the newest leaf": lambda: Leaf.objects.order_by("-seq").first(),
    }


def _measured(drop: str, create: str, lookups: dict[str, Lookup]) -> Found:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(drop)
        took = _milliseconds(lambda: cursor.execute(create), times=1)
        cursor.execute("ANALYZE toolpolicy_record, toolpolicy_leaf")
        cursor.execute("SELECT pg_relation_size('candidate')")
        found = {"KiB": cursor.fetchone()[0] // 1024, "built_ms": took}
        said = {name: _milliseconds(lookup) for name, lookup in lookups.items()}
        transaction.set_rollback(True)
    return {**found, **said}


def _milliseconds(work: Lookup, times: int = TIMES) -> float:
    took: Sequence[float] = [_once(work) for _ in range(times)]
    return round(1000 * median(took), 2)


def _once(work: Lookup) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started
