"""The proof that one record is in the log: its header, a path, a signed block, whatever its age.

Three queries, each by an index; the block's leaves are the only ones that are hashed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from toolpolicy.audit import merkle
from toolpolicy.audit.headers import COLUMNS, encode, members
from toolpolicy.audit.sealer import MOST
from toolpolicy.audit.unreadable import Unreadable
from toolpolicy.models import Block, Leaf, Record


@dataclass(frozen=True, slots=True)
class Proof:
    """What takes a stranger from a record to the signature over its block.

    `path` are the siblings (hex) from the record's leaf up to the root of the block; as many as
    the block's records have binary digits, at most.
    """

    seq: int
    header: list[Any]
    path: list[str]
    block: Block

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        signed = {"text": self.block.text, "signature": self.block.signature}
        return {"seq": self.seq, "header": self.header, "path": self.path, "block": signed}

    def root(self) -> str:
        """Return the root (hex) that header and path lead to; empty when they lead to none."""
        index, siblings = self.seq - self.block.first, [bytes.fromhex(one) for one in self.path]
        digest = merkle.leaf(encode(self.header).encode())
        try:
            return merkle.root_from_path(digest, index, self.block.count, siblings).hex()
        except ValueError:
            return ""


def prove(uid: UUID) -> Proof | None:
    """Return the proof of a record; None when there is none of that id, or no block holds it.

    Raise Unreadable when what stands in its place makes none.
    """
    found = Record.objects.filter(uid=uid, leaf__isnull=False)
    row = found.values_list("leaf__seq", *COLUMNS).first()
    if row is None:
        return None
    seq, *columns = row
    block = Block.objects.filter(first__lte=seq, count__gt=0).order_by("-first").first()
    if block is None or seq >= block.first + block.count:
        return None
    return Proof(seq, members(columns), _path(block, seq), block)


def _path(block: Block, seq: int) -> list[str]:
    leaves = Leaf.objects.filter(seq__gte=block.first, seq__lt=block.first + block.count)
    # However many records an altered block claims, no more are read than a block can have.
    hashes = leaves.order_by("seq").values_list("hash", flat=True)[:MOST]
    try:
        return path(list(hashes), seq - block.first)
    except IndexError as error:
        raise Unreadable(f"block {block.number} lacks leaves") from error


def path(hashes: Sequence[str], index: int) -> list[str]:
    """Return the audit path (hex) of one of the leaves of a block, given by their hashes (hex)."""
    tree = merkle.Tree([bytes.fromhex(digest) for digest in hashes])
    return [sibling.hex() for sibling in tree.path(index)]
