"""Reading the log for verification: what stands where, believed of nothing.

A leaf, the record it points to and that record's text come in one row. Nothing is hidden by that:
where there is no record its id is missing, where there are two there are two rows. Texts are bytes
as they are stored, so that no value can make the reading fail.
"""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from django.db import OperationalError, connection

from toolpolicy.audit.verification import sql
from toolpolicy.audit.waiting import spans

BLOCKS_AT_ONCE: Final = 100
LEAVES_AT_ONCE: Final = 1000
_MOST_DOUBLES: Final = 100
_SEALED: Final = "toolpolicy_leaf l LEFT JOIN toolpolicy_record r ON r.id = l.record_id"
_LOOSE: Final = "toolpolicy_record r"
_BETWEEN_SEQS: Final = "seq >= %s AND seq < %s"


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


class Span(NamedTuple):
    """Leaves in a row with their records, column by column, as they are stored.

    Hashes are as `sql.raw` gives them, headers and texts are bytes; None stands for no text.
    """

    hashes: list[Any]
    headers: list[bytes]
    text_hashes: list[Any]
    texts: list[bytes | None]

    def part(self, start: int, end: int) -> "Span":
        """Return those from the place `start` on and before `end`."""
        hashes, headers, text_hashes, texts = self
        of = slice(start, end)
        return Span(hashes[of], headers[of], text_hashes[of], texts[of])


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


def span(first: int, end: int) -> Span | None:
    """Return the leaves numbered from `first` on and before `end`; None where not all is in order.

    In order is: one leaf for each number, one record for each leaf, one text at most. Leaves,
    records and texts are read apart, each from one end of their ids to the other: without a join
    there is one way to read them, whatever the database knows of its tables.
    """
    count = end - first
    if not count:
        return Span([], [], [], [])
    read = f"seq, {sql.raw('hash')}, {sql.number('record_id')}"
    found = _rows(read, "toolpolicy_leaf", f"{_BETWEEN_SEQS} ORDER BY seq", [first, end], count + 1)
    seqs, hashes, rows = zip(*found, strict=True) if found else ((), (), ())
    if list(seqs) != list(range(first, end)) or None in rows:
        return None
    ends, most = [min(rows), max(rows)], 2 * count
    records = _by_row(f"r.id, {sql.raw('r.leaf_hash')}, {sql.marked_header('r')}", ends, most)
    texts = _texts(ends, most)
    if records is None or texts is None or not records.keys() >= set(rows):
        return None
    text_hashes, headers = zip(*[records[row] for row in rows], strict=True)
    whole = [sql.without_marks(header) for header in headers]
    return Span(list(hashes), whole, list(text_hashes), [texts.get(row) for row in rows])


def _by_row(read: str, ends: list[int], most: int) -> dict[int, tuple[Any, Any]] | None:
    """Return the records between two ids; None when one is there twice, or too many are.

    None also when one holds what no record can.
    """
    try:
        found = _rows(read, _LOOSE, "r.id BETWEEN %s AND %s", ends, most + 1)
    except OperationalError as error:
        if sql.NO_JSON not in str(error):
            raise
        return None
    records = {row: (text_hash, header) for row, text_hash, header in found}
    return records if len(records) == len(found) <= most else None


def _texts(ends: list[int], most: int) -> dict[int, bytes | None] | None:
    read, condition = f"record_id, {sql.raw('text')}", "record_id BETWEEN %s AND %s"
    found = _rows(read, "toolpolicy_recordbody", condition, ends, most + 1)
    texts = dict(found)
    if not len(texts) == len(found) <= most:
        return None
    if not sql.on_postgresql():
        return texts
    return {row: text if text is None else text.encode() for row, text in found}


def loose() -> Iterator[Loose]:
    """Yield the records that no leaf points to, in the order of their ids."""
    leaf = "toolpolicy_leaf l WHERE l.record_id = r.id AND l.record_id BETWEEN %s AND %s"
    sealed = f"SELECT 1 FROM {leaf}"  # noqa: S608  (our own names)
    condition = f"r.id BETWEEN %s AND %s AND NOT EXISTS ({sealed}) ORDER BY r.id"
    read = f"r.id, {_record()}"
    for first, last in spans(0):
        after = first - 1
        while some := _with_texts(
            read, _LOOSE, condition, [after + 1, last, after + 1, last], LEAVES_AT_ONCE
        ):
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
