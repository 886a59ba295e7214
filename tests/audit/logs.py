"""A small log in a test database, and hands on it that no trigger stops."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, connections, transaction

from toolpolicy.audit import sealer, triggers, writer
from toolpolicy.audit.verification.findings import Verdict
from toolpolicy.audit.verification.whole import verify
from toolpolicy.models import ApiClient


def write_records(
    count: int,
    *,
    kind: str = "decision",
    outcome: str = "allow",
    client: ApiClient | None = None,
    **index: Any,
) -> list[int]:
    """Write records and return their ids."""
    ids = []
    for number in range(count):
        with transaction.atomic():
            record = writer.write(
                kind=kind,
                body={"number": number},
                index=writer.RecordIndex(outcome=outcome, **index),
                client=client,
            )
        ids.append(record.pk)
    return ids


def sealed_log(*sizes: int) -> list[int]:
    """Write and seal one block of each size; return the ids of all records."""
    ids = []
    for size in sizes:
        ids += write_records(size)
        sealer.seal_all()
    return ids


def begin_as_another_writer() -> None:
    """Let what follows be numbered anew, as by a process that was just started."""
    vars(connections["default"]).pop(writer._SLOT, None)


@contextmanager
def tampering() -> Iterator[Any]:
    """Yield a cursor of someone who owns the database: no trigger and no key of others stops it."""
    with triggers_lifted(), connection.cursor() as cursor:
        yield cursor


@contextmanager
def triggers_lifted() -> Iterator[None]:
    triggers.remove(connection)
    try:
        yield
    finally:
        triggers.install(connection)


def verdict(*, full: bool = True) -> Verdict:
    return verify(full=full)


def first_said(*, full: bool = True) -> tuple[str, int | None]:
    """Return the kind and the number of the first finding of a verification."""
    first = verdict(full=full).first
    assert first is not None
    return str(first.kind), first.seq
