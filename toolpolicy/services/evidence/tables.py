"""A report as a head and sections, each a stream of rows: the same for pages, JSON and CSV."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.faults import printable
from toolpolicy.services.evidence.periods import Period

Row = Mapping[str, Any]
# Of a list in one cell, a page shows the beginning and a count; files have all of it.
MOST_ON_PAGE: Final = 6
LONGEST_ON_PAGE: Final = 400
ROWS_AT_ONCE: Final = 200
NO_AGENT: Final = {"": _("(no agent named)")}
_YES_NO: Final = {True: "yes", False: "no"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One member of a row that tables show; `words` says what its codes mean.

    With a word for "", a table says what it means that there is none.
    A `moment` is a time as JSON has it, which a table shows to the second, in UTC. A `wide` one
    holds sentences, a `count` numbers to compare down the column.
    """

    name: str
    heading: Any
    words: Mapping[str, Any] = field(default_factory=dict)
    moment: bool = False
    wide: bool = False
    count: bool = False

    def lines(self, row: Row) -> list[str]:
        """Return the value as lines of text, whole; none where there is none."""
        return [self._text(one) for one in self._values(row)]

    def beginning(self, row: Row) -> list[str]:
        """Return as many lines as a page has room for, and how many more there are."""
        values = self._values(row)
        more = len(values) - MOST_ON_PAGE
        texts = (self._text(one) for one in values[:MOST_ON_PAGE])
        most = LONGEST_ON_PAGE
        shown = [text if len(text) <= most else f"{text[:most]}…" for text in texts]
        return [*shown, f"and {more} more"] if more > 0 else shown

    def _values(self, row: Row) -> Sequence[Any]:
        value = row[self.name]
        unsaid = value is None or (value == "" and "" not in self.words)
        return value if isinstance(value, list) else [] if unsaid else [value]

    def _text(self, value: Any) -> str:
        text = _YES_NO[value] if isinstance(value, bool) else str(value)
        if self.moment:
            return text[:19].replace("T", " ")
        return printable(str(self.words.get(text, text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One table of a report. `rows` makes the stream anew each time; a row has members beside.

    `source` says what was counted or read. `cut` says what was left out, "" where nothing was.
    A page shows no more than `page` rows, files have all of them.
    """

    name: str
    title: Any
    columns: tuple[Column, ...]
    rows: Callable[[], Iterable[Row]]
    source: Any = ""
    cut: Any = ""
    page: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report of a period. `head` are its members in JSON beside the sections."""

    name: str
    title: Any
    period: Period
    head: Mapping[str, Any]
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSection:
    """A section to be read by a person: each row as cells, each cell as lines of text."""

    section: Section
    rows: list[list[tuple[Column, list[str]]]]
    more: bool

    @classmethod
    def of(cls, section: Section) -> "ShownSection":
        """Read no more than a page of the admin shows, and whether there are more rows."""
        most = section.page
        read = list(islice(section.rows(), most + 1))
        rows = [[(one, one.beginning(row)) for one in section.columns] for row in read[:most]]
        return cls(section=section, rows=rows, more=len(read) > most)

    @classmethod
    def pieces(cls, section: Section) -> Iterator["ShownSection"]:
        """Yield all of it, some rows at a time; what is said of it stands in the first alone."""
        rows = ([(one, one.lines(row)) for one in section.columns] for row in section.rows())
        yield cls(section=section, rows=list(islice(rows, ROWS_AT_ONCE)), more=False)
        rest = replace(section, source="", cut="")
        while some := list(islice(rows, ROWS_AT_ONCE)):
            yield cls(section=rest, rows=some, more=False)
