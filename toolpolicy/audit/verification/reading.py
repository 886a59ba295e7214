"""Reading the log for verification: what stands where, believed of nothing.

A leaf, the record it points to and that record's text come in one row. Nothing is hidden by that:
where there is no record its id is missing, where there are two there are two rows. Texts are bytes
as they are stored, so that no value can make the reading fail.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from django.db import OperationalError

from toolpolicy.audit.verification import sql
from toolpolicy.audit.waiting import BEFORE_ALL, LAST_ID, spans

BLOCKS_AT_ONCE: Final = 100
LEAVES_AT_ONCE: Final = 1000
Ids = tuple[int, int]
"""Two ends of ids, both included."""
_Records = tuple[list[Any], list[bytes], frozenset[int]]
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

    Rows are the ids of records. Hashes are as `sql.raw` gives them, headers and texts are bytes;
    None stands for no text.
    """

    rows: list[int]
    hashes: list[Any]
    headers: list[bytes]
    text_hashes: list[Any]
    texts: list[bytes | None]

    def part(self, start: int, end: int) -> "Span":
        """Return those from the place `start` on and before `end`."""
        rows, hashes, headers, text_hashes, texts = self
        of = slice(start, end)
        return Span(rows[of], hashes[of], headers[of], text_hashes[of], texts[of])


class Seen(NamedTuple):
    """All ids between two ends, both included: every row there is one of a span, or of `others`."""

    first: int
    last: int
    others: frozenset[int]

    def joined(self, other: "Seen") -> "Seen":
        """Return both as one; they overlap or follow each other."""
        first, last = min(self.first, other.first), max(self.last, other.last)
        return Seen(first, last, self.others | other.others)


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
    return [Stored(*row[:4], *map(sql.text, row[4:])) for row in found]


def leaves(first: int, end: int) -> list[Sealed]:
    """Return the leaves numbered from `first` on and before `end`, with their records."""
    return _sealed("l.seq >= %s AND l.seq < %s", [first, end], end - first + _MOST_DOUBLES)


def strays(end: int, most: int) -> list[Sealed]:
    """Return the first leaves that stand after the last block, before number 1 or nowhere."""
    return _sealed("(l.seq < 1 OR l.seq >= %s OR l.seq IS NULL)", [end], most)


def between(end: int, first: int, most: int) -> list[Sealed]:
    """Return the first leaves from `end` on and before `first`, where no block is."""
    return _sealed("l.seq >= %s AND l.seq < %s", [end, first], most)


def span(first: int, end: int) -> tuple[Span, Seen] | None:
    """Return the leaves numbered from `first` on and before `end`; None where not all is in order.

    In order is: one leaf for each number, one record for each leaf, one text at most. Leaves,
    records and texts are read apart, each from one end of their ids to the other: without a join
    there is one way to read them, whatever the database knows of its tables.
    """
    read = f"seq, {sql.raw('hash')}, {sql.number('record_id')}"
    most = end - first + 1
    found = _rows(read, "toolpolicy_leaf", f"{_BETWEEN_SEQS} ORDER BY seq", [first, end], most)
    if not found or [one[0] for one in found] != list(range(first, end)):
        return None
    rows = [one[2] for one in found]
    records = _records(rows)
    bodies = _of_rows(sql.raw("text"), "toolpolicy_recordbody", "record_id", rows)
    if records is None or bodies is None:
        return None
    text_hashes, headers, others = records
    texts = [body and body[1] for body in bodies[0]]
    seen = Seen(min(rows), max(rows), others | bodies[1])
    return Span(rows, [one[1] for one in found], headers, text_hashes, texts), seen


def _records(rows: list[int]) -> _Records | None:
    """Return the hashes of the texts of records, their headers, and the ids of others between them.

    None where one is missing, or holds what no record can.
    """
    fast = _with_headers(sql.plain_header("r"), rows)
    return fast if fast is None or sql.are_plain(fast[1]) else _with_headers(sql.header("r"), rows)


def _with_headers(header: str, rows: list[int]) -> _Records | None:
    try:
        read = _of_rows(f"{sql.raw('r.leaf_hash')}, {header}", _LOOSE, "r.id", rows)
    except OperationalError as error:
        if sql.NO_JSON not in str(error):
            raise
        return None
    if read is None or None in read[0]:
        return None
    _, hashes, headers = zip(*read[0], strict=True)
    return None if None in headers else (list(hashes), list(headers), read[1])


def _of_rows(
    read: str, source: str, key: str, rows: list[int]
) -> tuple[list[Any], frozenset[int]] | None:
    """Return what is read of rows, each as its id and that; None for each that is not there.

    With it the ids of others that stand between them. None when one is there twice, or too many
    others are.
    """
    if None in rows:
        return None
    condition, most = f"{key} BETWEEN %s AND %s", 2 * len(rows)
    found = _rows(f"{key}, {read}", source, condition, [min(rows), max(rows)], most + 1)
    if [one[0] for one in found] == rows:
        return found, frozenset()
    by_row = {one[0]: one for one in found}
    if not len(by_row) == len(found) <= most:
        return None
    return [by_row.get(row) for row in rows], frozenset(by_row.keys() - set(rows))


def unseen(seen: Iterable[Seen]) -> Iterator[Ids]:
    """Yield the ids that were not seen, or belong to no span, from the lowest to the highest."""
    place = BEFORE_ALL + 1
    for one in sorted(seen):
        if place < one.first:
            yield place, one.first - 1
        yield from ((row, row) for row in sorted(one.others))
        place = max(place, one.last + 1)
    yield place, LAST_ID


def loose(where: Iterable[Ids] = ((BEFORE_ALL + 1, LAST_ID),)) -> Iterator[Loose]:
    """Yield the records that no leaf points to, among these ids."""
    leaf = "toolpolicy_leaf l WHERE l.record_id = r.id AND l.record_id BETWEEN %s AND %s"
    sealed = f"SELECT 1 FROM {leaf}"  # noqa: S608  (our own names)
    condition = f"r.id BETWEEN %s AND %s AND NOT EXISTS ({sealed}) ORDER BY r.id"
    read = f"r.id, {_record()}"
    for first, last in (part for begin, end in where for part in spans(begin - 1, end=end)):
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
    return _rows(read, f"{source} {body}", condition, values, most)


def _rows(
    read: str, source: str, condition: str, values: list[Any], most: int
) -> list[tuple[Any, ...]]:
    query = f"SELECT {read} FROM {source} WHERE {condition} LIMIT %s"  # noqa: S608  (our own names)
    return sql.fetched(query, [*values, most])
