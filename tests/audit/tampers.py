"""Hands of someone who owns the database on a small log: no constraint or trigger stops them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, models, transaction

from tests.live import make_client, make_live, strict
from toolpolicy.audit import blocks, keeping
from toolpolicy.audit.signing import new_seed
from toolpolicy.audit.verification.whole import verify
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import (
    AuditState,
    Block,
    Leaf,
    MaskedValue,
    Record,
    RecordBody,
    SealKey,
)
from toolpolicy.services import decisions, sealing
from toolpolicy.services.actors import Actor

TABLES: tuple[type[models.Model], ...] = (
    Record,
    RecordBody,
    MaskedValue,
    Leaf,
    Block,
    SealKey,
    AuditState,
)
"""Every table of the audit that a verification judges."""
FORGER = "ab" * 32
"""The private key of someone who has not the log's."""
SYSTEM = Actor.system("tests")
Row = dict[str, Any]


def build_log(settings: Any, folder: Any) -> None:
    """Seal real decisions in several blocks, by two keys, each block told to a file."""
    path = str(folder / "kept.jsonl")
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, checkpoint_file=path)
    make_live([strict({"effect": "deny", "match": {"name": "drop_*"}})])
    asker = Actor.for_client(make_client())
    decide(asker, 3)
    keeping.seal_now()
    decide(asker, 3)
    seed = new_seed()
    sealing.rotate(actor=SYSTEM, seed=seed)
    settings.TOOLPOLICY_SEAL_KEY = seed
    for count in (4, 3, 0):
        decide(asker, count)
        keeping.seal_now()


def decide(asker: Actor, count: int) -> None:
    for number in range(count):
        name = ("drop_table", "read_mail", "send_mail")[number % 3]
        context = {"agent": f"agent-{number}", "channel": "chat", "session": f"s-{number}"}
        arguments = {"n": number, "password": f"hunter {number}"}
        asked = {"surface": "call", "tool": name, "arguments": arguments, "context": context}
        decisions.decide(asker=asker, question=parse_question(asked))


@contextmanager
def owning_the_database() -> Iterator[None]:
    """Take every constraint, index and trigger of the audit's tables away until the end."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for model in TABLES:
                table = model._meta.db_table
                cursor.execute(f"ALTER TABLE {table} RENAME TO was_{table}")
                cursor.execute(f"CREATE TABLE {table} AS SELECT * FROM was_{table}")  # noqa: S608
        yield
        transaction.set_rollback(True)


@contextmanager
def undone() -> Iterator[Any]:
    """Yield a cursor, and take back what was done."""
    with transaction.atomic(), connection.cursor() as cursor:
        yield cursor
        transaction.set_rollback(True)


def rows_of(model: type[models.Model]) -> list[Row]:
    """Return the rows of a table as they are stored, in the order of their keys."""
    names = columns_of(model)
    table, key = model._meta.db_table, key_of(model)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {', '.join(names)} FROM {table} ORDER BY {order_of(model)}, {key}"  # noqa: S608
        )
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def order_of(model: type[models.Model]) -> str:
    return "position" if model is SealKey else key_of(model)


def columns_of(model: type[models.Model]) -> list[str]:
    return [str(field.column) for field in model._meta.concrete_fields]


def key_of(model: type[models.Model]) -> str:
    assert model._meta.pk is not None
    return str(model._meta.pk.column)


def change(model: type[models.Model], row: Row, **values: Any) -> None:
    """Set columns of one row."""
    sets = ", ".join(f"{name} = %s" for name in values)
    table, key = model._meta.db_table, key_of(model)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET {sets} WHERE {key} = %s",  # noqa: S608
            [*values.values(), row[key]],
        )


def remove(model: type[models.Model], row: Row) -> None:
    table, key = model._meta.db_table, key_of(model)
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE {key} = %s", [row[key]])  # noqa: S608


def insert(model: type[models.Model], row: Row) -> None:
    holders = ", ".join(["%s"] * len(row))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} ({', '.join(row)}) VALUES ({holders})",  # noqa: S608
            list(row.values()),
        )


def exchange(model: type[models.Model], one: Row, other: Row) -> None:
    """Let two rows change places: each has the other's values, but for what says its place."""
    if model is SealKey:
        change(model, one, position=other["position"])
        change(model, other, position=one["position"])
        return
    names = [name for name in one if name != key_of(model)]
    change(model, one, **{name: other[name] for name in names})
    change(model, other, **{name: one[name] for name in names})


def flipped(value: Any) -> Any:
    """Return a stored value with one byte of it changed."""
    match value:
        case None:
            return 1
        case int():
            return value ^ 1024
        case datetime():
            return value + timedelta(microseconds=1)
        case UUID():
            return UUID(int=value.int ^ 1)
        case "":
            return "x"
        case str():
            middle = len(value) // 2
            return value[:middle] + chr(ord(value[middle]) ^ 1) + value[middle + 1 :]
        case _:
            raise TypeError(type(value))


def place_of(model: type[models.Model], row: Row) -> int | None:
    """Return the first number of a record that is touched when a row is altered."""
    if model in {Record, RecordBody, MaskedValue}:
        return Leaf.objects.get(record=row["id" if model is Record else "record_id"]).seq
    if model is Leaf:
        return int(row["seq"])
    if model is Block:
        return int(row["first"])
    if model is SealKey:
        texts = Block.objects.order_by("number").values_list("text", flat=True)
        sealed = [block for block in map(blocks.parse, texts) if block.key == row["key_id"]]
        return sealed[0].first
    return None


def found(*, full: bool = True) -> tuple[str, int | None] | None:
    """Return the kind and the number of the first finding of a verification."""
    first = verify(full=full).first
    return (str(first.kind), first.seq) if first else None


def mistaken(cases: Iterator[tuple[str, Any, Any]] | Sequence[tuple[str, Any, Any]]) -> list[str]:
    """Return what came out otherwise than expected, in words."""
    return [f"{name}: {got} instead of {wanted}" for name, got, wanted in cases if got != wanted]
