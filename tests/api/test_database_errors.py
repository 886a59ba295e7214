"""What a database says of a row never stands in the server's log: the row may hold a secret."""

import logging

import pytest
from django.db import DatabaseError, OperationalError, connection, transaction
from django.urls import reverse
from django.utils import timezone

from project.settings import LOGGING
from tests.audit.logs import write_records
from tests.factories import ORIGIN, SYSTEM
from toolpolicy import database_errors
from toolpolicy.audit import keeping, sealer
from toolpolicy.audit.unreadable import Unreadable, reading
from toolpolicy.models import ApiClient, RecordBody, VerificationRun
from toolpolicy.services import policies, sealing, verification_runs

ON_SQLITE = connection.vendor == "sqlite"
SECRET = "hunter2-of-the-house"
CODE = "SQLITE_CONSTRAINT_CHECK" if ON_SQLITE else "SQLSTATE 23514, table toolpolicy_apiclient"
logger = logging.getLogger("toolpolicy.tests")


def break_a_rule(*_args, **_kwargs):
    """Write a row that the database refuses; PostgreSQL's message holds all of it."""
    with transaction.atomic():
        ApiClient.objects.create(name="", key_id="a" * 8, secret_hash="", owner_label=SECRET)


def raised():
    try:
        break_a_rule()
    except DatabaseError as error:
        return error
    raise AssertionError


def logged(caplog):
    """Return all that any handler could print of what was logged."""
    plain, ours = logging.Formatter(), database_errors.LineFormatter()
    texts = []
    for one in caplog.records:
        formatter = plain if one.name.startswith("toolpolicy") else ours
        one.exc_text = None
        texts.append(formatter.format(one))
    return "\n".join(texts)


def tells_where_and_no_secret(text):
    assert SECRET not in text
    assert CODE in text
    assert "client_name_given" in text
    assert "in break_a_rule" in text
    assert "Traceback (most recent call last):" in text
    return True


@pytest.mark.skipif(ON_SQLITE, reason="SQLite repeats no row")
def test_the_message_of_the_database_does_hold_the_row(db):
    assert SECRET in str(raised())


def test_a_request_that_fails_in_the_database_is_logged_without_the_row(api, monkeypatch, caplog):
    monkeypatch.setattr(policies, "live", break_a_rule)
    assert api.get("policy/").status_code == 500
    assert tells_where_and_no_secret(logged(caplog))


def test_a_page_that_fails_in_the_database_is_logged_without_the_row(
    admin_client, monkeypatch, caplog
):
    monkeypatch.setattr(policies, "live", break_a_rule)
    admin_client.raise_request_exception = False
    assert admin_client.get(reverse("admin:index"), secure=True).status_code == 500
    assert "django.request" in {one.name for one in caplog.records}
    assert tells_where_and_no_secret(logged(caplog))


def test_the_servers_own_lines_are_written_so():
    assert LOGGING["formatters"]["line"]["()"] == "toolpolicy.database_errors.LineFormatter"
    assert LOGGING["handlers"]["stderr"]["formatter"] == "line"


def test_a_probe_that_fails_in_the_database_is_logged_without_the_row(
    stranger, monkeypatch, caplog
):
    monkeypatch.setattr(policies, "live", break_a_rule)
    assert stranger.get("/readyz").status_code == 503
    assert tells_where_and_no_secret(logged(caplog))


def test_sealing_that_fails_in_the_database_is_logged_without_the_row(db, monkeypatch, caplog):
    monkeypatch.setattr(sealer, "seal_all", break_a_rule)
    keeping.seal_now()
    assert tells_where_and_no_secret(logged(caplog))
    caplog.clear()
    monkeypatch.setattr(keeping, "keep", break_a_rule)
    monkeypatch.setattr(keeping, "close_old_connections", lambda: None)
    monkeypatch.setattr(connection, "close", lambda: None)
    keeping._kept("")
    assert tells_where_and_no_secret(logged(caplog))


def test_a_verification_that_fails_in_the_database_is_logged_without_the_row(
    db, monkeypatch, caplog
):
    now = timezone.now()
    run = VerificationRun.objects.create(
        full=True, started_by_label="ada", started_at=now, seen_at=now
    )
    monkeypatch.setattr(sealing, "verify", break_a_rule)
    verification_runs._run(run, SYSTEM, ORIGIN)
    assert tells_where_and_no_secret(logged(caplog))


def test_a_line_about_a_database_error_has_its_class_code_and_constraint(db):
    line = database_errors.summary(raised())
    assert line.startswith(f"IntegrityError: {CODE}")
    assert "client_name_given" in line
    assert SECRET not in line


def test_a_lost_connection_says_which_server():
    psycopg = pytest.importorskip("psycopg")
    error = OperationalError()
    error.__cause__ = psycopg.OperationalError("connection to 10.0.0.7 failed:\nrefused")
    assert database_errors.summary(error) == (
        "OperationalError: connection to 10.0.0.7 failed:\\nrefused"
    )


def printed(error):
    return database_errors.LineFormatter().formatException(
        (type(error), error, error.__traceback__)
    )


def fail_after(cause, *, told=True):
    try:
        cause()
    except DatabaseError as error:
        if told:
            raise RuntimeError("no answer") from error
        raise RuntimeError("no answer") from None


def fail_meanwhile():
    try:
        break_a_rule()
    finally:
        int("seven")


def test_an_error_of_others_keeps_its_message_and_is_handed_on(caplog):
    with pytest.raises(ValueError, match="seven") as caught:
        int("seven")
    database_errors.log(logger, caught.value, "part %s", "7")
    (record,) = caplog.records
    assert record.exc_info[1] is caught.value
    line = database_errors.LineFormatter().format(record)
    assert line.startswith("part 7\nTraceback (most recent call last):\n")
    assert line.endswith(f"ValueError: {caught.value}")
    assert database_errors.summary(caught.value) == f"ValueError: {caught.value}"


def test_causes_are_told_in_the_order_in_which_they_came(db):
    with pytest.raises(RuntimeError) as caught:
        fail_after(break_a_rule)
    text = printed(caught.value)
    assert tells_where_and_no_secret(text)
    assert text.count("was the direct cause of") == 2
    assert text.endswith("RuntimeError: no answer")


def test_what_an_error_hides_is_not_told(db):
    with pytest.raises(RuntimeError) as caught:
        fail_after(break_a_rule, told=False)
    assert "IntegrityError" not in printed(caught.value)


def test_what_failed_before_is_told_without_the_row(db):
    with pytest.raises(ValueError, match="seven") as caught:
        fail_meanwhile()
    text = printed(caught.value)
    assert "During handling of the above exception" in text
    assert tells_where_and_no_secret(text)


@pytest.mark.skipif(not ON_SQLITE, reason="PostgreSQL keeps no text that is none")
def test_a_text_that_cannot_be_read_is_not_repeated(db):
    write_records(1)
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER toolpolicy_recordbody_no_update")
        broken = SECRET.encode() + b"\xff"
        cursor.execute("UPDATE toolpolicy_recordbody SET text = CAST(%s AS TEXT)", [broken])
    with pytest.raises(Unreadable) as caught, reading():
        RecordBody.objects.get()
    assert "Could not decode to UTF-8 column 'text'" in str(caught.value)
    assert SECRET not in str(caught.value)
