"""What was done to the records of broken blocks: altered, missing, inserted, moved, doubled.

Only the roots of signed blocks are believed. A guess of what stood there once is right when it
leads to the root; what leads to none is told as it looks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import attrgetter
from typing import Final

from toolpolicy.audit import merkle
from toolpolicy.audit.blocks import BlockText
from toolpolicy.audit.verification import alignment, contradictions
from toolpolicy.audit.verification.findings import Kind, Verdict
from toolpolicy.audit.verification.reading import Sealed, loose
from toolpolicy.audit.verification.records import Broken, Judge, WrongText, tell

_MOST_LOOSE: Final = 10_000


def explain(judge: Judge, strays: Sequence[Sealed]) -> None:
    """Say what was done to what a judge kept, and what the leaves are that stand in no block."""
    verdict = judge.verdict
    _tell_texts(judge.wrong, verdict)
    unclear, spare = [], list(strays)
    context = _Context(verdict, judge.broken)
    for broken in judge.broken:
        entries = _without_doubles(broken, verdict)
        if alignment.leads_to(broken.block, [entry.hash for entry in entries]):
            context.tell_records(broken.block, entries)
        elif alignment.leads_to(broken.block, _digests(entries)):
            context.tell_leaves(broken.block, entries)
        else:
            unclear.append(Broken(broken.block, entries))
    if unclear:
        spare = alignment.align(unclear, spare, context.tell_unexplained, verdict)
    for stray in spare:
        _tell_stray(stray, verdict)


def _digests(entries: Sequence[Sealed]) -> list[bytes]:
    return [_digest(entry) for entry in entries]


def _digest(entry: Sealed) -> bytes:
    return merkle.leaf(entry.header).hex().encode()


def _without_doubles(broken: Broken, verdict: Verdict) -> list[Sealed]:
    """Return one entry for each leaf; a leaf, record or text that is there twice is told."""
    entries = []
    for (seq, *_), same in groupby(broken.found, key=attrgetter("seq", "hash", "record")):
        twins = list(same)
        if len(twins) > 1:
            message = f"record {seq}: it is there twice"
            tell(verdict, Kind.DUPLICATED, broken.block, seq, message)
        entries.append(next((one for one in twins if _digest(one) == one.hash), twins[0]))
    return entries


def _tell_texts(wrong: Sequence[WrongText], verdict: Verdict) -> None:
    expected = {one.one.text_hash for one in wrong}
    for one in wrong:
        seq = one.one.seq
        if one.hash in expected:
            message = f"record {seq}: it has the text of another record"
            tell(verdict, Kind.REORDERED, one.block, seq, message)
        else:
            message = f"record {seq}: its text is not what its hash says"
            tell(verdict, Kind.ALTERED, one.block, seq, message)


def _tell_stray(stray: Sealed, verdict: Verdict) -> None:
    if stray.row is not None and alignment.is_sealed_elsewhere(stray):
        message = f"record {stray.seq}: its record is sealed under another number already"
        verdict.find(Kind.DUPLICATED, message, seq=stray.seq)
    else:
        message = f"record {stray.seq}: it stands where no block is"
        verdict.find(Kind.INSERTED, message, seq=stray.seq)


@dataclass(slots=True)
class _Context:
    """What else is known of the broken blocks, read when it is needed first."""

    verdict: Verdict
    broken: Sequence[Broken]
    _loose: dict[bytes, int] | None = field(default=None)
    _places: dict[bytes, int] | None = field(default=None)

    def tell_records(self, block: BlockText, entries: Sequence[Sealed]) -> None:
        """Say what was done to the records of a block whose leaves are those that were sealed."""
        for entry in entries:
            if _digest(entry) != entry.hash:
                kind, what = self._fault(entry)
                tell(self.verdict, kind, block, entry.seq, f"record {entry.seq}: {what}")

    def tell_leaves(self, block: BlockText, entries: Sequence[Sealed]) -> None:
        """Say which leaves of a block differ, whose records are those that were sealed."""
        for entry in entries:
            if _digest(entry) != entry.hash:
                message = f"record {entry.seq}: its leaf was altered"
                tell(self.verdict, Kind.ALTERED, block, entry.seq, message)

    def tell_unexplained(self, broken: Broken) -> None:
        """Say which records of a block look altered, though nothing leads to its root."""
        block = broken.block
        said = any(finding.block == block.n for finding in self.verdict.findings)
        for entry in broken.found:
            if entry.row is None or _digest(entry) != entry.hash:
                kind, what = self._fault(entry)
            elif not said and (names := contradictions.contradicted(entry.header, entry.text)):
                kind, what = Kind.ALTERED, f"its text says otherwise ({', '.join(names)})"
            else:
                continue
            tell(self.verdict, kind, block, entry.seq, f"record {entry.seq}: {what}")
            said = True
        if not said:
            message = f"one of the records {block.first} to {block.end - 1} was altered"
            tell(self.verdict, Kind.ALTERED, block, block.first, f"{message} with its leaf")

    def _fault(self, entry: Sealed) -> tuple[Kind, str]:
        """Say what was done to a record whose leaf is good."""
        row = self._loose_rows().get(entry.hash or b"")
        if row is not None:
            return Kind.ALTERED, f"its record is row {row}, its leaf points to row {entry.record}"
        if entry.row is None:
            return Kind.MISSING, "the record is gone"
        place = self._sealed_places().get(_digest(entry), entry.seq)
        if place != entry.seq:
            return Kind.REORDERED, f"record {place} stands in its place"
        names = contradictions.contradicted(entry.header, entry.text)
        return Kind.ALTERED, f"a column of it was altered{_listed(names)}"

    def _loose_rows(self) -> dict[bytes, int]:
        if self._loose is None:
            some = islice(loose(), _MOST_LOOSE)
            self._loose = {merkle.leaf(one.header).hex().encode(): one.row for one in some}
        return self._loose

    def _sealed_places(self) -> dict[bytes, int]:
        if self._places is None:
            found = (entry for broken in self.broken for entry in broken.found)
            self._places = {entry.hash: entry.seq for entry in found if entry.hash}
        return self._places


def _listed(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""
