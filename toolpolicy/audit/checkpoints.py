"""Telling the sinks of the newest block, and saying in the log that they were told."""

import logging
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from toolpolicy.audit import heads, writer
from toolpolicy.audit.blocks import block_hash, checkpoint_line
from toolpolicy.audit.sinks import Sink, SinkError, number_of, sinks
from toolpolicy.conf import conf
from toolpolicy.models import Block, Record, SinkState
from toolpolicy.models.choices import RecordKind

logger = logging.getLogger(__name__)
# As long as the column for it.
_ERROR_LENGTH: Final = 500


def tell(*, only_local: bool = False, at_once: bool = False) -> None:
    """Tell every sink that lags of the newest block. What fails is noted, and tried again.

    `only_local` leaves out those over the network, `at_once` does not wait until they lag. Raise
    SealRefused, with no sink told, when one knows what the database does not: it is an older copy.
    """
    newest = Block.objects.order_by("-number").first()
    if newest is None:
        return
    found = [(sink, _known_to(sink, newest)) for sink in sinks(heads.log_id())]
    lagging = [sink for sink, number in found if number < newest.number]
    some = [sink for sink in lagging if sink.local or not only_local]
    due = [sink for sink in some if at_once or _is_due(sink)]
    if due or any(number > newest.number for _, number in found):
        heads.check_sinks(heads.log_id())
    told = [sink.name for sink in due if _told(sink, newest)]
    if told and _holds_more_than_checkpoints(newest):
        _record(newest, told)


def _known_to(sink: Sink, newest: Block) -> int:
    """Return the number of the block that a sink knows.

    What can be asked is asked: whoever may write into the database may write there how far it was
    told. Of the others a number that no block has yet is no number.
    """
    try:
        line = sink.newest()
    except SinkError:
        return 0
    if line is not None:
        return number_of(line)
    state = SinkState.objects.filter(name=sink.name).first()
    return state.block if state and state.block <= newest.number else 0


def _is_due(sink: Sink) -> bool:
    """Tell whether a sink was not tried for a while; a time that is still to come is none."""
    now = timezone.now()
    due = now - timedelta(seconds=conf().checkpoint_seconds)
    return not SinkState.objects.filter(
        name=sink.name, tried_at__gt=due, tried_at__lte=now
    ).exists()


def _told(sink: Sink, newest: Block) -> bool:
    now = timezone.now()
    try:
        sink.tell(checkpoint_line(newest.text, newest.signature))
    except SinkError as error:
        logger.warning("%s", error)
        _note(sink, now, str(error))
        return False
    done = {
        "block": newest.number,
        **dict.fromkeys(("at", "tried_at"), now),
        "failing_since": None,
        "error": "",
    }
    SinkState.objects.update_or_create(name=sink.name, defaults=done)
    return True


def _note(sink: Sink, now: datetime, error: str) -> None:
    state, _ = SinkState.objects.get_or_create(name=sink.name)
    state.tried_at, state.failing_since = now, state.failing_since or now
    state.error = error[:_ERROR_LENGTH]
    state.save()


def _holds_more_than_checkpoints(newest: Block) -> bool:
    """Tell it of a block: or else each checkpoint would need another one for its own record."""
    ends = newest.first, newest.first + newest.count - 1
    sealed = Record.objects.filter(leaf__seq__range=ends)
    return sealed.exclude(kind=RecordKind.CHECKPOINT).exists()


@transaction.atomic
def _record(newest: Block, told: list[str]) -> None:
    body = {
        "action": "checkpoint",
        "summary": f"told {', '.join(told)} of block {newest.number}",
        "block": {"n": newest.number, "hash": block_hash(newest.text)},
        "sinks": told,
    }
    index = writer.RecordIndex(object_label=f"block {newest.number}")
    writer.write(kind=RecordKind.CHECKPOINT, body=body, index=index)
