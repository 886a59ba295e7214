"""Written-once rows stay as they are, and a database that lost its triggers is noticed."""
# ruff: noqa: S608  (statements over our own table names)

import io

import pytest
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from tests.factories import SYSTEM
from tests.store.standing_triggers import faults
from toolpolicy.audit import triggers, writer
from toolpolicy.engine.masking import Spot
from toolpolicy.models import (
    ApiClient,
    Document,
    MaskedValue,
    PolicyState,
    PolicyVersion,
    Record,
    RecordBody,
    ToolDeclaration,
)
from toolpolicy.models.base import WrittenOnceError
from toolpolicy.services import holds

ON_SQLITE = connection.vendor == "sqlite"
SQL = {
    "toolpolicy_record": "tool = 'x'",
    "toolpolicy_recordbody": "text = '{}'",
    "toolpolicy_maskedvalue": "value = '1'",
    "toolpolicy_document": "text = '{}'",
    "toolpolicy_policyversion": "comment = 'x'",
    "toolpolicy_tooldeclaration": "text = '{}'",
}

DELETABLE = ("toolpolicy_recordbody", "toolpolicy_maskedvalue")


@pytest.fixture
def rows(db):
    document = Document.objects.create(digest="sha256:a", text="{}")
    PolicyVersion.objects.create(number=1, document=document, published_by_label="ada")
    ToolDeclaration.objects.create(digest="sha256:b", text="{}")
    with transaction.atomic():
        spot = Spot(path=("x",), rule="key x", of="all tools")
        writer.write(kind="change", body={"x": 1}, spots=[spot])
    connection.check_constraints()  # PostgreSQL truncates nothing while a check is outstanding


