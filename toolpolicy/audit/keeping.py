"""Keeping the log sealed: what the worker does each second, and a server where there is none."""

import logging
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NoReturn

from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from toolpolicy import database_errors
from toolpolicy.audit import checkpoints, sealer
from toolpolicy.audit.signing import SealRefused
from toolpolicy.audit.waiting import RECENT, STRAGGLERS, oldest_waiting
from toolpolicy.conf import conf

logger = logging.getLogger(__name__)
INTERVAL: Final = 1.0
"""Seconds between two rounds."""
PATIENCE: Final = timedelta(seconds=3)
"""How long a server waits for a worker to seal before it does so itself."""


LOOK_BACK: Final = 300.0
"""Seconds between two looks for stragglers, in each process."""


@dataclass(slots=True)
class _Looks:
    """When this process looks for stragglers next: at its first round, then now and then."""

    next_at: float = 0.0

    def is_due(self) -> bool:
        now = time.monotonic()
        due = now >= self.next_at
        if due:
            self.next_at = now + LOOK_BACK
        return due


_looks = _Looks()


def keep(patience: timedelta = timedelta(), *, stop: threading.Event | None = None) -> int:
    """Do one round: seal what waits longer than `patience`, show signs of life, tell the sinks.

    Return how many records were sealed. However much waits, a round ends after the block during
    which `stop` was set. Raise SealRefused when the log cannot go on.
    """
    count, stop = 0, stop or threading.Event()
    if _looks.is_due():
        count = _sealed(STRAGGLERS, stop)
    else:
        oldest = oldest_waiting()
        if oldest is not None and timezone.now() - oldest >= patience:
            count = _sealed(RECENT, stop)
    silence = timedelta(minutes=conf().seal_heartbeat_minutes)
    sealer.give_sign_of_life(silence + patience)
    checkpoints.tell()
    return count


def _sealed(back: timedelta, stop: threading.Event) -> int:
    count = 0
    for block in sealer.sealing(wait=False, back=back):
        count += block.count
        if stop.is_set():
            break
    return count


def seal_now() -> None:
    """Seal everything and tell the local sinks, before the caller goes on. Faults are logged.

    For what must be in evidence before it takes effect; whoever did it was answered anyway.
    """
    try:
        sealer.seal_all()
        checkpoints.tell(only_local=True, at_once=True)
    except (SealRefused, DatabaseError) as error:
        message = "sealing at once failed; the records wait to be sealed"
        database_errors.log(logger, error, message)


def keep_on() -> NoReturn:
    """Keep the log as long as the process lives, where no worker does; faults are logged.

    Each is said once, and again when it changes: a log is no place for one line a second.
    """
    pause, said = threading.Event(), ""
    while True:
        pause.wait(INTERVAL)
        said = _kept(said)


def _kept(said: str) -> str:
    """Do a round that waits for a worker; return what was wrong, logged unless just `said`."""
    try:
        close_old_connections()
        keep(PATIENCE)
    except SealRefused as error:
        if str(error) != said:
            logger.error("the log is not sealed: %s", error)  # noqa: TRY400  (no surprise)
        return str(error)
    except (DatabaseError, OSError) as error:
        if str(error) != said:
            database_errors.log(logger, error, "sealing failed; tried again each second")
        connection.close()
        return str(error)
    return ""
