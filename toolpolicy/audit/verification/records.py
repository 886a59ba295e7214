"""The records of one block: are they what was sealed? What is not is kept to be explained."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from toolpolicy.audit import merkle
from toolpolicy.audit.blocks import BlockText
from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.audit.verification.pruned import Pruned
from toolpolicy.audit.verification.reading import Sealed, leaves
from toolpolicy.audit.verification.spans import Counted

MOST_KEPT: Final = 20
"""Broken blocks that are looked into; of later ones it is only said that they are broken."""
_MOST_TEXTS: Final = 1000
_sha256 = hashlib.sha256


@dataclass(frozen=True, slots=True)
class Broken:
    """A signed block, and what stands where its records should."""

    block: BlockText
    found: list[Sealed]


@dataclass(frozen=True, slots=True)
class WrongText:
    """A text that is not what its record's hash says; `hash` is its own."""

    block: BlockText
    one: Sealed
    hash: bytes


@dataclass(slots=True)
class Judge:
    """What was found while the blocks were read, to be explained at the end."""

    verdict: Verdict
    pruned: Pruned
    broken: list[Broken] = field(default_factory=list)
    wrong: list[WrongText] = field(default_factory=list)
    gone: list[tuple[BlockText, int]] = field(default_factory=list)

    def count(self, counted: Counted) -> None:
        """Note what a good block holds."""
        self.verdict.records += counted.records
        self.verdict.bytes += counted.bytes
        self.verdict.expired += counted.expired

    def check(self, block: BlockText) -> None:
        """Judge the leaves that stand in the span of a signed block, and their records."""
        found = leaves(block.first, block.end)
        self.verdict.records += block.count
        digests = [_sha256(b"\x00" + one.header).digest() for one in found]
        if not _is_whole(block, found, digests):
            self._keep(Broken(block, found))
        self._check_texts(block, found)

    def _keep(self, broken: Broken) -> None:
        if len(self.broken) < MOST_KEPT:
            self.broken.append(broken)
            return
        block = broken.block
        message = f"records {block.first} to {block.end - 1} are not what was sealed"
        tell(self.verdict, Kind.ALTERED, block, block.first, message)

    def _check_texts(self, block: BlockText, found: Sequence[Sealed]) -> None:
        texts = [(one, one.text) for one in found if one.text is not None]
        self.verdict.bytes += sum([len(text) for _, text in texts])
        for one, text in texts:
            digest = _sha256(b"\x00" + text).hexdigest().encode()
            if digest != one.text_hash and one.row is not None:
                self._note_wrong(block, one, digest)
        if len(texts) == len(found):
            return
        for one in found:
            if one.text is None and one.row is not None:
                self.verdict.expired += 1
                if one.seq not in self.pruned:
                    self._note_gone(block, one.seq)

    def _note_wrong(self, block: BlockText, one: Sealed, digest: bytes) -> None:
        if len(self.wrong) < _MOST_TEXTS:
            self.wrong.append(WrongText(block, one, digest))
        else:
            self.verdict.more += 1

    def _note_gone(self, block: BlockText, seq: int) -> None:
        if len(self.gone) < _MOST_TEXTS:
            self.gone.append((block, seq))
        else:
            self.verdict.more += 1


def tell(verdict: Verdict, kind: Kind, block: BlockText, seq: int, message: str) -> None:
    """Note a finding about a number of a block."""
    verdict.find(kind, message, seq=seq, block=block.n, segment=block.segment)


def _is_whole(block: BlockText, found: Sequence[Sealed], digests: Sequence[bytes]) -> bool:
    return (
        [one.seq for one in found] == list(range(block.first, block.end))
        and [one.hash for one in found] == [digest.hex().encode() for digest in digests]
        and merkle.root(digests).hex() == block.root
    )
