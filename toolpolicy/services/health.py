"""Whether this server can answer: its process, database, live policy, triggers and seals.

What goes wrong beside that, and keeps no answer back, is noted.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from django.db import DatabaseError, connection

from toolpolicy import database_errors
from toolpolicy.audit import triggers
from toolpolicy.audit.triggers import Wrong
from toolpolicy.conf import conf
from toolpolicy.services import policies, sealing, stored_texts, streams
from toolpolicy.services.errors import ServiceError

logger = logging.getLogger(__name__)
OK: Final = "ok"
TRIGGERS: Final = {
    Wrong.MISSING: "{} triggers that protect records do not stand",
    Wrong.ALTERED: "{} triggers that protect records were altered",
    Wrong.FOREIGN: "{} triggers or rules on their tables are foreign",
}
LONGEST_LAG: Final = 60
"""Seconds that a record may wait for its seal."""


def readiness() -> dict[str, str]:
    """Return `ok` or what is wrong, for each thing that answers need. Never raises."""
    return {name: _judged(name, check) for name, check in CHECKS.items()}


def notes() -> dict[str, str]:
    """Return `ok` or what is wrong, for each thing that no answer needs. Never raises."""
    return {"stream": _judged("stream", _stream)} if conf().stream_file else {}


def _judged(name: str, check: Callable[[], str]) -> str:
    try:
        return check()
    except DatabaseError as error:
        # The cause may name hosts and users; it is for the log.
        database_errors.log(logger, error, "readiness: %s", name)
        return "the database does not answer"


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return OK


def _policy() -> str:
    version = policies.live()
    if version is None:
        return "no policy is live; run `manage.py setup`"
    try:
        stored_texts.text_of("policy", version.document_id)
    except ServiceError as error:
        return error.faults[0].message
    return OK


def _triggers() -> str:
    counted = Counter(fault.wrong for fault in triggers.faults(connection))
    found = [words.format(counted[wrong]) for wrong, words in TRIGGERS.items() if counted[wrong]]
    if not found:
        return OK
    return f"{', '.join(found)}; see `manage.py check --database default`"


def _seals() -> str:
    waited = sealing.lag()
    if waited <= LONGEST_LAG:
        return OK
    return (
        f"the oldest record that is not sealed waits for {waited:.0f} s; see `manage.py audit seal`"
    )


def _stream() -> str:
    waited = streams.lag()
    if waited <= LONGEST_LAG:
        return OK
    return f"a sealed record waits for {waited:.0f} s to be streamed; see the worker's output"


CHECKS: Final[Mapping[str, Callable[[], str]]] = {
    "database": _database,
    "policy": _policy,
    "triggers": _triggers,
    "seals": _seals,
}
