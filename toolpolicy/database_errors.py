"""What a log may say of a database error: its class, code, table, constraint and frames.

Its message may hold a whole row (PostgreSQL: `Failing row contains (…)`) or a stored text, and so a
secret. Whatever logs an error that may come from a database does it through `log` or `summary`.
"""

import logging
import re
import sqlite3
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Final

from django.db import Error

from toolpolicy.engine.faults import printable

_DRIVER: Final = "psycopg"
_CAUSE: Final = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT: Final = "\nDuring handling of the above exception, another exception occurred:\n\n"
# What SQLite says of a schema: names alone, never a value.
_OF_NAMES: Final = re.compile(
    r"(?:no such (?:table|column): [\w.]+|(?:UNIQUE|NOT NULL|CHECK) constraint failed: [\w., ]+)$"
    r"|Could not decode to UTF-8 column '\w+'"
)


def log(logger: logging.Logger, error: BaseException, message: str, *args: object) -> None:
    """Log `message` as an error, with the traceback of `error`; of databases without messages."""
    if any(_is_of_database(one) for one, _ in _chain(error)):
        # As text: another handler than ours would print what it makes of the error itself.
        logger.error(f"{message}\n%s", *args, _traceback(error), stacklevel=2)  # noqa: G004
    else:
        logger.error(message, *args, exc_info=error, stacklevel=2)


def summary(error: BaseException) -> str:
    """Return an error in one line; one of a database without what its message may hold."""
    name = type(error).__name__
    said = _told(error) if _is_of_database(error) else str(error)
    return f"{name}: {said}" if said else name


class LineFormatter(logging.Formatter):
    """Writes the traceback of what others log, such as Django a failed page, in the same way."""

    def formatException(  # noqa: N802  (the name is of `logging`)
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        """Return the traceback as text."""
        return _traceback(ei[1]) if ei[1] is not None else super().formatException(ei)


def _traceback(error: BaseException) -> str:
    """Return what Python prints of an error, its causes first, without messages of databases."""
    parts: list[str] = []
    for one, link in reversed(list(_chain(error))):
        if one.__traceback__ is not None:
            parts += ["Traceback (most recent call last):\n"]
            parts += traceback.format_tb(one.__traceback__)
        if _is_of_database(one):
            parts.append(f"{type(one).__module__}.{type(one).__qualname__}: {_told(one)}\n")
        else:
            parts += traceback.format_exception_only(one)
        parts.append(link)
    return "".join(parts).rstrip("\n")


def _chain(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    """Give an error and what led to it, each with what stands between it and the one before."""
    seen: set[int] = set()
    one: BaseException | None = error
    link = ""
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one, link
        if one.__cause__ is not None:
            one, link = one.__cause__, _CAUSE
        else:
            one, link = None if one.__suppress_context__ else one.__context__, _CONTEXT


def _is_of_database(error: BaseException) -> bool:
    # PostgreSQL's driver need not be there.
    of_driver = type(error).__module__.partition(".")[0] == _DRIVER
    return of_driver or isinstance(error, Error | sqlite3.Error)


def _told(error: BaseException) -> str:
    """Return what is known of a database error and is nobody's data; the driver knows it."""
    source = error.__cause__ if isinstance(error, Error) and error.__cause__ else error
    if isinstance(source, sqlite3.Error):
        code = getattr(source, "sqlite_errorname", "")
        names = _OF_NAMES.match(str(source))
        return ", ".join(filter(None, (code, names and names[0])))
    state = getattr(source, "sqlstate", None)
    if state is None and _is_lost_connection(source):
        return printable(str(source))
    diagnosis = getattr(source, "diag", None)
    facts = {
        "SQLSTATE": state,
        "table": getattr(diagnosis, "table_name", None),
        "constraint": getattr(diagnosis, "constraint_name", None),
    }
    return ", ".join(f"{name} {printable(value)}" for name, value in facts.items() if value)


def _is_lost_connection(source: BaseException) -> bool:
    """Tell it of the driver's own error without a code: it names a server, and knows no row."""
    return type(source).__module__ == _DRIVER and type(source).__name__ == "OperationalError"
