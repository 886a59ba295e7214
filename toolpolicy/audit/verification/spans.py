"""Blocks in a row judged at once: the good ones are counted, any other is looked into by itself.

What is called good here is so for the same reasons as in `records`: every leaf in its place, each
header and text hashed, the root of each block worked out. Nothing here says what is wrong.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from toolpolicy.audit import merkle
from toolpolicy.audit.blocks import BlockText
from toolpolicy.audit.verification import hidden, sql
from toolpolicy.audit.verification.deletions import Deletions, Known
from toolpolicy.audit.verification.findings import Kind
from toolpolicy.audit.verification.reading import Seen, Span, span

RECORDS_AT_ONCE: Final = 2000
BLOCKS_AT_ONCE: Final = 100
_NO_RECORDS: Final = Span([], [], [], [], [])
_sha256 = hashlib.sha256


@dataclass(frozen=True, slots=True)
class Counted:
    """What a good block holds: its records, the bytes of their texts, how many texts are gone.

    Of those that are gone, so many were deleted `on_request`.
    """

    records: int
    bytes: int
    expired: int
    on_request: int


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


class Judged(NamedTuple):
    """What blocks in a row hold, None for each that is not plainly good; which ids were seen."""

    blocks: list[Counted | None]
    seen: Seen | None


def counted(blocks: Sequence[BlockText], known: Known) -> Judged:
    """Judge blocks in a row."""
    start, end = blocks[0].first, blocks[-1].end
    read = span(start, end) if start < end else (_NO_RECORDS, None)
    if read is None:
        return Judged([None] * len(blocks), None)
    found, seen = read
    odd = _with_other_values(found, start, known)
    judged = [
        None
        if any(seq in odd for seq in range(block.first, block.end))
        else _counted(block, found.part(block.first - start, block.end - start), known.texts)
        for block in blocks
    ]
    return Judged(judged, seen)


def _with_other_values(found: Span, start: int, known: Known) -> set[int]:
    """Return the numbers of records whose masked values are not as they should be."""
    seqs = range(start, start + len(found.rows))
    return {
        fault.seq
        for fault in hidden.faults(seqs, found.rows, found.texts)
        if fault.kind != Kind.MISSING
        or not known.values.of(fault.seq, found.headers[fault.seq - start])
    }


def _counted(block: BlockText, found: Span, deleted: Deletions) -> Counted | None:
    digests = [_sha256(b"\x00" + header).digest() for header in found.headers]
    if sql.in_hex(digests) != found.hashes or merkle.root(digests).hex() != block.root:
        return None
    texts = [text for text in found.texts if text is not None]
    expected, on_request = found.text_hashes, 0
    if len(texts) < len(found.texts):
        pairs = zip(expected, found.texts, strict=True)
        expected = [digest for digest, text in pairs if text is not None]
        numbered = enumerate(zip(found.headers, found.texts, strict=True), block.first)
        why = [deleted.of(seq, header) for seq, (header, text) in numbered if text is None]
        if None in why:
            return None
        on_request = sum(one is not None and not one.youngest for one in why)
    if sql.in_hex([_sha256(b"\x00" + text).digest() for text in texts]) != expected:
        return None
    gone = len(found.texts) - len(texts)
    return Counted(block.count, sum(map(len, texts)), gone, on_request)
