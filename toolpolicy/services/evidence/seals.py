"""The seal of one record: its place in the log, and whether the proof of that place holds.

What the proof says is about this record and its block alone; that no other block was touched is
for a verification to say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.utils import timezone

from toolpolicy.audit import headers, keys, proofs
from toolpolicy.audit.blocks import BlockText, parse
from toolpolicy.audit.signing import is_signed
from toolpolicy.audit.unreadable import Unreadable, reading
from toolpolicy.audit.waiting import SETTLED
from toolpolicy.models import Block, Record, SealKey


class Holds(StrEnum):
    """What came of the proof."""

    GOOD = "good"
    RECORD_ALTERED = "record_altered"
    BLOCK_ALTERED = "block_altered"
    BLOCK_MISSING = "block_missing"
    KEY_UNKNOWN = "key_unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """Where a record stands in the log. Without its block, when and by which key is not known."""

    seq: int
    block: int | None
    at: datetime | None
    key: str
    proof: Holds

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        sealed_at = headers.moment(self.at) if self.at else None
        return {
            "seq": self.seq,
            "block": self.block,
            "at": sealed_at,
            "key": self.key,
            "proof": str(self.proof),
        }


def seal_of(record: Record) -> Seal | None:
    """Return the seal of a record; None when it has none yet.

    Four queries whatever the age of the log, one more where the record's leaf is not loaded.
    """
    leaf = getattr(record, "leaf", None)  # a row that is not there reads as no attribute
    if leaf is None:
        return None
    try:
        with reading():
            proof = proofs.prove(record.uid)
    except Unreadable:  # no such text is written, or a leaf beside it is gone
        return _seal(leaf.seq, None, Holds.RECORD_ALTERED)
    if proof is None:
        return _seal(leaf.seq, None, Holds.BLOCK_MISSING)
    return _seal(proof.seq, proof.block, _judged(proof, keys.chain()))


def is_overdue(record: Record) -> bool:
    """Tell whether a record that is not sealed should have been long ago."""
    return timezone.now() - record.at > SETTLED


def _seal(seq: int, block: Block | None, proof: Holds) -> Seal:
    if block is None:
        return Seal(seq=seq, block=None, at=None, key="", proof=proof)
    said = _read(block)
    key = said.key if said else ""
    return Seal(seq=seq, block=block.number, at=block.at, key=key, proof=proof)


def _read(block: Block) -> BlockText | None:
    try:
        return parse(block.text)
    except ValueError:
        return None


def _judged(proof: proofs.Proof, chain: Sequence[SealKey]) -> Holds:
    stored, said = proof.block, _read(proof.block)
    copies = (stored.number, stored.first, stored.count)
    if said is None or (said.n, said.first, said.count) != copies:
        return Holds.BLOCK_ALTERED
    public = next((key.public for key in chain if key.key_id == said.key), "")
    if not public or keys.faults(said.log, chain):
        return Holds.KEY_UNKNOWN
    if not is_signed(public, stored.text, stored.signature):
        return Holds.BLOCK_ALTERED
    return Holds.GOOD if proof.root() == said.root else Holds.RECORD_ALTERED
