"""Sealed records as CSV, to be read and sorted: the columns of records, no texts, no proofs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from toolpolicy.audit.headers import NAMES, members
from toolpolicy.audit.sealed import SealedRecord, blocks_of
from toolpolicy.models import Block
from toolpolicy.services.csv_text import csv_lines
from toolpolicy.services.record_filters import RecordFilter

COLUMNS: Final = ("seq", "block", *NAMES)


class RecordTable:
    """One table; `counts` says how many records and blocks were read so far."""

    def __init__(self, wanted: RecordFilter) -> None:
        self.counts: Counter[str] = Counter()
        self._wanted = wanted

    def lines(self) -> Iterator[bytes]:
        """Yield the names of the columns, then a line for each record in the order of the log."""
        return (line.encode() for line in csv_lines(self._rows()))

    def _rows(self) -> Iterator[Sequence[object]]:
        yield COLUMNS
        head = Block.objects.latest("number")
        for one in blocks_of(self._wanted, head):
            self.counts["block"] += 1
            for found in filter(self._asked_for, one.records):
                self.counts["record"] += 1
                _, *fields = members(found.row)
                values = ("" if field is None else field for field in fields)
                yield found.seq, one.block.number, *values

    def _asked_for(self, found: SealedRecord) -> bool:
        return self._wanted.asks_for(found.row, found.seq)
