"""Blocks in a row judged at once: the good ones are counted, any other is looked into by itself.

What is called good here is so for the same reasons as in `records`: every leaf in its place, each
header and text hashed, the root of each block worked out. Nothing here says what is wrong.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from toolpolicy.audit import merkle
from toolpolicy.audit.blocks import BlockText
from toolpolicy.audit.verification import sql
from toolpolicy.audit.verification.pruned import Pruned
from toolpolicy.audit.verification.reading import Span, span

RECORDS_AT_ONCE: Final = 2000
BLOCKS_AT_ONCE: Final = 100
_sha256 = hashlib.sha256


@dataclass(frozen=True, slots=True)
class Counted:
    """What a good block holds: its records, the bytes of their texts, how many texts are gone."""

    records: int
    bytes: int
    expired: int


def in_a_row(blocks: Iterable[BlockText]) -> Iterator[list[BlockText]]:
    """Yield blocks together whose numbers follow each other, no more than are judged at once."""
    some: list[BlockText] = []
    for block in blocks:
        if some and not _goes_on(some, block):
            yield some
            some = []
        some.append(block)
    if some:
        yield some


def _goes_on(some: Sequence[BlockText], block: BlockText) -> bool:
    return (
        block.first == some[-1].end
        and block.end - some[0].first <= RECORDS_AT_ONCE
        and len(some) < BLOCKS_AT_ONCE
    )


def counted(blocks: Sequence[BlockText], pruned: Pruned) -> list[Counted | None]:
    """Judge blocks in a row; None for each that is not plainly good."""
    found = span(blocks[0].first, blocks[-1].end)
    if found is None:
        return [None] * len(blocks)
    start = blocks[0].first
    return [
        _counted(block, found.part(block.first - start, block.end - start), pruned)
        for block in blocks
    ]


def _counted(block: BlockText, found: Span, pruned: Pruned) -> Counted | None:
    digests = [_sha256(b"\x00" + header).digest() for header in found.headers]
    if sql.in_hex(digests) != found.hashes or merkle.root(digests).hex() != block.root:
        return None
    texts = [text for text in found.texts if text is not None]
    expected, gone = found.text_hashes, len(found.texts) - len(texts)
    if gone:
        pairs = zip(expected, found.texts, strict=True)
        expected = [digest for digest, text in pairs if text is not None]
        seqs = range(block.first, block.end)
        lost = (seq for seq, text in zip(seqs, found.texts, strict=True) if text is None)
        if not all(seq in pruned for seq in lost):
            return None
    if sql.in_hex([_sha256(b"\x00" + text).digest() for text in texts]) != expected:
        return None
    return Counted(block.count, sum(map(len, texts)), gone)
