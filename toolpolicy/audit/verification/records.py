"""The records of one block: are they what was sealed? What is not is kept to be explained."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from toolpolicy.audit import merkle
from toolpolicy.audit.blocks import BlockText
from toolpolicy.audit.verification import hidden
from toolpolicy.audit.verification.deletions import Known
from toolpolicy.audit.verification.findings import Kind, Verdict
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


@dataclass(frozen=True, slots=True)
class Gone:
    """What is gone of a record, its text or a masked value, though no deletion explains it yet."""

    block: BlockText
    seq: int
    header: bytes
    message: str
    text: bool

    def is_explained(self, known: Known) -> bool:
        """Tell whether the log says by now that it was deleted; its values go with a text."""
        deletions = (known.texts,) if self.text else (known.texts, known.values)
        return any(one.of(self.seq, self.header) for one in deletions)


@dataclass(slots=True)
class Judge:
    """What was found while the blocks were read, to be explained at the end."""

    verdict: Verdict
    known: Known
    broken: list[Broken] = field(default_factory=list)
    wrong: list[WrongText] = field(default_factory=list)
    gone: list[Gone] = field(default_factory=list)

    def count(self, counted: Counted) -> None:
        """Note what a good block holds."""
        self.verdict.records += counted.records
        self.verdict.bytes += counted.bytes
        self.verdict.expired += counted.expired
        self.verdict.on_request += counted.on_request

    def check(self, block: BlockText) -> None:
        """Judge the leaves that stand in the span of a signed block, and their records."""
        found = leaves(block.first, block.end)
        self.verdict.records += block.count
        digests = [_sha256(b"\x00" + one.header).digest() for one in found]
        texts = [one for one in found if self._has_its_text(block, one)]
        if _is_whole(block, found, digests):
            self._check_values(block, texts)
        else:
            self._keep(Broken(block, found))

    def _keep(self, broken: Broken) -> None:
        if len(self.broken) < MOST_KEPT:
            self.broken.append(broken)
            return
        block = broken.block
        message = f"records {block.first} to {block.end - 1} are not what was sealed"
        tell(self.verdict, Kind.ALTERED, block, block.first, message)

    def _has_its_text(self, block: BlockText, one: Sealed) -> bool:
        """Tell whether a record's text is the one that was sealed, or was deleted as it may be."""
        if one.row is None:
            return False
        if one.text is None:
            return self._was_deleted(block, one)
        self.verdict.bytes += len(one.text)
        digest = _sha256(b"\x00" + one.text).hexdigest().encode()
        if digest != one.text_hash:
            self._note_wrong(block, one, digest)
        return digest == one.text_hash

    def _was_deleted(self, block: BlockText, one: Sealed) -> bool:
        self.verdict.expired += 1
        by = self.known.texts.of(one.seq, one.header)
        if by is None:
            message = f"record {one.seq}: its text is gone, and not by pruning"
            self._note_gone(Gone(block, one.seq, one.header, message, text=True))
        elif not by.youngest:
            self.verdict.on_request += 1
        return by is not None

    def _check_values(self, block: BlockText, found: Sequence[Sealed]) -> None:
        headers = {one.seq: one.header for one in found}
        rows, texts = [one.record for one in found], [one.text for one in found]
        for fault in hidden.faults(list(headers), rows, texts):
            header = headers[fault.seq]
            if fault.kind != Kind.MISSING:
                tell(self.verdict, fault.kind, block, fault.seq, fault.message)
            elif not self.known.values.of(fault.seq, header):
                self._note_gone(Gone(block, fault.seq, header, fault.message, text=False))

    def _note_wrong(self, block: BlockText, one: Sealed, digest: bytes) -> None:
        if len(self.wrong) < _MOST_TEXTS:
            self.wrong.append(WrongText(block, one, digest))
        else:
            self.verdict.more += 1

    def _note_gone(self, gone: Gone) -> None:
        if len(self.gone) < _MOST_TEXTS:
            self.gone.append(gone)
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
