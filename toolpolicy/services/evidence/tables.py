"""A report as a head and sections, each a stream of rows: the same for pages, JSON and CSV."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.faults import printable
from toolpolicy.services.evidence.periods import Period

Row = Mapping[str, Any]
# Of a list in one cell, a reader sees the beginning and a count; JSON has all of it.
MOST_LINES: Final = 20
MOST_ON_PAGE: Final = 6
LONGEST_LINE: Final = 400
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

    def lines(self, row: Row, most: int = MOST_LINES) -> list[str]:
        """Return the value as lines of text, at most so many; none where there is none."""
        value = row[self.name]
        unsaid = value is None or (value == "" and "" not in self.words)
        values = value if isinstance(value, list) else [] if unsaid else [value]
        shown = [self._text(one) for one in values[:most]]
        more = len(values) - len(shown)
        return [*shown, f"and {more} more"] if more else shown

    def _text(self, value: Any) -> str:
        text = _YES_NO[value] if isinstance(value, bool) else str(value)
        if self.moment:
            return text[:19].replace("T", " ")
        text = printable(str(self.words.get(text, text)))
        return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"


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
    """A section as a page shows it: each row as cells, each cell as lines of text."""

    section: Section
    rows: list[list[tuple[Column, list[str]]]]
    more: bool

    @classmethod
    def of(cls, section: Section) -> "ShownSection":
        """Read no more than a page of the admin shows, and whether there are more rows."""
        return cls.beginning(section, section.page, MOST_ON_PAGE)

    @classmethod
    def beginning(cls, section: Section, most: int, lines: int = MOST_LINES) -> "ShownSection":
        """Read so many rows, and whether there are more; of each cell so many lines."""
        read = list(islice(section.rows(), most + 1))
        rows = [[(one, one.lines(row, lines)) for one in section.columns] for row in read[:most]]
        return cls(section=section, rows=rows, more=len(read) > most)
