"""The newest block of the log, believed only after it was checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from toolpolicy.audit import keys
from toolpolicy.audit.blocks import (
    NOTHING_BEFORE,
    BlockText,
    block_hash,
    parse,
    parse_line,
)
from toolpolicy.audit.signing import SealRefused, Signer, is_signed
from toolpolicy.audit.sinks import SinkError, sinks
from toolpolicy.models import AuditState, Block, Leaf, Record, SealKey
from toolpolicy.models.choices import RecordKind

ALL_GONE: Final = "records speak of seals, and no block and no key of the log is there"
# Kinds of records that are written only where something is sealed.
_OF_SEALS: Final = (RecordKind.CHECKPOINT, RecordKind.ROTATION, RecordKind.REPAIR)
_ADVICE: Final = "; `manage.py audit verify` says what happened"


@dataclass(frozen=True, slots=True)
class Head:
    """Where the log goes on."""

    log: str
    n: int
    segment: int
    first: int
    previous: str
    at: str | None = None


def trusted(signer: Signer) -> Head:
    """Return where the next block goes. Raise SealRefused when the log cannot go on.

    The last block must be whole and signed by a key of the log, the leaves must end where it does,
    and no sink may know a newer one: a restored older database is found here.
    """
    log = checked_log(signer)
    chain = keys.chain()
    last = Block.objects.order_by("-number").first()
    check_sinks(log)
    if last is None:
        if Leaf.objects.exists():
            raise SealRefused("the log has sealed records and no block" + _ADVICE)
        return Head(log=log, n=1, segment=1, first=1, previous=NOTHING_BEFORE)
    block = _checked(last, log, chain)
    return Head(
        log=log,
        n=block.n + 1,
        segment=block.segment,
        first=block.end,
        previous=block_hash(last.text),
        at=block.at,
    )


def log_id() -> str:
    """Return the id of this database's log; made on the first call."""
    state, _ = AuditState.objects.get_or_create(pk=1)
    return str(state.log)


def was_sealed() -> bool:
    """Tell whether records speak of seals: a log that has none then was not always without."""
    return Record.objects.filter(kind__in=_OF_SEALS).exists()


def checked_log(signer: Signer, *, anew: bool = False) -> str:
    """Return the id of the log that a key may seal; the key becomes its first if it has none.

    Raise SealRefused when it may not, or when the chain of keys is broken. Where all seals are
    gone a log begins only `anew`, by somebody who says why.
    """
    log, chain = log_id(), keys.chain()
    if not chain and not Block.objects.exists():
        if was_sealed() and not anew:
            raise SealRefused(ALL_GONE + _ADVICE)
        keys.adopt(signer)
        chain = keys.chain()
    found = keys.faults(log, chain) or ([] if chain else ["the keys of the log are gone"])
    if found:
        raise SealRefused(found[0] + _ADVICE)
    keys.check_current(signer, chain)
    return log


def _checked(last: Block, log: str, chain: Sequence[SealKey]) -> BlockText:
    try:
        block = parse(last.text)
    except ValueError as error:
        raise SealRefused(f"block {last.number}: {error}{_ADVICE}") from error
    public = next((key.public for key in chain if key.key_id == block.key), "")
    newest = Leaf.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
    if block.log != log:
        raise SealRefused(f"block {block.n} is of another log{_ADVICE}")
    if block.n != last.number or not is_signed(public, last.text, last.signature):
        raise SealRefused(f"block {last.number} is not as it was signed{_ADVICE}")
    if newest != block.end - 1:
        raise SealRefused(f"sealed records end at {newest}, not at {block.end - 1}{_ADVICE}")
    return block


def check_sinks(log: str) -> None:
    """Raise SealRefused when a sink knows what the database does not, or cannot be read."""
    for sink in sinks(log):
        try:
            line = sink.newest()
        except SinkError as error:
            raise SealRefused(str(error)) from error
        if line is not None:
            check_line(sink.name, line, log)


def check_line(sink: str, line: str, log: str) -> None:
    """Raise SealRefused unless the line is a block that the database holds, word for word."""
    try:
        text, _ = parse_line(line)
        block = parse(text)
    except ValueError as error:
        raise SealRefused(f"the last line of the sink `{sink}` cannot be read: {error}") from error
    if block.log != log:
        raise SealRefused(
            f"the sink `{sink}` holds a checkpoint of the log {block.log}, this database is the "
            f"log {log}: a new database needs a sink of its own"
        )
    stored = Block.objects.filter(number=block.n).values_list("text", flat=True).first()
    if (
        stored is None
        and Block.objects.filter(segment__gt=block.segment, number__gt=block.n).exists()
    ):
        return  # a repair went on after it, and the sink was not told yet
    if stored is None:
        raise SealRefused(
            f"the sink `{sink}` knows block {block.n}, which this database does not hold: it is an "
            "older copy, or its end was cut off" + _ADVICE
        )
    if stored != text:
        raise SealRefused(f"block {block.n} differs from what the sink `{sink}` holds{_ADVICE}")
