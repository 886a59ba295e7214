"""Triggers are known by what they do: missing, altered and foreign ones are told apart."""

import pytest
from django.db import connection, transaction

from tests.store.standing_triggers import faults
from toolpolicy.audit import triggers

ON_SQLITE = connection.vendor == "sqlite"


@pytest.mark.django_db
def test_each_missing_trigger_is_an_error_of_its_own():
    assert faults() == []
    with transaction.atomic(), connection.cursor() as cursor:
        on = "" if ON_SQLITE else " ON toolpolicy_record"
        cursor.execute(f"DROP TRIGGER toolpolicy_record_no_delete{on}")
        [error] = faults()
        assert (error.id, "toolpolicy_record_no_delete" in error.msg) == ("toolpolicy.E101", True)
        transaction.set_rollback(True)


@pytest.mark.skipif(ON_SQLITE, reason="SQLite cannot switch a trigger off")
@pytest.mark.django_db
def test_a_trigger_that_is_switched_off_does_not_stand():
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE toolpolicy_record DISABLE TRIGGER toolpolicy_record_no_update")
        assert [error.id for error in faults()] == ["toolpolicy.E101"]
        transaction.set_rollback(True)


@pytest.fixture
def changed(db):
    """Change the triggers by some statements, and take that back afterwards."""

    def change(*statements):
        with connection.cursor() as cursor:
            for sql in statements:
                cursor.execute(sql)
        return [(error.id, error.msg) for error in faults()]

    with transaction.atomic():
        yield change
        transaction.set_rollback(True)


def told(wrong, name):
    return [f"the trigger `{name}` {wrong}, `toolpolicy_record` can be changed"]


on_sqlite = pytest.mark.skipif(not ON_SQLITE, reason="its own SQL")
on_postgresql = pytest.mark.skipif(ON_SQLITE, reason="its own SQL")
UPDATE = "toolpolicy_record_no_update"
DELETE = "toolpolicy_record_no_delete"
NOTHING = """CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RETURN NULL; END $$"""


@on_sqlite
@pytest.mark.parametrize(
    "definition",
    [
        "BEFORE UPDATE ON toolpolicy_record BEGIN SELECT 1; END",
        (
            "BEFORE UPDATE OF tool ON toolpolicy_record BEGIN"
            " SELECT RAISE(ABORT, 'toolpolicy_record is written once: update refused'); END"
        ),
        (
            "BEFORE UPDATE ON toolpolicy_record WHEN NEW.id < 0 BEGIN"
            " SELECT RAISE(ABORT, 'toolpolicy_record is written once: update refused'); END"
        ),
        "AFTER INSERT ON toolpolicy_record BEGIN SELECT RAISE(IGNORE); END",
    ],
)
def test_a_trigger_with_our_name_that_does_something_else_is_altered(changed, definition):
    [(number, message)] = changed(f"DROP TRIGGER {UPDATE}", f"CREATE TRIGGER {UPDATE} {definition}")
    assert number == "toolpolicy.E101"
    assert [message] == told("is not the one that was installed", UPDATE)


@on_postgresql
@pytest.mark.parametrize(
    "definition",
    [
        "BEFORE UPDATE ON toolpolicy_record FOR EACH STATEMENT EXECUTE FUNCTION nothing()",
        "BEFORE UPDATE ON toolpolicy_record FOR EACH ROW EXECUTE FUNCTION toolpolicy_refuse()",
        "AFTER UPDATE ON toolpolicy_record FOR EACH STATEMENT EXECUTE FUNCTION toolpolicy_refuse()",
        (
            "BEFORE UPDATE OF tool ON toolpolicy_record FOR EACH STATEMENT"
            " EXECUTE FUNCTION toolpolicy_refuse()"
        ),
        (
            "BEFORE UPDATE ON toolpolicy_record FOR EACH STATEMENT WHEN (FALSE)"
            " EXECUTE FUNCTION toolpolicy_refuse()"
        ),
    ],
)
def test_a_trigger_of_our_name_that_does_something_else_is_altered(changed, definition):
    [(number, message)] = changed(
        NOTHING,
        f"DROP TRIGGER {UPDATE} ON toolpolicy_record",
        f"CREATE TRIGGER {UPDATE} {definition}",
    )
    assert number == "toolpolicy.E101"
    assert [message] == told("is not the one that was installed", UPDATE)


