"""Reading the log for verification: what stands where, believed of nothing.

A leaf, the record it points to and that record's text come in one row. Nothing is hidden by that:
where there is no record its id is missing, where there are two there are two rows. Texts are bytes
as they are stored, so that no value can make the reading fail.
"""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from django.db import connection

from toolpolicy.audit.verification import sql

BLOCKS_AT_ONCE: Final = 100
LEAVES_AT_ONCE: Final = 1000
_MOST_DOUBLES: Final = 100
_SEALED: Final = "toolpolicy_leaf l LEFT JOIN toolpolicy_record r ON r.id = l.record_id"
_LOOSE: Final = "toolpolicy_record r"


class Stored(NamedTuple):
    """A block as it is stored; what is no UTF-8 in it is replaced."""

    number: int
    first: Any
    count: Any
    segment: Any
    at: str
    text: str
    signature: str


class Sealed(NamedTuple):
    """One leaf and the record it points to; `row` is None when there is no such record.

    `header` is what the record's columns say now, `text_hash` the column of that name.
    """

    seq: int
    hash: bytes | None
    record: int
    row: int | None
    header: bytes
    text_hash: bytes | None
    text: bytes | None


class Loose(NamedTuple):
    """A record that no leaf points to."""

    row: int
    header: bytes
    text_hash: bytes | None
    text: bytes | None


def blocks(after: int) -> Iterator[list[Stored]]:
    """Yield the blocks after one in the order of their numbers; doubles come together."""
    while some := stored_blocks("number > %s", [after], BLOCKS_AT_ONCE):
        # More of the same number may follow the last one: it is read again with them.
        cut = len(some) == BLOCKS_AT_ONCE and some[0].number != some[-1].number
        kept = [one for one in some if one.number != some[-1].number] if cut else some
        for _, same in groupby(kept, key=itemgetter(0)):
            yield list(same)
        after = kept[-1].number


def stored_blocks(condition: str, values: list[Any], most: int) -> list[Stored]:
    """Return the first blocks for which a condition in SQL holds."""
    names = map(sql.number, ("number", "first", "count", "segment"))
    read = [*names, sql.raw(sql.moment("at")), sql.raw("text"), sql.raw("signature")]
    found = _rows(", ".join(read), "toolpolicy_block", f"{condition} ORDER BY number", values, most)
    return [Stored(*row[:4], *map(_text, row[4:])) for row in found]


def leaves(first: int, end: int) -> list[Sealed]:
    """Return the leaves numbered from `first` on and before `end`, with their records."""
    return _sealed("l.seq >= %s AND l.seq < %s", [first, end], end - first + _MOST_DOUBLES)


def strays(end: int, most: int) -> list[Sealed]:
    """Return the first leaves that stand after the last block, before number 1 or nowhere."""
    return _sealed("(l.seq < 1 OR l.seq >= %s OR l.seq IS NULL)", [end], most)


def between(end: int, first: int, most: int) -> list[Sealed]:
    """Return the first leaves from `end` on and before `first`, where no block is."""
    return _sealed("l.seq >= %s AND l.seq < %s", [end, first], most)


def loose(after: int = 0) -> Iterator[Loose]:
    """Yield the records after an id that no leaf points to, in the order of their ids."""
    condition = (
        "r.id > %s AND NOT EXISTS (SELECT 1 FROM toolpolicy_leaf l WHERE l.record_id = r.id)"
        " ORDER BY r.id"
    )
    read = f"r.id, {_record()}"
    while some := _with_texts(read, _LOOSE, condition, [after], LEAVES_AT_ONCE):
        yield from map(Loose._make, some)
        after = some[-1][0]


def _sealed(condition: str, values: list[Any], most: int) -> list[Sealed]:
    read = f"l.seq, {sql.raw('l.hash')}, {sql.number('l.record_id')}, r.id, {_record()}"
    found = _with_texts(read, _SEALED, f"{condition} ORDER BY l.seq", values, most)
    return list(map(Sealed._make, found))


def _record() -> str:
    return f"{sql.header('r')}, {sql.raw('r.leaf_hash')}, {sql.raw('b.text')}"


def _with_texts(
    read: str, source: str, condition: str, values: list[Any], most: int
) -> list[tuple[Any, ...]]:
    body = "LEFT JOIN toolpolicy_recordbody b ON b.record_id = r.id"
    found = _rows(read, f"{source} {body}", condition, values, most)
    if not sql.on_postgresql():
        return found
    return [tuple([v.encode() if type(v) is str else v for v in row]) for row in found]


def _rows(
    read: str, source: str, condition: str, values: list[Any], most: int
) -> list[tuple[Any, ...]]:
    query = f"SELECT {read} FROM {source} WHERE {condition} LIMIT %s"  # noqa: S608  (our own names)
    with connection.cursor() as cursor:
        cursor.execute(query, [*values, most])
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
