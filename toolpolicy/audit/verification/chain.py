"""The chain of blocks: each signed, each after the one before, none left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from toolpolicy.audit.blocks import NOTHING_BEFORE, BlockText, block_hash, parse
from toolpolicy.audit.signing import is_signed
from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.audit.verification.keyring import Keyring
from toolpolicy.audit.verification.reading import Stored, blocks, stored_blocks

is_signed_once = lru_cache(maxsize=256)(is_signed)
_LOOKED_FOR: Final = 20
"""Missing blocks that are looked for under other numbers."""


@dataclass(slots=True)
class Place:
    """Where the chain stands: what the next block has to follow.

    `hash` is None after a block that is not as it was signed: nothing can be compared with it.
    """

    n: int = 0
    end: int = 1
    hash: str | None = NOTHING_BEFORE
    segment: int = 1
    key: int = 0


@dataclass(slots=True)
class Walk:
    """One pass over the blocks after a place; what is wrong with them goes into the verdict."""

    place: Place
    ring: Keyring
    verdict: Verdict
    skipped: list[tuple[int, int]] = field(default_factory=list)
    """Spans of numbers that belong to no block, each with the number after it."""
    _moved_texts: set[str] = field(default_factory=set)

    def blocks(self) -> Iterator[BlockText]:
        """Yield the blocks that stand as they were signed, in their order."""
        held: list[Stored] | None = None
        for following in blocks(self.place.n):
            if held:
                yield from self._numbered(held, following)
            held = following
        if held:
            yield from self._numbered(held, ())
        yield from self._without_number()

    def _without_number(self) -> Iterator[BlockText]:
        for stored in stored_blocks("number IS NULL", [], _LOOKED_FOR):
            block = _read(stored)
            if block is not None and block.n > self.place.n:
                yield from self._before(block.n + 1)

    def _numbered(self, same: list[Stored], following: Sequence[Stored]) -> Iterator[BlockText]:
        """Judge the blocks of one number, and what should stand before it."""
        number = same[0].number
        own = next((one for one in same if self._is_own(one, following)), None)
        copied = own is None and all(self._is_copy(one) for one in same)
        if not (copied and self._elsewhere(number) is None):
            yield from self._before(number)
        self.verdict.blocks += len(same)
        if own is not None:
            self._tell_doubles(own, same)
            yield self._judged(own)
            return
        moved = self._elsewhere(number)
        if moved is not None:
            yield self._moved(moved, number)
        elif copied:
            yield from self._copied(same)
        else:
            self._find(number, *self._fault(same[0]))
            self.place.n, self.place.hash = number, None

    def _copied(self, same: Sequence[Stored]) -> Iterator[BlockText]:
        """Judge blocks that stand under a number that is not theirs."""
        for one in same:
            block = parse(one.text)
            if block.n > self.place.n:
                yield from self._before(block.n + 1)
            elif one.text not in self._moved_texts:
                message = f"it is a copy of block {block.n}"
                self._find(one.number, Kind.DUPLICATED, message)

    def _before(self, number: int) -> Iterator[BlockText]:
        """Look for the blocks that are missing before a number; say so where there are none."""
        first = self.place.n + 1
        for missing in range(first, min(number, first + _LOOKED_FOR)):
            moved = self._elsewhere(missing)
            if moved is None:
                break
            yield self._moved(moved, missing)
        first = self.place.n + 1
        if first < number and not self._is_new_segment(number):
            lost = f"{first} is" if first == number - 1 else f"{first} to {number - 1} are"
            self._find(first, Kind.MISSING, f"{lost} missing")
            self.place.hash = None

    def _is_new_segment(self, number: int) -> bool:
        """Tell whether a repair knew of blocks before it that this database does not hold."""
        for stored in stored_blocks("number = %s", [number], 1):
            block = _read(stored)
            return block is not None and bool(block.note) and block.segment > self.place.segment
        return False

    def _elsewhere(self, number: int) -> Stored | None:
        """Return the block of that number where it stands under another one."""
        pattern = f'%"n":{number},"note":%'
        found = stored_blocks(
            "(number IS NULL OR number <> %s) AND text LIKE %s", [number, pattern], 2
        )
        return next((one for one in found if self._says(one, number)), None)

    def _says(self, stored: Stored, number: int) -> bool:
        block = _read(stored)
        return block is not None and block.n == number and self._is_signed(stored, block)

    def _is_signed(self, stored: Stored, block: BlockText) -> bool:
        key = self.ring.find(block.key)
        return key is not None and is_signed_once(key[1], stored.text, stored.signature)

    def _is_own(self, stored: Stored, following: Sequence[Stored]) -> bool:
        """Tell whether a text is that of its number: signed, or named by the signed next block."""
        block = _read(stored)
        if block is None or block.n != stored.number:
            return False
        if self._is_signed(stored, block):
            return True
        for one in following:
            later = _read(one)
            if later is not None and self._is_signed(one, later):
                return later.previous == block_hash(stored.text)
        return False

    def _is_copy(self, stored: Stored) -> bool:
        block = _read(stored)
        return block is not None and block.n != stored.number and self._is_signed(stored, block)

    def _fault(self, stored: Stored) -> tuple[Kind, str]:
        try:
            block = parse(stored.text)
        except ValueError as error:
            return Kind.ALTERED, str(error)
        if self.ring.find(block.key) is None and not self._is_key_faulty(block):
            return Kind.UNSIGNED, f"it is sealed with {block.key}, which is no key of the log"
        return Kind.ALTERED, "no key of the log signed it as it stands"

    def _is_key_faulty(self, block: BlockText) -> bool:
        place = {"seq": self.place.end, "block": self.place.n + 1, "segment": self.place.segment}
        return self.ring.is_faulty(block.key, self.verdict, **place)

    def _tell_doubles(self, own: Stored, same: Sequence[Stored]) -> None:
        copies = sum(one.text == own.text for one in same) - 1
        if copies:
            self._find(own.number, Kind.DUPLICATED, "it is there twice")
        if len(same) > copies + 1:
            self._find(own.number, Kind.INSERTED, "there is another one of that number")

    def _moved(self, stored: Stored, number: int) -> BlockText:
        self._find(number, Kind.REORDERED, f"it stands as number {stored.number}")
        self._moved_texts.add(stored.text)
        return self._followed(stored, parse(stored.text))

    def _judged(self, stored: Stored) -> BlockText:
        block = parse(stored.text)
        if not self._is_signed(stored, block) and not self._is_key_faulty(block):
            self._find(block.n, Kind.ALTERED, "its signature was altered")
        copies = (stored.first, stored.count, stored.segment, stored.at)
        if copies != (block.first, block.count, block.segment, block.at):
            self._find(block.n, Kind.ALTERED, "its columns are not what its text says")
        return self._followed(stored, block)

    def _followed(self, stored: Stored, block: BlockText) -> BlockText:
        """Compare a block with the one before it, and go on behind it."""
        place, verdict = self.place, self.verdict
        if block.log != verdict.log:
            self._find(block.n, Kind.INSERTED, f"it is of the log {block.log}")
        for writer, first, last in block.gaps:
            gone = f"records {first} to {last} of the writer {writer} were gone before they"
            self._find(block.n, Kind.MISSING, f"{gone} were sealed")
        self._check_link(block)
        key = self.ring.find(block.key)
        self._is_key_faulty(block)
        if key is not None and key[0] < place.key:
            gone = f"it is sealed with the key {block.key}, which was replaced before"
            self._find(block.n, Kind.UNSIGNED, gone)
        place.n, place.end, place.hash = block.n, block.end, block_hash(stored.text)
        place.segment, place.key = block.segment, max(place.key, key[0] if key else 0)
        return block

    def _check_link(self, block: BlockText) -> None:
        place = self.place
        if block.segment > place.segment and block.note and block.first >= place.end:
            closed = {"segment": block.segment - 1, "block": block.n, "note": block.note}
            self.verdict.closed.append(closed)
            self.skipped.append((place.end, block.first))
        elif (block.segment, block.note) != (place.segment, ""):
            self._find(block.n, Kind.ALTERED, "it begins no segment properly")
        elif place.hash is None:
            return
        elif block.previous != place.hash:
            self._find(block.n, Kind.ALTERED, "the block before it is another one")
        elif block.first != place.end:
            self._find(block.n, Kind.ALTERED, "it does not follow on its numbers")

    def _find(self, number: int, kind: Kind, what: str) -> None:
        place = {"seq": self.place.end, "block": number, "segment": self.place.segment}
        self.verdict.find(kind, f"block {number}: {what}", **place)


def _read(stored: Stored) -> BlockText | None:
    return _parsed(stored.text)


@lru_cache(maxsize=256)
def _parsed(text: str) -> BlockText | None:
    try:
        return parse(text)
    except ValueError:
        return None
