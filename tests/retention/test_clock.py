"""A clock that is wrong deletes nothing; one that is right deletes again, once somebody said so."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from io import StringIO
from threading import Event
from unittest import mock

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from tests.admin.pages import signed_in, superuser, text_of
from tests.audit.logs import verdict
from tests.audit.test_audit_command import audit
from tests.retention.worlds import TESTS, seal, standing, told, write
from toolpolicy.management.commands import worker
from toolpolicy.models import Record
from toolpolicy.services import clock, retention
from toolpolicy.services.errors import Refused

pytestmark = pytest.mark.django_db


@contextmanager
def clock_ahead(days: float, *, database: bool = True) -> Iterator[datetime]:
    """Let this process live so many days ahead, and the database's clock with it or not."""
    real, ahead = timezone.now, timedelta(days=days)
    other = real() if not database else real() + ahead
    found = other if connection.vendor == "postgresql" or not database else None
    with (
        mock.patch("django.utils.timezone.now", side_effect=lambda: real() + ahead),
        mock.patch.object(clock, "_database_now", return_value=found),
    ):
        yield real() + ahead


def prune():
    return retention.prune(actor=TESTS).deleted.texts


def test_a_clock_that_jumped_ahead_deletes_nothing_and_says_so():
    young = write()
    seal()
    with clock_ahead(401):
        for _ in range(2):  # the first one seals a block with the wrong time
            with pytest.raises(Refused, match=r"nothing was sealed from .* the clock is wrong"):
                prune()
        with pytest.raises(Refused, match="the clock is wrong"):
            retention.prune(actor=TESTS, dry_run=True)
    assert young in standing()


def test_blocks_that_the_wrong_clock_wrote_since_do_not_make_it_right():
    young = write()
    seal()
    for day in range(401, 430):
        with clock_ahead(day):
            write()
            seal()
    with clock_ahead(430), pytest.raises(Refused, match="the clock is wrong"):
        prune()
    assert young in standing()


def test_once_the_clock_is_set_right_what_is_due_goes():
    old = write(age=500)
    seal()
    with clock_ahead(401), pytest.raises(Refused):
        prune()
    assert prune() == 1
    assert old not in standing()


def test_a_database_whose_clock_is_another_stops_all_deleting():
    old = write(age=500)
    seal()
    for days in (1.01, -1.01):
        with (
            clock_ahead(days, database=False),
            pytest.raises(Refused, match=r"the database's clock says .* one of them is wrong"),
        ):
            prune()
    assert old in standing()
    with clock_ahead(0.9, database=False):
        assert prune() == 1


def test_the_clock_of_postgresql_is_asked():
    found = clock._database_now()
    if connection.vendor == "postgresql":
        assert found is not None
        assert abs(timezone.now() - found) < clock.APART
    else:
        assert found is None


def test_a_log_that_really_stood_still_is_pruned_once_somebody_said_so():
    old = write()
    seal()
    with clock_ahead(730):
        with pytest.raises(Refused):
            prune()
        clock.confirm(actor=TESTS)
        assert prune() == 1
        assert old not in standing()
        assert verdict().good
    with clock_ahead(731):
        assert prune() == 0  # and what is due later goes without another word
    said = next(one for one in told("prune") if one["why"] == "clock")
    assert (said["actor"]["label"], said["bodies"]) == ("tests", [])


def test_what_was_said_once_does_not_hold_for_a_later_jump():
    write()
    seal()
    with clock_ahead(730):
        clock.confirm(actor=TESTS)
        young = write()
        seal()
    with clock_ahead(1200), pytest.raises(Refused):
        prune()
    assert young in standing()


def test_a_weekend_and_a_short_holiday_need_no_word():
    old = write(age=500)
    seal()
    with clock_ahead(6.9):
        assert prune() == 1
    assert old not in standing()


def test_a_jump_that_lies_before_every_cut_off_does_no_harm():
    write()
    seal()
    for day in range(30, 460, 6):
        with clock_ahead(day):
            write()
            seal()
    with clock_ahead(460):
        assert prune() > 1


def test_a_worker_says_it_and_goes_on_when_the_clock_was_set_back(monkeypatch):
    monkeypatch.setattr(worker, "close_old_connections", lambda: None)  # it is the test's own
    write(age=500)
    seal()
    with clock_ahead(401):
        daily = retention.Daily(TESTS)
        assert "no text is deleted today: nothing was sealed from" in worker._round(daily, Event())
    assert worker._round(daily, Event()) == ""
    assert Record.objects.filter(kind="prune").count() == 1


def test_the_command_says_it_and_takes_the_word():
    write()
    seal()
    with clock_ahead(730):
        with pytest.raises(CommandError, match=r"manage.py audit prune --clock-is-right"):
            call_command("audit", "prune", stdout=StringIO())
        with pytest.raises(CommandError):  # counting alone says nothing of the clock
            call_command("audit", "prune", "--dry-run", "--clock-is-right", stdout=StringIO())
        assert audit("prune", "--clock-is-right").startswith("deleted 1 text")


def test_the_audit_page_says_it():
    write()
    seal()
    root = signed_in(superuser())
    assert "No text is deleted:" not in text_of(root.get("/admin/audit/"))
    with mock.patch.object(clock, "doubted", return_value="the clock is wrong"):
        page = text_of(root.get("/admin/audit/"))
    assert "<b>No text is deleted:</b>" in page
    assert "the clock is wrong" in page
