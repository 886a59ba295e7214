"""The stream of records: each sealed record once as a line of JSON, for what collects logs.

At least once, in the order of the log: the place that was reached moves on only after the lines are
safe. It runs beside what decides and what seals, and holds up neither.
"""

import json
import logging
from collections.abc import Callable
from threading import Event
from typing import Any, Final

from django.db import DatabaseError, close_old_connections, connection, transaction
from django.utils import timezone

from toolpolicy import database_errors
from toolpolicy.audit import writer
from toolpolicy.audit.bundles import line_of
from toolpolicy.audit.headers import NAMES, members
from toolpolicy.audit.line_files import LineTarget, StreamBusy, StreamError, StreamMoved
from toolpolicy.audit.sealed import SealedRecord, after, with_texts
from toolpolicy.audit.unreadable import Unreadable, reading
from toolpolicy.models import StreamState
from toolpolicy.models.choices import RecordKind

logger = logging.getLogger(__name__)
INTERVAL: Final = 1.0
"""Seconds between two looks for new records, and between two tries."""
BATCH: Final = 100
# As long as the column for it.
_ERROR_LENGTH: Final = 500


def stream_all(target: LineTarget, stop: Event | None = None) -> int:
    """Write every record that is sealed and not there yet; return how many.

    Raise StreamError when the target cannot be written; why is noted, and what was written counts.
    """
    count = 0
    while not (stop and stop.is_set()):
        try:
            written, more = _batch(target)
        except StreamMoved:
            continue  # written once more, to the new file
        except StreamBusy:
            raise
        except StreamError as error:
            _note(target.name, str(error))
            raise
        count += written
        if not more:
            break
    return count


def follow(target: LineTarget, stop: Event, say: Callable[[str], None]) -> None:
    """Write records as they are sealed until told to stop; `say` gets each new fault once."""
    said = ""
    while not stop.is_set():
        fault = _try(target, stop)
        if fault and fault != said:
            say(fault)
        said = fault
        stop.wait(INTERVAL)


def _try(target: LineTarget, stop: Event) -> str:
    try:
        close_old_connections()
        stream_all(target, stop)
    except StreamError as error:
        return str(error)
    except DatabaseError as error:
        connection.close()
        return database_errors.summary(error)
    return ""


def _batch(target: LineTarget) -> tuple[int, bool]:
    """Write the next records; return how many, and whether there may be more."""
    with target.writing() as write:
        state = _state(target.name)
        count, last, lines = _next(state.seq)
        if last == state.seq:
            return 0, False
        if lines:
            write(lines)
        done = {"seq": last, "at": timezone.now(), "failing_since": None, "error": ""}
        # Where another host writes as well, its place may be further on by now.
        StreamState.objects.filter(pk=state.pk, seq__lt=last).update(**done)
    return count, True


def _next(seq: int) -> tuple[int, int, bytes]:
    """Return how many records come next, the last number that was looked at, and their lines."""
    try:
        with reading():
            records, last = after(seq, BATCH)
            lines = b"".join(_line(one, text) for one, text in with_texts(records))
    except Unreadable as error:
        message = f"a record after {seq} cannot be read: {error}; see `manage.py audit verify`"
        raise StreamError(message) from error
    return len(records), last, lines


def _line(one: SealedRecord, text: str | None) -> bytes:
    _, *fields = members(one.row)
    return line_of(
        {"seq": one.seq, **dict(zip(NAMES, fields, strict=True)), "body": _body_of(text)}
    )


def _body_of(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return text  # altered in the database: given as it stands


@transaction.atomic
def _state(name: str) -> StreamState:
    """Return how far a target is; that records begin to go there is a record."""
    state, made = StreamState.objects.get_or_create(target=name)
    if made:
        body = {
            "action": "stream_begun",
            "summary": "every sealed record goes to a stream from now on",
            "target": name,
        }
        index = writer.RecordIndex(object_label=name)
        writer.write(kind=RecordKind.EXPORT, body=body, index=index)
    return state


def _note(name: str, error: str) -> None:
    state = _state(name)
    if state.error != error[:_ERROR_LENGTH] or state.failing_since is None:
        state.failing_since = state.failing_since or timezone.now()
        state.error = error[:_ERROR_LENGTH]
        state.save(update_fields=("failing_since", "error"))
