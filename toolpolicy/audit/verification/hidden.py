"""Masked values: each is what its commitment was made of, and none is gone without an erasure.

They stand beside the texts, where they can be deleted; so the texts, which are sealed, tell which
there must be.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from toolpolicy.audit.commitments import MASKED, commitment
from toolpolicy.audit.verification import sql
from toolpolicy.audit.verification.findings import Kind
from toolpolicy.engine.pointers import Found, resolve

_AT_ONCE: Final = 100
# As canonical JSON writes a list that is not empty; a text that holds it may mask something.
_LISTED: Final = f'"{MASKED}":[{{'.encode()
_Said = tuple[Kind, str]
_TABLE: Final = "toolpolicy_maskedvalue WHERE record_id BETWEEN %s AND %s"


class Fault(NamedTuple):
    """What is wrong with a masked value of a record."""

    seq: int
    kind: Kind
    message: str


class _Shown(NamedTuple):
    seq: int
    row: int
    text: bytes | None


class _Commitment(NamedTuple):
    text: str
    kept: bool


class _Value(NamedTuple):
    pointer: str
    salt: str
    text: str


def faults(
    seqs: Sequence[int], rows: Sequence[int], texts: Sequence[bytes | None]
) -> Iterator[Fault]:
    """Compare the texts of records with the masked values that stand beside them.

    Given are the numbers of the records, their rows, their texts; None: the text is gone. A value
    that is gone is MISSING, whether an erasure explains it or not. One statement, and one for every
    hundred records that mask something.
    """
    having = _having(min(rows), max(rows)) if rows else set()
    some = [
        _Shown(seq, row, text)
        for seq, row, text in zip(seqs, rows, texts, strict=True)
        if (text and _LISTED in text) or row in having
    ]
    for place in range(0, len(some), _AT_ONCE):
        yield from _judged(some[place : place + _AT_ONCE])


def _having(first: int, last: int) -> set[int]:
    query = f"SELECT DISTINCT record_id FROM {_TABLE}"  # noqa: S608  (our own names)
    return {row for (row,) in sql.fetched(query, [first, last])}


def _judged(some: Sequence[_Shown]) -> Iterator[Fault]:
    values = _values(one.row for one in some)
    for one in some:
        for kind, message in _compared(_told(one.text), values[one.row]):
            yield Fault(one.seq, kind, f"record {one.seq}: {message}")


def _values(rows: Iterable[int]) -> Mapping[int, list[_Value]]:
    wanted = list(rows)
    marks = ", ".join(["%s"] * len(wanted))
    read = ", ".join(sql.raw(name) for name in ("pointer", "salt", "value"))
    found: dict[int, list[_Value]] = defaultdict(list)
    table = f"toolpolicy_maskedvalue WHERE record_id IN ({marks}) ORDER BY id"
    query = f"SELECT record_id, {read} FROM {table}"  # noqa: S608  (our own names)
    for row, *texts in sql.fetched(query, wanted):
        found[row].append(_Value(*map(sql.text, texts)))
    return found


def _told(text: bytes | None) -> dict[str, _Commitment]:
    """Return the commitments of a text by their places; none of one that was altered."""
    try:
        body = json.loads(text or b"{}")
        listed = {str(one["pointer"]): bool(one["kept"]) for one in body.get(MASKED, ())}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
    said = ((pointer, resolve(pointer, body), kept) for pointer, kept in listed.items())
    return {
        pointer: _Commitment(str(found.value), kept)
        for pointer, found, kept in said
        if isinstance(found, Found)
    }


def _compared(told: Mapping[str, _Commitment], kept: Sequence[_Value]) -> Iterator[_Said]:
    seen: set[str] = set()
    for value in kept:
        place = f"the masked value at {value.pointer}"
        if value.pointer not in told:
            yield Kind.INSERTED, f"{place} is none that its text has"
        elif value.pointer in seen:
            yield Kind.DUPLICATED, f"{place} is there twice"
        elif not _opens(told[value.pointer], value):
            yield Kind.ALTERED, f"{place} is not what was masked"
        seen.add(value.pointer)
    for pointer in sorted(told.keys() - seen):
        yield Kind.MISSING, f"the masked value at {pointer} is gone, and by no erasure"


def _opens(said: _Commitment, value: _Value) -> bool:
    if not value.text:
        return not said.kept  # of a digest only, nothing but the salt is there
    try:
        return commitment(bytes.fromhex(value.salt), value.text) == said.text
    except ValueError:
        return False
