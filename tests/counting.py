"""What work asks of the database: statements, and rows that come back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from django.db import connection
from django.db.backends.utils import CursorWrapper


@dataclass(slots=True)
class Counts:
    """How many statements were run, and how many rows were read."""

    queries: int = 0
    rows: int = 0

    def run(self, execute: Callable[..., Any], *given: Any) -> Any:
        """Count a statement and run it."""
        self.queries += 1
        return execute(*given)

    def __call__(self, cursor: CursorWrapper, name: str) -> Any:
        """Return a method of a cursor that counts the rows it returns."""

        def fetched(*given: Any) -> Any:
            found = getattr(cursor.cursor, name)(*given)
            self.rows += 0 if found is None else 1 if name == "fetchone" else len(found)
            return found

        return fetched


@contextmanager
def counting() -> Iterator[Counts]:
    """Count what is asked of the database until the end."""
    counts = Counts()

    class Counting(CursorWrapper):
        def __getattr__(self, name: str) -> Any:
            if name in {"fetchone", "fetchmany", "fetchall"}:
                return counts(self, name)
            return super().__getattr__(name)

        def __iter__(self) -> Iterator[Any]:
            for row in self.cursor:
                counts.rows += 1
                yield row

    made = "django.db.backends.utils.CursorWrapper"
    with mock.patch(made, Counting), connection.execute_wrapper(counts.run):
        yield counts
