"""Verifying the log from a page: in the background, with how far it is, one at a time."""

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from toolpolicy import database_errors
from toolpolicy.models import Record, VerificationRun
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import sealing, verdicts
from toolpolicy.services.actors import NOWHERE, Actor, Origin

logger = logging.getLogger(__name__)
# A run that says nothing for so long was interrupted: its process ended.
SILENCE: Final = timedelta(seconds=30)
EVERY: Final = 0.5
KEPT: Final = 20
_FAILED: Final = "the verification failed; the server's log says why"


def newest() -> VerificationRun | None:
    """Return the run that was started last."""
    return VerificationRun.objects.first()


def is_running(run: VerificationRun) -> bool:
    """Tell whether a run goes on; one whose process ended does not."""
    return run.ended_at is None and timezone.now() - run.seen_at < SILENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A verification that is over; `good` is None where it was interrupted."""

    good: bool | None
    full: bool
    who: str
    at: datetime
    lines: Sequence[str]


def last() -> Verified | None:
    """Return the verification that ended last, whoever ran it and from where. Two queries.

    One from a page tells all of its lines; of another, its record tells the first that is wrong,
    and what repairs closed.
    """
    run = newest()
    found = Record.objects.filter(kind=RecordKind.VERIFY, body__isnull=False).newest_first()
    record = found.select_related("body").first()
    if run is not None and (record is None or record.at < (run.ended_at or run.started_at)):
        good = run.good if run.ended_at else None
        return Verified(
            good=good, full=run.full, who=run.started_by_label, at=run.started_at, lines=run.lines
        )
    return _recorded(record) if record else None


def _recorded(record: Record) -> Verified:
    body = json.loads(record.body.text)
    verdict = body["verdict"]
    return Verified(
        good=verdict["good"],
        full=verdict["full"],
        who=record.actor_label,
        at=record.at,
        lines=[body["summary"], *verdicts.closed_lines(verdict["closed"])],
    )


def start(*, actor: Actor, full: bool, origin: Origin = NOWHERE) -> VerificationRun:
    """Start a verification and return at once; while one goes on, return that one."""
    with transaction.atomic():
        # The newest is locked, so that of two that start at once one finds the other.
        before = VerificationRun.objects.select_for_update().first()
        if before is not None and is_running(before):
            return before
        now = timezone.now()
        run = VerificationRun.objects.create(
            started_at=now, seen_at=now, started_by_label=actor.label, full=full
        )
        old = VerificationRun.objects.order_by("-pk").values_list("pk", flat=True)[KEPT:]
        VerificationRun.objects.filter(pk__in=list(old)).delete()
    transaction.on_commit(lambda: in_thread(lambda: _run(run, actor, origin)))
    return run


def in_thread(work: Callable[[], None]) -> None:
    """Do some work beside the request that started it."""
    threading.Thread(target=_closing(work), name="verification", daemon=True).start()


def _closing(work: Callable[[], None]) -> Callable[[], None]:
    def done() -> None:
        try:
            work()
        finally:
            connection.close()

    return done


def _run(run: VerificationRun, actor: Actor, origin: Origin) -> None:
    try:
        verdict = sealing.verify(
            actor=actor, full=run.full, origin=origin, progress=_Progress(run.pk)
        )
    except DatabaseError as error:
        database_errors.log(logger, error, "verification %s", run.pk)
        _end(run, good=None, lines=[_FAILED])
        return
    _end(run, good=verdict.good, lines=list(verdicts.lines(verdict)))


def _end(run: VerificationRun, *, good: bool | None, lines: list[str]) -> None:
    now = timezone.now()
    VerificationRun.objects.filter(pk=run.pk).update(
        ended_at=now, seen_at=now, good=good, lines=lines
    )


class _Progress:
    """Notes how far a run is, a few times a second at the most."""

    def __init__(self, run: int) -> None:
        self._run = run
        self._next = 0.0

    def __call__(self, done: int, last: int) -> None:
        if time.monotonic() < self._next and done < last:
            return
        self._next = time.monotonic() + EVERY
        VerificationRun.objects.filter(pk=self._run).update(
            done=done, last=last, seen_at=timezone.now()
        )
