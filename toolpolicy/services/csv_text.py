"""Tables as CSV that no spreadsheet takes for a formula."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from toolpolicy.engine.faults import printable

_STARTS: Final = ("=", "+", "-", "@")


def csv_lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Return each row as a line, every field in quotes.

    What cannot be printed is escaped, and what a spreadsheet would take for a formula starts with
    an apostrophe.
    """
    writer = csv.writer(_Line, quoting=csv.QUOTE_ALL)
    return (writer.writerow([safe(str(field)) for field in row]) for row in rows)


def safe(text: str) -> str:
    """Return a text as a field may hold it.

    >>> safe("=1+1"), safe(" @sum"), safe("mail_send")
    ("'=1+1", "' @sum", 'mail_send')
    """
    shown = printable(text)
    return f"'{shown}" if shown.lstrip().startswith(_STARTS) else shown


class _Line:
    """What a CSV writer writes to: it hands each line back."""

    @staticmethod
    def write(line: str) -> str:
        return line