def refused(sql):
    with (
        pytest.raises(DatabaseError, match="is written once"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)
    return True


@pytest.mark.parametrize(("table", "change"), SQL.items())
def test_a_written_once_row_refuses_an_update(rows, table, change):
    assert refused(f"UPDATE {table} SET {change}")


@pytest.mark.parametrize("table", [table for table in SQL if table not in DELETABLE])
def test_a_written_once_row_refuses_a_delete(rows, table):
    assert refused(f"DELETE FROM {table}")


@pytest.mark.skipif(ON_SQLITE, reason="SQLite has no TRUNCATE")
@pytest.mark.parametrize("table", SQL)
def test_a_written_once_table_refuses_truncate(rows, table):
    assert refused(f"TRUNCATE {table} CASCADE")


@pytest.mark.skipif(not ON_SQLITE, reason="only SQLite replaces rows")
def test_replacing_a_row_changes_nothing(rows):
    record = Record.objects.get()
    columns = [str(field.column) for field in Record._meta.fields]
    other = {"id": "id + 1", "uid": "'other'", "writer_id": "'other'"}
    for same in other:
        values = {**other, "leaf_hash": "'forged'", same: same}
        source = ", ".join(values.get(column, column) for column in columns)
        names = ", ".join(columns)
        assert refused(
            f"INSERT OR REPLACE INTO toolpolicy_record ({names})"
            f" SELECT {source} FROM toolpolicy_record"
        )
    with connection.cursor() as cursor:
        cursor.execute("INSERT OR REPLACE INTO toolpolicy_document VALUES ('sha256:a', 'x', '')")
    assert Record.objects.get().leaf_hash == record.leaf_hash
    assert Document.objects.get().text == "{}"


def test_the_body_of_a_record_can_be_deleted_but_not_its_record(rows):
    MaskedValue.objects.all().delete()
    RecordBody.objects.all().delete()
    assert (RecordBody.objects.count(), Record.objects.count()) == (0, 1)


@pytest.mark.parametrize("model", [Record, Document, PolicyVersion, ToolDeclaration])
def test_code_that_changes_a_written_once_row_is_told_so(rows, model):
    row = model.objects.get()
    for forbidden in (row.save, row.delete, model.objects.all().delete, model.objects.update):
        with pytest.raises(WrittenOnceError):
            forbidden()


def test_code_that_changes_the_body_of_a_record_is_told_so(rows):
    with pytest.raises(WrittenOnceError):
        RecordBody.objects.update(text="")
    with pytest.raises(WrittenOnceError):
        MaskedValue.objects.update(value="")


def test_a_user_who_published_can_be_deleted(rows, admin_user):
    document = Document.objects.get()
    PolicyVersion.objects.create(
        number=2, document=document, published_by=admin_user, published_by_label="admin"
    )
    admin_user.delete()
    version = PolicyVersion.objects.get(number=2)
    assert (version.published_by_label, version.published_by_id is None) == ("admin", False)


def test_a_client_with_records_cannot_be_deleted(db):
    client = ApiClient.objects.create(name="bot", key_id="a" * 8, secret_hash="0" * 64)
    with transaction.atomic():
        writer.write(kind="decision", body={}, client=client)
    with pytest.raises(DatabaseError), transaction.atomic():
        client.delete()


@pytest.mark.django_db(transaction=True)
def test_migrate_fails_while_a_trigger_is_missing():
    triggers.remove(connection)
    try:
        with pytest.raises(CommandError, match="toolpolicy_record_no_update"):
            call_command("migrate", verbosity=0)
    finally:
        triggers.install(connection)
    call_command("migrate", verbosity=0)


@pytest.mark.skipif(not ON_SQLITE, reason="PostgreSQL alters tables in place")
@pytest.mark.django_db(transaction=True)
def test_a_rebuilt_table_loses_its_triggers_and_is_noticed():
    try:
        with connection.schema_editor() as editor:
            editor._remake_table(Document)  # type: ignore[attr-defined]  # SQLite's own
        assert {error.id for error in faults()} == {"toolpolicy.E101"}
    finally:
        triggers.install(connection)


@pytest.mark.django_db(transaction=True)
def test_all_migrations_can_be_taken_back_and_applied_again():
    call_command("migrate", "toolpolicy", "zero", verbosity=0)
    assert not [name for name in connection.introspection.table_names() if "toolpolicy" in name]
    assert not Group.objects.exists()
    call_command("migrate", verbosity=0)
    assert (faults(), PolicyState.objects.count(), Group.objects.count()) == ([], 1, 6)


def test_a_migration_that_protects_one_more_table_is_run(transactional_db):
    # As the release before it left the database.
    call_command("migrate", "toolpolicy", "0020", verbosity=0)
    with connection.cursor() as cursor:
        where = "" if ON_SQLITE else " ON toolpolicy_legalhold"
        cursor.execute(f"DROP TRIGGER toolpolicy_legalhold_no_update{where}")
    assert {error.id for error in faults()} == {"toolpolicy.E101"}
    call_command("migrate", verbosity=0, skip_checks=False)
    assert faults() == []


def test_there_are_no_model_changes_without_a_migration(db):
    call_command("makemigrations", check=True, dry_run=True, stdout=io.StringIO())


# --- emptying a database for tests ---------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_again", [1, 2])
def test_a_transactional_test_starts_with_the_first_rows_and_nothing_else(_again):
    assert PolicyState.objects.get().live is None
    assert Group.objects.get(name="author").permissions.filter(codename="add_rule").exists()
    assert (Record.objects.count(), faults()) == (0, [])
    with transaction.atomic():
        writer.write(kind="change", body={"now": str(timezone.now())})


@pytest.mark.parametrize("column", ["name", "reason", "filter", "created_by_label"])
def test_what_a_hold_holds_stays_and_it_can_be_lifted(db, column):
    values = {"name": "case 7", "reason": "a claim", "filter": {"tool": "wipe"}}
    hold = holds.place(actor=SYSTEM, values=values)
    connection.check_constraints()
    assert refused(f"UPDATE toolpolicy_legalhold SET {column} = '{{}}'")
    assert refused("DELETE FROM toolpolicy_legalhold")
    assert holds.lift(actor=SYSTEM, hold=hold.pk).lifted_at is not None
