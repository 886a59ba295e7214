"""Why a command does nothing, in plain sentences: wrong options, no database."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, Error, connections
from django.db.migrations.executor import MigrationExecutor

from toolpolicy.engine.faults import Fault, said

OLDER: Final = "the database has not the tables of this version: run `manage.py migrate`"


def sentences(faults: Iterable[Fault], names: Mapping[str, str]) -> str:
    """Return faults as one text, each with its place; `names` has what options are called."""
    return "; ".join(sentence(fault, names) for fault in faults)


def sentence(fault: Fault, names: Mapping[str, str]) -> str:
    """Return one fault with its place, if it has one; `names` has what options are called."""
    return said([fault.moved(names.get(fault.pointer.removeprefix("/"), fault.pointer))])


@contextmanager
def needing_database() -> Iterator[None]:
    """Raise CommandError, in one sentence, for what a database says that is not there or no use."""
    try:
        yield
    except Error as error:
        raise CommandError(_said_of(error)) from error


def _said_of(error: Error) -> str:
    first = next(iter(str(error).splitlines()), type(error).__name__)
    try:
        executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
        older = bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except Error:
        older = False
    return OLDER if older else f"the database cannot be used: {first}"
