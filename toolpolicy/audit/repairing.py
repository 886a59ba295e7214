"""Going on after a break: nothing is rewritten, a broken segment is closed and the next begins."""

from collections.abc import Iterator

from django.db import transaction
from django.db.models import Max

from toolpolicy.audit import heads, sealer
from toolpolicy.audit.blocks import block_hash, parse, parse_line
from toolpolicy.audit.heads import Head
from toolpolicy.audit.signing import signer
from toolpolicy.audit.sinks import SinkError, sinks
from toolpolicy.audit.waiting import STRAGGLERS, floor, waiting
from toolpolicy.models import Block, Leaf


def close_segment(note: str) -> Block:
    """Seal the first block of a new segment, with the reason why the one before was closed.

    It goes on after the newest block that the database or a sink knows. Raise SealRefused without
    the key of the log.
    """
    with transaction.atomic():
        sealer.locked(wait=True)
        key = signer()
        head = _after_the_newest(heads.checked_log(key, anew=True))
        return sealer.write(head, waiting(sealer.MOST, after=floor(STRAGGLERS)), key, note=note)


def was_repaired() -> bool:
    """Tell whether a block of the log is of a segment that a repair began."""
    return Block.objects.filter(segment__gt=1).exists()


def _after_the_newest(log: str) -> Head:
    number, text = max(_known(log), default=(0, ""))
    # Where no block is left of a sealed log, the segment that is closed was the first.
    segment = Block.objects.aggregate(last=Max("segment"))["last"] or int(heads.was_sealed())
    leaf = Leaf.objects.aggregate(last=Max("seq"))["last"] or 0
    end = Block.objects.order_by("-number").first()
    ends = [leaf + 1, end.first + end.count if end else 1]
    try:
        block = parse(text)
        segment, ends = max(segment, block.segment), [*ends, block.end]
    except ValueError:
        pass  # an altered block: its columns and the leaves tell enough
    return Head(
        log=log, n=number + 1, segment=segment + 1, first=max(ends), previous=block_hash(text)
    )


def _known(log: str) -> Iterator[tuple[int, str]]:
    """Yield the number and text of the newest block of the database and of each sink."""
    last = Block.objects.order_by("-number").first()
    if last is not None:
        yield last.number, last.text
    for sink in sinks(log):
        try:
            text, _ = parse_line(sink.newest() or "")
            block = parse(text)
        except (ValueError, SinkError):
            continue
        if block.log == log:
            yield block.n, text
