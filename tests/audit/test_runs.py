"""A verification from a page: in the background, one at a time, with how far it is."""

from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.utils import timezone

from tests.audit.logs import sealed_log, tampering
from toolpolicy.models import Record, VerificationRun
from toolpolicy.services import sealing, verification_runs
from toolpolicy.services.actors import Actor

pytestmark = pytest.mark.django_db
ACTOR = Actor.system("tests")


@pytest.fixture
def at_once(monkeypatch, django_capture_on_commit_callbacks):
    """Run the verification in this thread, which sees the test's transaction."""
    monkeypatch.setattr(verification_runs, "in_thread", lambda work: work())

    def start(*, full=True):
        with django_capture_on_commit_callbacks(execute=True):
            return verification_runs.start(actor=ACTOR, full=full)

    return start


def test_a_run_ends_with_what_it_came_to(at_once):
    sealed_log(2, 1)
    run = VerificationRun.objects.get(pk=at_once().pk)
    assert (run.good, run.done, run.last) == (True, 2, 2), "\n".join(run.lines)
    assert run.lines[-1] == "the log is good"
    assert not verification_runs.is_running(run)
    assert Record.objects.get(kind="verify").actor_label == "tests"


def test_a_run_over_a_broken_log_says_where(at_once):
    sealed_log(2)
    with tampering() as cursor:
        cursor.execute("UPDATE toolpolicy_record SET tool = 'x'")
    run = VerificationRun.objects.get(pk=at_once().pk)
    assert run.good is False
    assert any(line.startswith("  altered: record 1: ") for line in run.lines)


def test_while_one_goes_on_no_other_is_started(monkeypatch):
    monkeypatch.setattr(verification_runs, "in_thread", lambda _work: None)
    first = verification_runs.start(actor=ACTOR, full=True)
    assert verification_runs.start(actor=ACTOR, full=False) == first


def test_one_whose_process_ended_stands_in_nobodys_way(monkeypatch):
    monkeypatch.setattr(verification_runs, "in_thread", lambda _work: None)
    first = verification_runs.start(actor=ACTOR, full=True)
    VerificationRun.objects.update(seen_at=timezone.now() - timedelta(seconds=31))
    assert not verification_runs.is_running(VerificationRun.objects.get(pk=first.pk))
    assert verification_runs.start(actor=ACTOR, full=True) != first


def test_a_database_that_fails_ends_the_run(at_once, monkeypatch):
    def fail(**_kwargs):
        raise DatabaseError("gone")

    monkeypatch.setattr(sealing, "verify", fail)
    run = VerificationRun.objects.get(pk=at_once().pk)
    assert (run.good, run.lines) == (None, [verification_runs._FAILED])
    assert run.ended_at is not None


def test_only_the_newest_runs_are_kept(at_once, monkeypatch):
    monkeypatch.setattr(verification_runs, "KEPT", 2)
    for _ in range(4):
        at_once()
    assert VerificationRun.objects.count() == 2
