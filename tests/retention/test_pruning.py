"""Pruning: texts go when their time is over, and the log says which and stays good."""

from dataclasses import replace
from datetime import timedelta
from unittest import mock

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError
from django.utils import timezone

from tests.audit.logs import first_said, tampering, triggers_lifted, verdict
from tests.audit.test_audit_command import audit
from tests.retention.worlds import TESTS, hold, seal, standing, told, write
from toolpolicy.audit.headers import moment
from toolpolicy.audit.signing import new_seed
from toolpolicy.models import Leaf, MaskedValue, Record, RecordBody, SeenContext
from toolpolicy.services import holds, retention
from toolpolicy.services.errors import Refused

pytestmark = pytest.mark.django_db


def prune(**options):
    return retention.prune(actor=TESTS, **options)


def test_a_text_goes_when_its_time_is_over_and_its_header_stays():
    old, young = write(age=401), write(age=399)
    done = prune()
    assert (done.deleted.texts, dict(done.deleted.kinds)) == (1, {"decision": 1})
    assert young in standing()
    assert old not in standing()
    assert Record.objects.filter(pk=old).exists()
    found = verdict()
    assert (found.good, found.expired) == (True, 1)


def test_its_masked_values_go_with_it():
    write(age=500, masked=("a", "b"))
    young = write(age=1, masked=("c",))
    assert prune().deleted.values == 2
    assert list(MaskedValue.objects.values_list("record", flat=True)) == [young]


def test_what_is_not_sealed_is_sealed_before():
    write(age=500)
    assert not Leaf.objects.exists()
    assert prune().deleted.texts == 1
    assert verdict().good


def test_each_kind_has_its_own_time(settings):
    settings.TOOLPOLICY = replace(
        settings.TOOLPOLICY, retention_days=300, retention_by_kind=(("listing", 200),)
    )
    ages = {"decision": (299, 301), "listing": (199, 201)}
    rows = {(kind, age): write(kind=kind, age=age) for kind in ages for age in ages[kind]}
    prune()
    gone = {key for key, pk in rows.items() if pk not in standing()}
    assert gone == {("decision", 301), ("listing", 201)}


def test_nothing_is_deleted_before_six_months_whatever_the_settings(settings):
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, retention_days=1)
    old, young = write(age=184), write(age=182)
    prune()
    assert (old in standing(), young in standing()) == (False, True)


@pytest.mark.parametrize("kind", ["prune", "erase", "rotation", "repair"])
def test_what_explains_the_log_is_never_deleted(kind):
    kept = write(kind=kind, age=4000)
    assert prune().deleted.texts == 0
    assert kept in standing()


def test_the_record_of_it_says_what_went_and_why():
    write(age=500, tool="send")
    write(age=1)
    write(age=500, kind="listing", masked=("x",))
    done = prune()
    (said,) = told("prune")
    assert said["bodies"] == [[1, 1], [3, 3]]
    assert said["kinds"] == {"decision": 1, "listing": 1}
    assert (said["why"], said["filter"], said["values"]) == ("retention", {}, 1)
    assert said["before"] == {kind: moment(done.before[kind]) for kind in ("decision", "listing")}
    assert said["actor"]["label"] == "tests"
    record = Record.objects.get(kind="prune")
    assert record.object_label == "deleted 2 texts of records"
    assert record.leaf.seq == 4


def test_a_second_pruning_finds_nothing_and_writes_nothing():
    write(age=500)
    prune()
    count = Record.objects.count()
    assert prune().deleted.texts == 0
    assert Record.objects.count() == count


def test_a_dry_run_counts_and_deletes_nothing():
    write(age=500, masked=("a",))
    write(age=500, agent="kept")
    seal()
    hold(agent="kept")
    before = standing()
    done = prune(dry_run=True)
    assert (done.deleted.texts, done.deleted.values, done.deleted.held) == (1, 1, 1)
    assert standing() == before
    assert done.deleted.wire() == prune().deleted.wire()


def test_batches_are_bounded_and_each_has_its_record(monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 3)
    for _ in range(8):
        write(age=500)
    assert prune().deleted.texts == 8
    assert [said["bodies"] for said in told("prune")] == [[[1, 3]], [[4, 6]], [[7, 8]]]
    assert verdict().good


def test_a_text_that_went_without_a_record_is_found_beside_pruned_ones():
    write(age=500)
    other = write(age=1)
    prune()
    with tampering() as cursor:
        cursor.execute("DELETE FROM toolpolicy_recordbody WHERE record_id = %s", [other])
    assert first_said() == ("missing", 2)


