"""Database triggers that keep written-once rows as they are, whoever holds the connection.

`faults()` proves that they stand, by their text and not by their names, and that nothing else acts
on these tables. SQLite drops a table's triggers without a word when a migration rebuilds the table,
so our `migrate` command asks after every run. A migration that alters one of these tables ends with
`install`. Tests reset a database inside `suspended()`, and nothing else may.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from toolpolicy.engine.faults import shown


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


class Wrong(StrEnum):
    """What is wrong with something on a written-once table."""

    MISSING = "missing"
    ALTERED = "altered"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class TriggerFault:
    """Something that is not as it was installed, in words; `trigger` where one is missing."""

    wrong: Wrong
    message: str
    trigger: Trigger | None = None


class _Found(NamedTuple):
    """What a database has on one of the tables: a trigger or a rule, with its definition."""

    table: str
    name: str
    is_rule: bool
    text: str
    is_on: bool
    does: str
    """The source of PostgreSQL's function, "" where that is not plain; SQLite's is in the text."""


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
_BODY: Final = (
    " BEGIN RAISE EXCEPTION '% is written once: % refused', TG_TABLE_NAME, lower(TG_OP)"
    " USING ERRCODE = 'integrity_constraint_violation'; END "
)
_POSTGRESQL: Final = "postgresql"
# A trigger acts where it is enabled always, or for the sessions that are no replica's. A view that
# stands in place of a table has a rule.
_FOUND_SQL: Final = """
SELECT c.relname, t.tgname, FALSE, pg_get_triggerdef(t.oid, TRUE),
    t.tgenabled = 'A'
        OR (t.tgenabled = 'O' AND current_setting('session_replication_role') <> 'replica'),
    CASE WHEN l.lanname = 'plpgsql' AND p.proconfig IS NULL THEN p.prosrc ELSE '' END
FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
JOIN pg_proc p ON p.oid = t.tgfoid
JOIN pg_language l ON l.oid = p.prolang
WHERE NOT t.tgisinternal AND c.relname = ANY(%s) AND pg_table_is_visible(c.oid)
UNION ALL
SELECT c.relname, r.rulename, TRUE, '', TRUE, ''
FROM pg_rewrite r
JOIN pg_class c ON c.oid = r.ev_class
WHERE c.relname = ANY(%s) AND pg_table_is_visible(c.oid)
ORDER BY 1, 2
"""


def wanted(connection: BaseDatabaseWrapper) -> tuple[Trigger, ...]:
    """Return every trigger that has to stand. Only PostgreSQL truncates, only SQLite replaces."""
    extra = "TRUNCATE" if connection.vendor == _POSTGRESQL else "REPLACE"
    return tuple(
        Trigger(table, verb) for table, verbs in _ROW_VERBS.items() for verb in (*verbs, extra)
    )


def install(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers that are missing. What was altered stays, so that it is told."""
    gone = [fault.trigger for fault in faults(connection) if fault.trigger is not None]
    with connection.cursor() as cursor:
        if connection.vendor == _POSTGRESQL and not _has_function(connection):
            cursor.execute(_function_sql())
        for trigger in gone:
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


def faults(connection: BaseDatabaseWrapper) -> list[TriggerFault]:
    """Return what is missing, altered or foreign, of tables that exist. Two queries."""
    tables = set(connection.introspection.table_names(include_views=True))
    triggers = [trigger for trigger in wanted(connection) if trigger.table in tables]
    found = _found(connection)
    standing = {(one.table, one.name): one for one in found if not one.is_rule}
    judged = [_judged(one, standing.get((one.table, one.name)), connection) for one in triggers]
    ours = {(trigger.table, trigger.name) for trigger in triggers}
    foreign = [_foreign(one) for one in found if one.is_rule or (one.table, one.name) not in ours]
    return [fault for fault in judged if fault is not None] + foreign


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


def _judged(
    trigger: Trigger, found: _Found | None, connection: BaseDatabaseWrapper
) -> TriggerFault | None:
    can = f"`{trigger.table}` can be changed"
    if found is None:
        message = f"the trigger `{trigger.name}` does not stand, {can}"
        return TriggerFault(Wrong.MISSING, message, trigger)
    if not found.is_on:
        return TriggerFault(Wrong.ALTERED, f"the trigger `{trigger.name}` is switched off, {can}")
    if found.text != _create_sql(trigger, connection):
        message = f"the trigger `{trigger.name}` is not the one that was installed, {can}"
        return TriggerFault(Wrong.ALTERED, message)
    if connection.vendor == _POSTGRESQL and found.does != _BODY:
        message = f"the function of the trigger `{trigger.name}` is not the one that was installed"
        return TriggerFault(Wrong.ALTERED, f"{message}, {can}")
    return None


def _foreign(found: _Found) -> TriggerFault:
    kind = "rule" if found.is_rule else "trigger"
    message = f"the {kind} {shown(found.name)} on `{found.table}` is foreign: it was not installed"
    return TriggerFault(Wrong.FOREIGN, message)


def _found(connection: BaseDatabaseWrapper) -> list[_Found]:
    tables = list(_ROW_VERBS)
    with connection.cursor() as cursor:
        if connection.vendor == _POSTGRESQL:
            cursor.execute(_FOUND_SQL, [tables, tables])
            return [_Found(*row) for row in cursor.fetchall()]
        cursor.execute("SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger'")
        return [
            _Found(table, name, is_rule=False, text=text, is_on=True, does="")
            for table, name, text in cursor.fetchall()
            if table in _ROW_VERBS
        ]


def _has_function(connection: BaseDatabaseWrapper) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regprocedure(%s) IS NOT NULL", [f"{_FUNCTION}()"])
        return bool(cursor.fetchone()[0])


def _function_sql() -> str:
    return f"CREATE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $${_BODY}$$"


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
