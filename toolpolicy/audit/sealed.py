"""Sealed records in the order of their numbers, with their blocks, read in constant memory."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from django.db.models import Max, Min, Q

from toolpolicy.audit.headers import COLUMNS
from toolpolicy.audit.sealer import MOST
from toolpolicy.models import Block, Leaf, Record, RecordBody
from toolpolicy.models.records import RecordQuerySet

TEXTS_AT_ONCE: Final = 100
_BLOCKS_AT_ONCE: Final = 100
Item = TypeVar("Item")
Row = tuple[Any, ...]
LeafRow = tuple[int, str, int]
"""A leaf: its number, its hash, its record."""


class Wanted(Protocol):
    """Which records."""

    @property
    def first(self) -> int | None:
        """The lowest number that is asked for; None: the first there is."""

    def narrow(self, records: RecordQuerySet) -> RecordQuerySet:
        """Keep the records that are asked for."""

    def asks_for(self, row: Row, seq: int | None) -> bool:
        """Tell whether a record is asked for, by its `headers.COLUMNS`."""

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""


@dataclass(frozen=True, slots=True)
class SealedRecord:
    """A record, its number in the log, and its `headers.COLUMNS`."""

    seq: int
    pk: int
    row: Row


@dataclass(frozen=True, slots=True)
class OpenBlock:
    """A block with its leaves and those of its records that were read."""

    block: Block
    leaves: Sequence[LeafRow]
    records: Sequence[SealedRecord]


def blocks_of(wanted: Wanted, head: Block, besides: Q | None = None) -> Iterator[OpenBlock]:
    """Yield the blocks from the first that holds a record that is asked for, with such records.

    The last is `head`; it is the only one where no record is asked for. With them come the records
    that are `besides`, from that first block on.
    """
    records, last = wanted.narrow(Record.objects.all()), head.first + head.count - 1
    found = records.order_by().filter(leaf__seq__lte=last)
    ends = found.aggregate(low=Min("leaf__seq"), high=Max("leaf__seq"))
    if ends["low"] is None:
        return _open(records, head.number, head, 0)
    start, others = _block_of(ends["low"], head), Record.objects.filter(besides or Q(pk__in=()))
    if not others.exists():
        return _open(records, start, head, ends["high"])
    return _open(records | others, start, head, last)


def whole_blocks(first: int, head: Block) -> Iterator[OpenBlock]:
    """Yield the blocks from the one that holds record number `first` to `head`, with all records.

    All of them are `head` alone when there is no such record.
    """
    last = head.first + head.count - 1
    return _open(Record.objects.all(), _block_of(first, head), head, last)


def _block_of(seq: int, head: Block) -> int:
    """Return the number of the block that holds a record, the newest one when none does."""
    before = Block.objects.filter(number__lte=head.number, first__lte=seq, count__gt=0)
    found = before.order_by("-first").values_list("number", flat=True).first()
    return head.number if found is None else found


def _open(records: RecordQuerySet, start: int, head: Block, high: int) -> Iterator[OpenBlock]:
    """Yield the blocks from number `start` on; after record number `high`, without records."""
    for group in _groups(start, head.number):
        end = group[-1].first + group[-1].count
        leaves = _leaves(group[0].first, end) if group[0].first <= high else []
        found = list(sealed(records, leaves))
        for block in group:
            yield OpenBlock(
                block,
                _part(block, leaves, lambda leaf: leaf[0]),
                _part(block, found, lambda one: one.seq),
            )


def _part(block: Block, items: Sequence[Item], number: Callable[[Item], int]) -> Sequence[Item]:
    first = bisect_left(items, block.first, key=number)
    return items[first : bisect_left(items, block.first + block.count, key=number)]


def _groups(start: int, head: int) -> Iterator[list[Block]]:
    """Yield blocks in a row, together no more than a full one has records."""
    group: list[Block] = []
    for block in _blocks(start, head):
        full = sum(one.count for one in group) + block.count > MOST
        if group and (full or len(group) == _BLOCKS_AT_ONCE):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _blocks(start: int, head: int) -> Iterator[Block]:
    found = Block.objects.filter(number__lte=head).order_by("number")
    while some := list(found.filter(number__gte=start)[:_BLOCKS_AT_ONCE]):
        yield from some
        start = some[-1].number + 1


def _leaves(first: int, end: int) -> list[LeafRow]:
    # However many records an altered block claims, no more are read than a block can have.
    found = Leaf.objects.filter(seq__gte=first, seq__lt=end).order_by("seq")
    return list(found.values_list("seq", "hash", "record_id")[:MOST])


def sealed(records: RecordQuerySet, leaves: Sequence[LeafRow]) -> Iterator[SealedRecord]:
    """Yield those among some records to which leaves point, in the order of the leaves."""
    if not leaves:
        return
    found = records.order_by().filter(**_lying({pk for *_, pk in leaves}))
    rows = {pk: tuple(row) for pk, *row in found.values_list("pk", *COLUMNS)}
    for seq, _, pk in leaves:
        if pk in rows:
            yield SealedRecord(seq, pk, rows[pk])


def _lying(ids: set[int]) -> dict[str, Any]:
    """Return where to look for records of these ids; others may lie there too.

    A span of ids is faster than a list; sealed together, they lie together.
    """
    low, high = min(ids), max(ids)
    return {"pk__in": ids} if high - low > 2 * MOST else {"pk__range": (low, high)}


def after(seq: int, limit: int) -> tuple[list[SealedRecord], int]:
    """Return the next sealed records after a number, and the last number that was looked at."""
    found = Leaf.objects.filter(seq__gt=seq).order_by("seq")
    leaves = list(found.values_list("seq", "hash", "record_id")[:limit])
    return list(sealed(Record.objects.all(), leaves)), leaves[-1][0] if leaves else seq


def with_texts(records: Iterable[SealedRecord]) -> Iterator[tuple[SealedRecord, str | None]]:
    """Yield records with their texts, of which few are held at once; None: it was deleted."""
    waiting: list[SealedRecord] = []
    for one in records:
        waiting.append(one)
        if len(waiting) == TEXTS_AT_ONCE:
            yield from _with_texts(waiting)
            waiting = []
    yield from _with_texts(waiting)


def _with_texts(records: Sequence[SealedRecord]) -> Iterator[tuple[SealedRecord, str | None]]:
    found = RecordBody.objects.filter(record__in=[one.pk for one in records])
    texts = dict(found.values_list("record_id", "text")) if records else {}
    for one in records:
        yield one, texts.get(one.pk)
