"""What people and programs do with the sealed log: seal, verify, repair, change the key.

The sealing itself, and what a seal proves, is in `toolpolicy.audit`.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from toolpolicy.audit import checkpoints, heads, keeping, keys, repairing, sealer, sinks, writer
from toolpolicy.audit.blocks import block_hash
from toolpolicy.audit.signing import SealRefused, Signer, signer, signer_of
from toolpolicy.audit.verification.findings import Verdict
from toolpolicy.audit.verification.whole import Progress
from toolpolicy.audit.verification.whole import verify as judge
from toolpolicy.audit.verification.whole import verify_newest_segment as judge_newest
from toolpolicy.audit.waiting import count_waiting, oldest_waiting
from toolpolicy.models import Block, SealKey, SinkState, StreamState
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import streams
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.errors import Refused

MOST_COUNTED = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How the log stands: its newest block, what waits, what sinks and streams were told."""

    head: Block | None
    waiting: int
    oldest: datetime | None
    refused: str
    sinks: tuple[SinkState, ...]
    streams: tuple[StreamState, ...]

    @property
    def repaired(self) -> bool:
        """Whether a repair closed a part of the log."""
        return self.head is not None and self.head.segment > 1

    @property
    def lag(self) -> float:
        """Seconds since the oldest record that is not sealed was written; 0 when all are."""
        if self.oldest is None:
            return 0.0
        return max(0.0, (timezone.now() - self.oldest).total_seconds())


def lag() -> float:
    """Return how many seconds the oldest unsealed record waits; 0 when all are sealed."""
    oldest = oldest_waiting()
    return 0.0 if oldest is None else max(0.0, (timezone.now() - oldest).total_seconds())


def checkpoint_file() -> str:
    """Return where the checkpoint file of this log is; "" where the settings name none."""
    return str(sinks.checkpoint_file(heads.log_id()) or "")


def newest_block() -> Block | None:
    """Return the newest sealed block. One query."""
    return Block.objects.order_by("-number").first()


def status() -> Status:
    """Return how the log stands, and why it is not sealed any further if so."""
    return Status(
        head=newest_block(),
        waiting=count_waiting(MOST_COUNTED),
        oldest=oldest_waiting(),
        refused=_refusal(),
        sinks=tuple(SinkState.objects.order_by("name")),
        streams=streams.states(),
    )


def _refusal() -> str:
    try:
        key = signer()
        if Block.objects.exists():
            heads.trusted(key)
    except SealRefused as error:
        return str(error)
    return ""


def after_commit() -> None:
    """Seal as soon as the transaction is committed: evidence stands before the effect is told."""
    transaction.on_commit(keeping.seal_now)


def seal() -> int:
    """Seal all that waits and tell the sinks; return how many records. Raise Refused."""
    try:
        count = sealer.seal_all(back=None)
        checkpoints.tell(at_once=True)
    except SealRefused as error:
        raise Refused("not_sealed", str(error)) from error
    return count


def verify(
    *,
    actor: Actor,
    full: bool,
    progress: Progress | None = None,
    origin: Origin = NOWHERE,
    processes: int = 1,
) -> Verdict:
    """Judge the log and record what came out: all of it, or what is new since the last time.

    A long log is read by so many processes. Raise BrokenExecutor when one of them ends.
    """
    verdict = judge(full=full, progress=progress or _silent, processes=processes)
    first = verdict.first
    said = f"is broken: {first.message}" if first else "is good"
    summary = f"verified {verdict.records} records: the log {said}"
    _record(RecordKind.VERIFY, "verify", summary, {"verdict": _short(verdict)}, actor, origin)
    return verdict


def _silent(_done: int, _all: int) -> None:
    """Tell nobody."""


def _short(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict for its record, with the first of its findings only."""
    first = verdict.first
    counted = len(verdict.findings) + verdict.more
    return {
        **verdict.wire(),
        "findings": [first.wire()] if first else [],
        "more_findings": max(0, counted - 1),
    }


def repair(*, actor: Actor, note: str, origin: Origin = NOWHERE) -> Block:
    """Close the broken segment with an explanation and begin the next; rewrites nothing.

    Raise Refused when the log, or what was sealed since the last repair, is whole
    (`nothing_to_repair`), when it has no key (`not_sealed`) or the note is empty.
    """
    if not note.strip():
        raise Refused("note_missing", "say what happened to the log, and what was found out")
    if judge(full=True).good:
        raise Refused("nothing_to_repair", "the log is whole; nothing is to be repaired")
    if repairing.was_repaired() and judge_newest().good:
        message = "nothing is broken since the last repair; nothing is to be repaired"
        raise Refused("nothing_to_repair", message)
    try:
        block = repairing.close_segment(note.strip())
    except SealRefused as error:
        raise Refused("not_sealed", str(error)) from error
    summary = f"closed segment {block.segment - 1} of the log: {note.strip()}"
    said = {"block": {"n": block.number, "hash": block_hash(block.text)}}
    _record(RecordKind.REPAIR, "repair", summary, said, actor, origin)
    keeping.seal_now()
    return block


def rotate(*, actor: Actor, seed: str, origin: Origin = NOWHERE) -> SealKey:
    """Make the private key `seed` the one that seals from now on; the old one vouches for it.

    The record of it is sealed by the old key. Raise Refused when the log cannot go on.
    """
    new = signer_of(seed)
    try:
        with transaction.atomic():
            sealer.locked(wait=True)
            old = signer()
            key = _introduced(old, new)
            _record_rotation(key, actor, origin)
            sealer.seal_all()
            key.save()
    except SealRefused as error:
        raise Refused("not_sealed", str(error)) from error
    return key


def _introduced(old: Signer, new: Signer) -> SealKey:
    log = heads.checked_log(old)
    chain = keys.chain()
    if any(key.key_id == new.key_id for key in chain):
        raise Refused("key_known", "this key has sealed the log before; make a new one")
    text = keys.statement(log, old, new)
    return SealKey(
        key_id=new.key_id,
        position=len(chain) + 1,
        public=new.public,
        statement=text,
        signature=old.sign(text),
    )


def _record_rotation(key: SealKey, actor: Actor, origin: Origin) -> None:
    said = {"statement": key.statement, "signature": key.signature}
    summary = f"the key {key.key_id} seals from now on"
    _record(RecordKind.ROTATION, "rotate", summary, said, actor, origin)


def _record(
    kind: RecordKind,
    action: str,
    summary: str,
    said: dict[str, Any],
    actor: Actor,
    origin: Origin,
) -> None:
    body = {
        "action": action,
        "summary": summary,
        "actor": actor.wire(),
        "origin": origin.wire(),
        **said,
    }
    index = writer.RecordIndex(
        actor_label=actor.label, object_label=summary, request_id=origin.request_id
    )
    with transaction.atomic():
        writer.write(kind=kind, body=body, index=index, client=actor.client)
