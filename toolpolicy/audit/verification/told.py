"""What records of changes say, and how it is said that rows say something else.

Rows are what counts when something is decided, and whoever has rights on the database can change
them. Each change by the product leaves a sealed record; so the records tell what rows have to say.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from toolpolicy.audit.verification.findings import Kind
from toolpolicy.models import Record
from toolpolicy.models.choices import RecordKind

Wire = dict[str, Any]
# Texts of changes hold whole policies, those of imports long lists.
_AT_ONCE: Final = 10
_COLUMNS: Final = ("leaf__seq", "pk", "object_label", "policy_version", "body__text")
_LAST: Final = float("inf")


class Told(NamedTuple):
    """A record: its number in the log (None: it waits for its seal), and some columns.

    `text` is what it says; None where it is gone or cannot be read: then it proves nothing.
    """

    seq: int | None
    row: int
    label: str
    version: int | None
    text: Wire | None

    @property
    def place(self) -> tuple[float, int]:
        """Its place in the log: numbers are sealed, ids of rows are not."""
        return (_LAST if self.seq is None else self.seq, self.row)

    def without_text(self) -> "Told":
        """Return it to be kept: many texts at once are more than the memory has."""
        return self._replace(text=None)


class Difference(NamedTuple):
    """Something that a row says, in words, and what a record says instead; "": no record does."""

    kind: Kind
    row: str
    told: str = ""
    seq: int | None = None

    @property
    def message(self) -> str:
        """Both in one sentence."""
        if not self.told:
            return self.row
        record = "a record that waits for its seal" if self.seq is None else f"record {self.seq}"
        return f"{self.row}; {record} says that {self.told}"

    @property
    def seen(self) -> tuple[Kind, str]:
        """What is the same at a second look: a record may be sealed meanwhile."""
        return self.kind, self.row


def told(kind: RecordKind, **narrowed: Any) -> Iterator[Told]:
    """Yield the records of a kind, sealed or not, in the order of their rows."""
    rows = Record.objects.filter(kind=kind, **narrowed).order_by("pk").values_list(*_COLUMNS)
    for seq, row, label, version, text in rows.iterator(chunk_size=_AT_ONCE):
        yield Told(seq, row, label, version, _read(text))


def _read(text: str | None) -> Wire | None:
    """Return what a text says; that one was altered is told by the walk over the blocks."""
    try:
        said = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def member(text: Wire | None, name: str) -> Wire | None:
    """Return a member of a text that is an object; None where it has no such member."""
    said = (text or {}).get(name)
    return said if isinstance(said, dict) else None
