"""The cells of a matrix as HTML and as CSV.

A page holds thousands of cells, so each is as short as it can be: the outcome is one class and one
word, and what else is to be said of it is a text that the style sheet draws as a mark.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.marks import breakable
from toolpolicy.admin.matrix_forms import MatrixForm
from toolpolicy.admin.simulator.links import parameter
from toolpolicy.engine.faults import printable
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.words import Outcome, Scope
from toolpolicy.services.matrix import Cell, Matrix

MOST_ROWS: Final = 200
MOST_COLUMNS: Final = 20
# Of HTML; the rest of the page takes some 30 000 of the 300 000 that a page may have.
MOST_BYTES: Final = 262_000
# How many tools are judged at a time when only some of them are shown.
_STEP: Final = 500
# (class, word) of an outcome.
_MARKS: Final = {
    Outcome.ALLOW: ("a", _("Allow")),
    Outcome.NEEDS_APPROVAL: ("k", _("Ask")),
    Outcome.DENY: ("d", _("Deny")),
}


class Row(NamedTuple):
    """One tool and its cells; `number` is its place among those asked for."""

    number: int
    entry: Entry
    cells: Sequence[Cell]


@dataclass
class Table:
    """One page of a matrix: its rows as HTML, and where the next page starts."""

    rows: int = 0
    cells: int = 0
    not_plain: int = 0
    changed: int = 0
    following: int | None = None
    pieces: list[str] = field(default_factory=list)

    @property
    def html(self) -> SafeString:
        """The groups of rows. Every piece of them was escaped."""
        return mark_safe("".join(self.pieces))  # noqa: S308

    def count(self, cells: Sequence[Cell]) -> None:
        """Count a row in."""
        self.rows += 1
        self.cells += len(cells)
        self.not_plain += sum(not one.plain for one in cells)
        self.changed += sum(one.changed for one in cells)


def rows_of(
    form: MatrixForm, matrix: Matrix, columns: Sequence[str], start: int = 0
) -> Iterator[Row]:
    """Return the rows that are asked for, from the tool with this number on."""
    wanted, step = _wanted(form, matrix), MOST_ROWS if form.pick is None else _STEP
    for at in range(start, len(wanted), step):
        yield from _picked(form, matrix, columns, wanted, range(at, min(at + step, len(wanted))))


def start_before(
    form: MatrixForm, matrix: Matrix, columns: Sequence[str], start: int
) -> int | None:
    """Return where the page begins that ends before the tool with this number; None for none."""
    wanted = _wanted(form, matrix)
    found: list[int] = []
    for end in range(min(start, len(wanted)), 0, -_STEP):
        span = range(max(0, end - _STEP), end)
        found = [row.number for row in _picked(form, matrix, columns, wanted, span)] + found
        if len(found) >= MOST_ROWS:
            return found[-MOST_ROWS]
    return found[0] if found else None


def _wanted(form: MatrixForm, matrix: Matrix) -> list[Entry]:
    return [entry for entry in matrix.entries if form.wants(entry)]


def _picked(
    form: MatrixForm,
    matrix: Matrix,
    columns: Sequence[str],
    wanted: Sequence[Entry],
    span: range,
) -> Iterator[Row]:
    """Yield the rows of a span that are shown."""
    contexts = [{**form.context, **({form.axis: value} if value else {})} for value in columns]
    entries = wanted[span.start : span.stop]
    by_row = zip(*matrix.columns(entries, contexts), strict=True)
    for number, entry, cells in zip(span, entries, by_row, strict=True):
        if form.pick is None or any(map(form.pick, cells)):
            yield Row(number, entry, cells)


def table_of(
    rows: Iterator[Row], keys: Mapping[tuple[str, str], int], links: Sequence[str], *, named: bool
) -> Table:
    """Return a page of these rows, of as many as it holds.

    `keys` are the tools' keys by family and name, `links` what each column adds to the address of
    a cell, nothing where it leads nowhere; a name leads to its tool when `named`.
    """
    table, size, language = Table(), 0, get_language() or ""
    for family, group in groupby(rows, key=lambda row: row.entry.family):
        table.pieces.append(_group(family, len(links)))
        for number, entry, cells in group:
            key = keys[entry.family, entry.name]
            text = _head(entry.name, key, named=named) + "".join(
                f'<td><a class={mark[0]} href="{key}{link}">{mark[1]}</a>'
                if link
                else f"<td><span class={mark[0]}>{mark[1]}</span>"
                for mark, link in zip((_mark(one, language) for one in cells), links, strict=True)
            )
            size += len(text.encode())
            if table.rows == MOST_ROWS or size > MOST_BYTES:
                table.following = number
                return table
            table.pieces.append(text)
            table.count(cells)
    return table


def links_of(form: MatrixForm, columns: Sequence[str]) -> list[str]:
    """Return what leads from a tool to why: the context of each column, for an address."""
    found: list[str] = []
    for value in columns:
        context = {**form.context, **({form.axis: value} if value else {})}
        query = urlencode({parameter(key): text for key, text in context.items()})
        found.append(escape(f"?{query}"))
    return found


def _group(family: str, columns: int) -> str:
    head = '<th scope="rowgroup" colspan="{}"><span>{}</span></th>'
    inner = format_html(head, columns + 1, printable(family))
    return f'<tbody><tr class="is-group">{inner}</tr>'


def _head(name: str, key: int, *, named: bool) -> str:
    shown = str(breakable(name))
    if named:
        shown = f'<a href="{_tool_page(key)}">{shown}</a>'
    return f"<tr><th scope=row>{shown}"


def _tool_page(key: int) -> str:
    return _tool_address().replace("/0/", f"/{key}/")


@lru_cache(maxsize=1)
def _tool_address() -> str:
    return reverse("admin:toolpolicy_tool_change", args=(0,))


@lru_cache(maxsize=256)
def _mark(cell: Cell, language: str) -> tuple[str, str]:
    """Return the class of a cell, and its words in the active language, which is `language`."""
    del language  # only tells what is kept apart
    name, word = _MARKS[cell.outcome]
    inner = escape(word)
    if cell.depends:
        inner += format_html("<i>, {}</i>", gettext("depends"))
    if cell.hidden:
        inner += format_html("<b>, {}</b>", gettext("hidden"))
    if not cell.changed:
        return name, inner
    return f'"{name} m"', inner + format_html("<em>, {}</em>", gettext("changed"))


def none_of(axis: str) -> str:
    """Name the column of calls that say nothing there."""
    return gettext("no agent") if axis == Scope.AGENT else gettext("no channel")


def csv_rows(
    form: MatrixForm, rows: Iterator[Row], columns: Sequence[str]
) -> Iterator[Sequence[str]]:
    """Return the whole matrix as rows of texts, its head first; English, for programs read it."""
    yield ["family", "tool", *(value or f"no {form.axis}" for value in columns)]
    for row in rows:
        yield [row.entry.family, row.entry.name, *map(_words, row.cells)]


@lru_cache(maxsize=64)
def _words(cell: Cell) -> str:
    words = [str(cell.outcome).replace("_", " ")]
    words += ["depends on arguments"] if cell.depends else []
    words += ["hidden"] if cell.hidden else []
    words += ["changed"] if cell.changed else []
    return ", ".join(words)
