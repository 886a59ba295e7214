"""Database triggers that keep written-once rows as they are, whoever holds the connection.

`missing()` proves that they stand: SQLite drops a table's triggers without a word when a migration
rebuilds the table, so our `migrate` command asks after every run. A migration that alters one of
these tables ends with `install`. Tests reset a database inside `suspended()`, and nothing else may.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper


@dataclass(frozen=True, slots=True)
class Trigger:
    """One refusal: `verb` (UPDATE, DELETE, TRUNCATE or REPLACE) on `table`."""

    table: str
    verb: str

    @property
    def name(self) -> str:
        """The name of the trigger in the database."""
        return f"{self.table}_no_{self.verb.lower()}"

    @property
    def message(self) -> str:
        """What the database says when it refuses."""
        return f"{self.table} is written once: {self.verb.lower()} refused"


_ROW_VERBS: Final = {
    "toolpolicy_record": ("UPDATE", "DELETE"),
    # Retention and erasure delete these; their hashes stay in the record.
    "toolpolicy_recordbody": ("UPDATE",),
    "toolpolicy_maskedvalue": ("UPDATE",),
    # A hold is lifted, never deleted, and what it holds stays as it was said.
    "toolpolicy_legalhold": ("UPDATE", "DELETE"),
    "toolpolicy_document": ("UPDATE", "DELETE"),
    "toolpolicy_policyversion": ("UPDATE", "DELETE"),
    "toolpolicy_tooldeclaration": ("UPDATE", "DELETE"),
    "toolpolicy_sealkey": ("UPDATE", "DELETE"),
    "toolpolicy_block": ("UPDATE", "DELETE"),
    "toolpolicy_leaf": ("UPDATE", "DELETE"),
}
# Where only some columns are written once.
_COLUMNS: Final = {
    "toolpolicy_legalhold": ("id", "name", "reason", "filter", "created_at", "created_by_label"),
}
# What makes a new row the same as an old one: INSERT OR REPLACE deletes by these, past triggers.
_BY_DIGEST: Final = ("digest",)
_KEYS: Final = {
    "toolpolicy_record": ("id", "uid", "writer_id writer_n"),
    "toolpolicy_recordbody": ("record_id",),
    "toolpolicy_maskedvalue": ("id",),
    "toolpolicy_legalhold": ("id",),
    "toolpolicy_document": _BY_DIGEST,
    "toolpolicy_policyversion": ("id", "number"),
    "toolpolicy_tooldeclaration": _BY_DIGEST,
    "toolpolicy_sealkey": ("key_id", "position"),
    "toolpolicy_block": ("number",),
    "toolpolicy_leaf": ("seq", "record_id"),
}
_FUNCTION: Final = "toolpolicy_refuse"
_POSTGRESQL: Final = "postgresql"


def wanted(connection: BaseDatabaseWrapper) -> tuple[Trigger, ...]:
    """Return every trigger that has to stand. Only PostgreSQL truncates, only SQLite replaces."""
    extra = "TRUNCATE" if connection.vendor == _POSTGRESQL else "REPLACE"
    return tuple(
        Trigger(table, verb) for table, verbs in _ROW_VERBS.items() for verb in (*verbs, extra)
    )


def install(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers that do not stand yet."""
    with connection.cursor() as cursor:
        if connection.vendor == _POSTGRESQL:
            cursor.execute(_function_sql())
        for trigger in missing(connection):
            cursor.execute(_create_sql(trigger, connection))


def remove(connection: BaseDatabaseWrapper) -> None:
    """Drop every trigger."""
    on_postgresql = connection.vendor == _POSTGRESQL
    with connection.cursor() as cursor:
        for trigger in wanted(connection):
            table = f" ON {trigger.table}" if on_postgresql else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {trigger.name}{table}")
        if on_postgresql:
            cursor.execute(f"DROP FUNCTION IF EXISTS {_FUNCTION}()")


def missing(connection: BaseDatabaseWrapper) -> list[Trigger]:
    """Return the triggers that do not stand, for tables that exist. One or two queries."""
    tables = set(connection.introspection.table_names())
    standing = _standing(connection)
    return [t for t in wanted(connection) if t.table in tables and t not in standing]


@contextmanager
def suspended(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Lift the triggers, so that tests can empty the tables, and put them back."""
    with transaction.atomic(using=connection.alias):
        remove(connection)
    try:
        yield
    finally:
        with transaction.atomic(using=connection.alias):
            install(connection)


def _standing(connection: BaseDatabaseWrapper) -> set[Trigger]:
    with connection.cursor() as cursor:
        cursor.execute(
            # An event that is switched off (tgenabled D) does not stand.
            "SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
            " WHERE t.tgenabled IN ('O', 'A') AND pg_table_is_visible(c.oid)"
            if connection.vendor == _POSTGRESQL
            else "SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger'"
        )
        found = set(cursor.fetchall())
    return {trigger for trigger in wanted(connection) if (trigger.table, trigger.name) in found}


def _function_sql() -> str:
    return (
        f"CREATE OR REPLACE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $$"
        " BEGIN RAISE EXCEPTION '% is written once: % refused', TG_TABLE_NAME, lower(TG_OP)"
        " USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )


def _create_sql(trigger: Trigger, connection: BaseDatabaseWrapper) -> str:
    head = f"CREATE TRIGGER {trigger.name} BEFORE"
    columns = _COLUMNS.get(trigger.table, ()) if trigger.verb == "UPDATE" else ()
    event = f"{trigger.verb} OF {', '.join(columns)}" if columns else trigger.verb
    if connection.vendor == _POSTGRESQL:
        # A statement trigger also refuses a statement that would touch no row.
        each = f"FOR EACH STATEMENT EXECUTE FUNCTION {_FUNCTION}()"
        return f"{head} {event} ON {trigger.table} {each}"
    action = f"BEGIN SELECT RAISE(ABORT, '{trigger.message}'); END"
    if trigger.verb != "REPLACE":
        return f"{head} {event} ON {trigger.table} {action}"
    keys = _KEYS[trigger.table]
    if keys == _BY_DIGEST:  # the same digest is the same text: the old row simply stays
        action = "BEGIN SELECT RAISE(IGNORE); END"
    taken = " OR ".join(_taken_sql(trigger.table, key.split()) for key in keys)
    return f"{head} INSERT ON {trigger.table} WHEN {taken} {action}"


def _taken_sql(table: str, key: Sequence[str]) -> str:
    same = " AND ".join(f"{name} = NEW.{name}" for name in key)
    return f"EXISTS (SELECT 1 FROM {table} WHERE {same})"  # noqa: S608  (our own names)
