"""Leaves brought back into the order in which they were sealed, as the roots of blocks prove it."""

from collections.abc import Callable, Sequence

from toolpolicy.audit import merkle
from toolpolicy.audit.blocks import BlockText
from toolpolicy.audit.verification.contradictions import columns
from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.audit.verification.reading import Sealed
from toolpolicy.audit.verification.records import Broken, tell
from toolpolicy.models import Leaf

Unexplained = Callable[[Broken], None]
"""Says of a broken block what it can."""


def leads_to(block: BlockText, hashes: Sequence[bytes | None]) -> bool:
    """Tell whether hashes of leaves (hex) lead to the root of a block."""
    if len(hashes) != block.count:
        return False
    try:
        digests = [bytes.fromhex((digest or b"").decode()) for digest in hashes]
    except ValueError:
        return False
    return merkle.root(digests).hex() == block.root


def align(
    unclear: Sequence[Broken], strays: Sequence[Sealed], told: Unexplained, verdict: Verdict
) -> list[Sealed]:
    """Explain blocks whose leaves do not lead to their roots as they stand.

    Return the strays that belong to none of them. `told` says what it can of the rest.
    """
    pool = [entry for broken in unclear for entry in broken.found]
    if _sorted_back(unclear, pool, verdict):
        return list(strays)
    if strays and _sorted_back(unclear, [*pool, *strays], verdict):
        return []
    line = _Line([*pool, *strays], verdict)
    for number, broken in enumerate(unclear):
        following = unclear[number + 1].block if number + 1 < len(unclear) else None
        line.take(broken, following, told)
    return [entry for entry in line.rest if entry in strays]


def _sorted_back(unclear: Sequence[Broken], pool: Sequence[Sealed], verdict: Verdict) -> bool:
    """Tell whether the leaves were only moved: in the order of their records all is right."""
    blocks = [broken.block for broken in unclear]
    if len(pool) != sum(block.count for block in blocks):
        return False
    order = sorted(pool, key=lambda entry: entry.record or 0)
    parts, taken = [], 0
    for block in blocks:
        part = order[taken : taken + block.count]
        if not leads_to(block, [entry.hash for entry in part]):
            return False
        parts.append(part)
        taken += block.count
    for block, part in zip(blocks, parts, strict=True):
        for seq, entry in enumerate(part, start=block.first):
            if entry.seq != seq:
                message = f"record {seq}: it stands as number {entry.seq}"
                tell(verdict, Kind.REORDERED, block, seq, message)
    return True


class _Line:
    """Leaves in the order in which they stand, taken block by block."""

    def __init__(self, leaves: list[Sealed], verdict: Verdict) -> None:
        self.rest = leaves
        self._verdict = verdict
        self._shifted = False

    def take(self, broken: Broken, following: BlockText | None, told: Unexplained) -> None:
        """Explain one block and take its leaves away."""
        block, found = broken.block, broken.found
        if self._fits(block, block.count):
            self.rest = self.rest[block.count :]
        elif self._lost_one(block, found, following):
            self.rest = self.rest[block.count - 1 :]
        elif self._has_one_more(block):
            self.rest = self.rest[block.count + 1 :]
        elif self._shifted and len(self.rest) < block.count:
            self.rest = []  # what it lacks stands in blocks that were not kept
        else:
            self._give_up(broken, told)

    def _fits(self, block: BlockText, end: int) -> bool:
        return leads_to(block, [entry.hash for entry in self.rest[:end]])

    def _lost_one(
        self, block: BlockText, found: Sequence[Sealed], following: BlockText | None
    ) -> bool:
        """Say where a leaf is gone and those after it moved up, if that is what happened."""
        if len(found) < block.count and not self._shifted:
            return False  # a hole shows where it was
        after = self.rest[block.count - 1 :]
        if following is not None:
            moved = leads_to(following, [entry.hash for entry in after[: following.count]])
        else:
            moved = len(self.rest) == block.count - 1
        if moved:
            place = _place_of_gap(self.rest[: block.count])
            seq = block.first + (place if place is not None else 0 if after else block.count - 1)
            tell(self._verdict, Kind.MISSING, block, seq, f"record {seq}: it is gone")
            self._shifted = True
        return moved

    def _has_one_more(self, block: BlockText) -> bool:
        """Say which leaf came in between, if one did."""
        some = self.rest[: block.count + 1]
        if len(some) != block.count + 1:
            return False
        hashes = [entry.hash for entry in some]
        for place, extra in enumerate(some):
            if leads_to(block, hashes[:place] + hashes[place + 1 :]):
                self._tell_extra(block, extra)
                self._shifted = True
                return True
        return False

    def _tell_extra(self, block: BlockText, extra: Sealed) -> None:
        if is_sealed_elsewhere(extra):
            message = f"record {extra.seq}: it is sealed twice"
            tell(self._verdict, Kind.DUPLICATED, block, extra.seq, message)
        else:
            message = f"record {extra.seq}: it was not there when the block was sealed"
            tell(self._verdict, Kind.INSERTED, block, extra.seq, message)

    def _give_up(self, broken: Broken, told: Unexplained) -> None:
        block, found = broken.block, broken.found
        seqs = {entry.seq for entry in found}
        holes = [seq for seq in range(block.first, block.end) if seq not in seqs]
        for seq in holes:
            tell(self._verdict, Kind.MISSING, block, seq, f"record {seq}: its leaf is gone")
        _find_doubles(block, found, self._verdict)
        told(broken)
        self.rest = [entry for entry in self.rest if entry not in found]


def _find_doubles(block: BlockText, found: Sequence[Sealed], verdict: Verdict) -> None:
    records: set[int] = set()
    for entry in found:
        if entry.record in records:
            message = f"record {entry.seq}: it is sealed twice"
            tell(verdict, Kind.DUPLICATED, block, entry.seq, message)
        records.add(entry.record)


def is_sealed_elsewhere(entry: Sealed) -> bool:
    """Tell whether another leaf points to the same record."""
    return Leaf.objects.filter(record=entry.record).exclude(seq=entry.seq).exists()


def _place_of_gap(entries: Sequence[Sealed]) -> int | None:
    """Return the index before which a writer's numbers have a gap; None when none has."""
    last: dict[str, int] = {}
    for place, entry in enumerate(entries):
        said = columns(entry.header)
        writer, number = str(said.get("writer_id")), said.get("writer_n")
        if not isinstance(number, int):
            continue
        if number > last.get(writer, number - 1) + 1:
            return place
        last[writer] = number
    return None