def test_a_pruning_that_is_stopped_between_batches_leaves_a_good_log(monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 2)
    for _ in range(6):
        write(age=500)
    seal()
    steps = retention.prune_slowly(actor=TESTS, now=timezone.now())
    next(steps)
    next(steps)
    assert RecordBody.objects.filter(record__kind="decision").count() == 2
    assert verdict().good
    assert prune().deleted.texts == 2


def test_a_batch_that_fails_deletes_nothing_and_says_nothing():
    write(age=500)
    seal()
    before = standing()
    with (
        mock.patch("toolpolicy.audit.writer.write", side_effect=DatabaseError("gone")),
        pytest.raises(DatabaseError),
    ):
        prune()
    assert standing() == before
    assert verdict().good


def test_a_log_that_cannot_be_sealed_is_not_pruned(settings):
    write(age=500)
    seal()
    settings.TOOLPOLICY_SEAL_KEY = new_seed()
    with pytest.raises(Refused, match=r"nothing was deleted: .* set that one"):
        next(retention.prune_slowly(actor=TESTS, now=timezone.now()))
    assert RecordBody.objects.count() == 1


def test_what_callers_sent_goes_with_the_last_text_that_can_hold_it(settings):
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, retention_by_kind=(("listing", 500),))
    for age in (499, 501):
        at = timezone.now() - timedelta(days=age)
        SeenContext.objects.create(key="user", value=str(age), first_seen_at=at)
    SeenContext.objects.create(key="db_password", value="kept before it was masked")
    prune(dry_run=True)
    assert SeenContext.objects.count() == 3
    prune()
    assert list(SeenContext.objects.values_list("key", "value")) == [("user", "499")]


# --- holds ---------------------------------------------------------------------------------------


def test_what_a_hold_covers_stays_until_it_is_lifted():
    kept, free = write(age=500, agent="coder"), write(age=500, agent="other")
    placed = hold(agent="coder")
    done = prune()
    assert (done.deleted.texts, done.deleted.held) == (1, 1)
    assert kept in standing()
    assert free not in standing()
    holds.lift(actor=TESTS, hold=placed.pk)
    assert prune().deleted.texts == 1
    assert kept not in standing()
    assert verdict().good


def test_a_hold_that_cannot_be_read_stops_all_deleting():
    write(age=500)
    placed = hold(agent="coder")
    with triggers_lifted():
        type(placed).objects.filter(pk=placed.pk).update(filter={"planet": "mars"})
    with pytest.raises(Refused, match="the filter of the hold `case 7` cannot be read"):
        prune()
    assert RecordBody.objects.filter(record__kind="decision").exists()


# --- once a day ----------------------------------------------------------------------------------


def test_a_worker_prunes_a_step_at_a_time_and_once_a_day(monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 1)
    write(age=500)
    write(age=500)
    write(age=399.5)
    seal()
    daily = retention.Daily(TESTS)
    assert [daily.step().texts for _ in range(4)] == [1, 1, 0, 0]
    later = timezone.now() + retention.DAY
    with mock.patch("toolpolicy.services.retention.timezone.now", return_value=later):
        assert [daily.step().texts for _ in range(2)] == [1, 0]


def test_a_worker_that_is_told_not_to_prunes_nothing(settings):
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, prune_in_worker=False)
    write(age=500)
    seal()
    assert retention.Daily(TESTS).step().texts == 0


# --- in a terminal -------------------------------------------------------------------------------


def test_the_command_says_what_it_did_and_would_do():
    write(age=500, masked=("a",))
    write(age=500, agent="coder")
    hold(agent="coder")
    day = retention.cut_offs(timezone.now())["decision"]
    told_lines = [
        "{} 1 text whose time is over",
        f"  decision: 1 from before {day:%Y-%m-%d}",
        "  with 1 masked value",
        "  1 record kept by legal holds",
    ]
    assert audit("seal")
    for words, verb in ((("--dry-run",), "would delete"), ((), "deleted")):
        assert audit("prune", *words).splitlines() == [line.format(verb) for line in told_lines]
    assert '"texts":0' in audit("prune", "--json")


def test_the_command_says_in_words_why_it_deletes_nothing():
    write(age=500)
    placed = hold()
    with triggers_lifted():
        type(placed).objects.filter(pk=placed.pk).update(filter=[])
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("audit", "prune")