@on_postgresql
@pytest.mark.parametrize(
    "change",
    [
        (
            "CREATE OR REPLACE FUNCTION toolpolicy_refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RETURN NULL; END $$"
        ),
        "ALTER FUNCTION toolpolicy_refuse() SET search_path = ''",
    ],
)
def test_a_function_of_our_name_that_does_something_else_is_altered(changed, change):
    found = changed(change)
    assert {number for number, _ in found} == {"toolpolicy.E101"}
    assert len(found) == len(triggers.wanted(connection))
    assert (
        "the function of the trigger `toolpolicy_record_no_update` is not the one that was "
        "installed, `toolpolicy_record` can be changed"
    ) in [message for _, message in found]


@on_postgresql
def test_a_function_that_another_schema_puts_before_ours_is_altered(changed):
    found = changed(
        "CREATE SCHEMA before",
        "CREATE FUNCTION before.toolpolicy_refuse() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN NULL; END $$",
        "SET LOCAL search_path = before, public",
        f"DROP TRIGGER {UPDATE} ON toolpolicy_record",
        f"CREATE TRIGGER {UPDATE} BEFORE UPDATE ON toolpolicy_record FOR EACH STATEMENT"
        " EXECUTE FUNCTION before.toolpolicy_refuse()",
    )
    assert any(UPDATE in message for _, message in found)


@on_postgresql
def test_a_session_in_which_no_trigger_acts_is_noticed(changed):
    found = changed("SET LOCAL session_replication_role = replica")
    assert len(found) == len(triggers.wanted(connection))
    assert told("is switched off", UPDATE)[0] in [message for _, message in found]
    assert changed("SET LOCAL session_replication_role = origin") == []


def test_a_foreign_trigger_on_a_written_once_table_is_told(changed):
    if ON_SQLITE:
        made = "BEGIN SELECT 1; END"
    else:
        changed(NOTHING)
        made = "FOR EACH ROW EXECUTE FUNCTION nothing()"
    found = changed(f"CREATE TRIGGER swallow BEFORE INSERT ON toolpolicy_record {made}")
    message = "the trigger `swallow` on `toolpolicy_record` is foreign: it was not installed"
    assert found == [("toolpolicy.E102", message)]


def test_a_trigger_on_another_table_is_nobodys_concern(changed):
    if ON_SQLITE:
        made = "BEGIN SELECT 1; END"
    else:
        changed(NOTHING)
        made = "FOR EACH ROW EXECUTE FUNCTION nothing()"
    assert changed(f"CREATE TRIGGER note BEFORE INSERT ON toolpolicy_freeze {made}") == []


@on_postgresql
def test_a_rule_on_a_written_once_table_is_told(changed):
    found = changed("CREATE RULE quiet AS ON UPDATE TO toolpolicy_record DO INSTEAD NOTHING")
    message = "the rule `quiet` on `toolpolicy_record` is foreign: it was not installed"
    assert found == [("toolpolicy.E102", message)]


def test_a_view_in_place_of_a_written_once_table_is_told(changed):
    found = changed(
        "ALTER TABLE toolpolicy_leaf RENAME TO elsewhere",
        "CREATE VIEW toolpolicy_leaf AS SELECT * FROM elsewhere",
    )
    messages = [message for number, message in found if number == "toolpolicy.E101"]
    assert len(messages) == 3
    assert all("`toolpolicy_leaf_no_" in message for message in messages)


def test_installing_puts_back_what_is_missing_and_leaves_what_was_altered(changed):
    on = "" if ON_SQLITE else " ON toolpolicy_record"
    made = (
        "BEGIN SELECT 1; END" if ON_SQLITE else "FOR EACH ROW EXECUTE FUNCTION toolpolicy_refuse()"
    )
    changed(
        f"DROP TRIGGER {DELETE}{on}",
        f"DROP TRIGGER {UPDATE}{on}",
        f"CREATE TRIGGER {UPDATE} BEFORE UPDATE ON toolpolicy_record {made}",
    )
    triggers.install(connection)
    assert [message for _, message in changed()] == told(
        "is not the one that was installed", UPDATE
    )
