"""How far the stream of records is behind, for whoever watches; it holds up no decision."""

from datetime import datetime
from pathlib import Path

from django.utils import timezone

from toolpolicy.audit.line_files import LineFile
from toolpolicy.conf import conf
from toolpolicy.models import Block, Leaf, StreamState


def states() -> tuple[StreamState, ...]:
    """Return every stream there ever was."""
    return tuple(StreamState.objects.order_by("target"))


def backlog(state: StreamState) -> int:
    """Return how many sealed records a stream has not written yet."""
    newest = Leaf.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
    return max(0, newest - state.seq)


def kept() -> StreamState | None:
    """Return how far the stream of the settings is; None where there is none."""
    if not conf().stream_file:
        return None
    target = LineFile(Path(conf().stream_file)).name
    found = StreamState.objects.filter(target=target).first()
    return found or StreamState(target=target)


def lag() -> float:
    """Return for how many seconds the stream of the settings lacks a sealed record; 0: for none."""
    state = kept()
    since = state and _sealed_after(state.seq)
    return max(0.0, (timezone.now() - since).total_seconds()) if since else 0.0


def _sealed_after(seq: int) -> datetime | None:
    """Return when the record after a number was sealed; None while there is none."""
    if not Leaf.objects.filter(seq__gt=seq).exists():
        return None
    block = Block.objects.filter(first__lte=seq + 1, count__gt=0).order_by("-first").first()
    return block.at if block else None
