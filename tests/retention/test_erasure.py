"""Erasing one person's values: they are gone, the commitments stay, and the log says so."""

import json

import pytest
from django.core.management import CommandError, call_command

from tests.admin.pages import decide
from tests.audit.logs import verdict
from tests.audit.test_audit_command import audit
from tests.factories import make_layer
from tests.retention.worlds import TESTS, hold, seal, standing, told, write
from toolpolicy.models import Leaf, MaskedValue, Record, SeenContext
from toolpolicy.services import erasure, seen
from toolpolicy.services.erasure import Person
from toolpolicy.services.errors import InvalidInput, Refused
from toolpolicy.services.payloads import ERASED, payload_of
from toolpolicy.services.record_filters import parse

pytestmark = pytest.mark.django_db


def erase(*, context=None, reason="she asked", filters=None, **options):
    person = Person(filter=parse(filters or {}), context=context or {})
    return erasure.erase(actor=TESTS, person=person, reason=reason, **options)


def test_the_values_of_what_matches_go_and_its_text_stays():
    hers = write(session="s-1", masked=("a", "b"))
    other = write(session="s-2", masked=("c",))
    done = erase(filters={"session": "s-1"})
    assert (done.records, done.deleted.values, done.standing) == (1, 2, 1)
    assert list(MaskedValue.objects.values_list("record", flat=True)) == [other]
    assert {hers, other} < standing()
    assert verdict().good


def test_the_record_of_it_names_the_filter_and_no_value():
    write(session="s-1", context={"user": "eve"}, masked=("a",))
    write(session="s-1", context={"user": "mal"}, masked=("b",))
    erase(filters={"session": "s-1"}, context={"user": "eve"}, reason=" she asked ")
    (said,) = told("erase")
    assert (said["filter"], said["context"], said["why"]) == (
        {"session": "s-1"},
        ["user"],
        "she asked",
    )
    assert (said["records"], said["values"], said["spans"]) == (1, 1, [[1, 1]])
    assert "eve" not in json.dumps(said)
    assert Record.objects.get(kind="erase").object_label == "erased 1 value of 1 record"
    assert Leaf.objects.filter(record__kind="erase").exists()


def test_a_context_value_is_found_where_it_is_masked_and_where_it_is_not():
    clear = write(context={"user": "eve"}, masked=("x",))
    hidden = write(masked={"user": "eve"})
    write(context={"user": "mal"}, masked=("eve",))
    erase(context={"user": "eve"})
    assert not MaskedValue.objects.filter(record__in=(clear, hidden)).exists()
    assert MaskedValue.objects.count() == 1


def test_a_secret_that_was_erased_is_said_to_be_and_its_record_still_verifies():
    make_layer()
    decide("login", arguments={"password": "hunter2"}, context={"session": "s-1"})
    record = Record.objects.get(kind="decision")
    assert payload_of(record).body["asked"]["arguments"] == {"password": "hunter2"}
    assert erase(filters={"session": "s-1"}).deleted.values == 1
    payload = payload_of(Record.objects.get(pk=record.pk))
    assert payload.missing == {"/asked/arguments/password": ERASED}
    assert "hunter2" not in json.dumps(payload.body)
    assert verdict().good


def test_every_context_value_must_be_the_one_that_is_named():
    write(context={"user": "eve", "city": "Bonn"}, masked=("x",))
    assert erase(context={"user": "eve", "city": "Rome"}).deleted.values == 0
    assert erase(context={"user": "eve", "city": "Bonn"}).deleted.values == 1


def test_texts_go_as_well_where_that_is_asked_for():
    hers = write(session="s-1", masked=("a",))
    kept = write(session="s-1", kind="repair")
    done = erase(filters={"session": "s-1"}, bodies=True)
    assert (done.deleted.texts, done.deleted.values, done.standing) == (1, 1, 1)
    assert hers not in standing()
    assert kept in standing()
    (said,) = told("prune")
    assert (said["why"], said["filter"], said["bodies"]) == (
        "she asked",
        {"session": "s-1"},
        [[1, 1]],
    )
    found = verdict()
    assert (found.good, found.expired) == (True, 1)


def test_a_hold_wins_over_an_erasure():
    hers = write(session="s-1", masked=("a",))
    hold(session="s-1")
    done = erase(filters={"session": "s-1"}, bodies=True)
    assert (done.deleted.texts, done.deleted.values, done.deleted.held) == (0, 0, 1)
    assert hers in standing()
    assert MaskedValue.objects.exists()
    assert not Record.objects.filter(kind="erase").exists()


def test_many_records_are_erased_in_batches(monkeypatch):
    monkeypatch.setattr(erasure, "BATCH", 2)
    for _ in range(5):
        write(session="s-1", masked=("a",))
    assert erase(filters={"session": "s-1"}).deleted.values == 5
    assert [said["values"] for said in told("erase")] == [2, 2, 1]


def test_what_authors_were_offered_goes_with_a_record_of_its_own():
    SeenContext.objects.create(key="user", value="eve")
    assert erase(filters={"session": "s-1"}, context={"user": "eve"}).wire()["seen"] == 1
    (said,) = told("erase")
    assert (said["why"], said["filter"], said["context"]) == (
        "she asked",
        {"session": "s-1"},
        ["user"],
    )
    assert (said["records"], said["values"], said["texts"], said["seen"]) == (0, 0, 0, 1)
    assert said["spans"] == []
    assert "eve" not in json.dumps(said)
    row = Record.objects.get(kind="erase")
    assert row.object_label == "erased 1 value that authors were offered"
    assert Leaf.objects.filter(record=row).exists()
    assert verdict().good


def test_texts_without_masked_values_go_with_a_record_of_the_erasure_too():
    write(session="s-1")
    assert erase(filters={"session": "s-1"}, bodies=True).deleted.texts == 1
    (said,) = told("erase")
    assert (said["why"], said["values"], said["texts"], said["seen"]) == ("she asked", 0, 1, 0)
    assert Record.objects.get(kind="erase").object_label == "erased 1 text"
    assert verdict().good


def test_what_authors_are_offered_is_no_record_and_no_hold_covers_it():
    write(session="s-1", context={"user": "eve"})
    hold(session="s-1")
    SeenContext.objects.create(key="user", value="eve")
    assert erase(filters={"session": "s-1"}, context={"user": "eve"}).seen == 1
    assert seen.values("user") == []


def test_where_the_log_cannot_be_sealed_nothing_that_was_offered_goes(settings):
    write()
    seal()
    SeenContext.objects.create(key="user", value="eve")
    settings.TOOLPOLICY_SEAL_KEY = "5f" * 32
    with pytest.raises(Refused):
        erase(context={"user": "eve"})
    assert seen.values("user") == ["eve"]


def test_an_erasure_that_finds_nothing_leaves_no_record():
    write(session="s-1")
    assert erase(filters={"session": "s-1"}, context={"user": "eve"}).found_nothing
    assert not told("erase")


def test_what_tells_of_an_erasure_is_not_erased():
    write(agent="a", masked=("a",))
    erase(filters={"agent": "a"})
    done = erase(filters={"kind": "erase"}, bodies=True)
    assert (done.deleted.texts, done.records) == (0, 1)
    assert len(told("erase")) == 1


def test_a_dry_run_counts_and_erases_nothing():
    write(session="s-1", masked=("a",))
    seal()
    would = erase(filters={"session": "s-1"}, bodies=True, dry_run=True)
    assert (would.deleted.texts, would.deleted.values, would.standing) == (1, 1, 1)
    assert MaskedValue.objects.exists()
    assert Record.objects.count() == 1


def test_an_altered_text_has_no_context():
    row = Record.objects.get(pk=write(masked=("a",)))
    row.body.delete()
    type(row.body).objects.create(record=row, text="[")
    assert erase(context={"user": "eve"}).records == 0


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"filters": {"agent": "a"}, "reason": " "}, "/reason"),
        ({"filters": {}}, "/filter"),
        ({"filters": {"from": "2026-01-01T00:00:00Z"}}, "/filter"),
    ],
)
def test_an_erasure_without_a_reason_or_a_person_is_refused(asked, pointer):
    write(masked=("a",))
    with pytest.raises(InvalidInput) as refused:
        erase(**asked)
    assert [fault.pointer for fault in refused.value.faults] == [pointer]
    assert MaskedValue.objects.exists()


# --- in a terminal -------------------------------------------------------------------------------


def test_the_command_says_what_it_erased_and_what_still_stands():
    write(session="s-1", context={"user": "eve"}, masked=("a",))
    write(session="s-1", context={"user": "eve"}, masked=("b",))
    words = ("erase", "--filter", "session=s-1", "--context", "user=eve", "--reason", "she asked")
    assert audit(*words).splitlines() == [
        "erased 2 masked values of 2 records that match",
        "2 texts of these records still stand: what they show in the clear, they go on showing",
        "  the same with --bodies deletes them too",
        "headers stay: they name tool, agent, channel and session (docs/audit.md)",
    ]
    assert audit(*words, "--bodies").splitlines()[:2] == [
        "erased 0 masked values of 2 records that match",
        "deleted 2 texts",
    ]
    found = json.loads(audit(*words, "--json", "--dry-run"))
    assert (found["records"], found["standing"], found["dry_run"]) == (0, 0, True)


HERS = ("erase", "--filter", "session=s-1", "--reason", "she asked")
HEADERS = "headers stay: they name tool, agent, channel and session (docs/audit.md)"


def test_the_command_says_that_nothing_was_there_to_be_deleted():
    write(session="s-1")
    assert audit(*HERS).splitlines() == [
        "erased 0 masked values of 1 record that matches",
        "nothing is there to be deleted, so no record tells of it",
        "1 text of these records still stands: what it shows in the clear, it goes on showing",
        "  the same with --bodies deletes it too",
        HEADERS,
    ]


def test_the_command_promises_no_deletion_that_a_hold_forbids():
    write(session="s-1", tool="a", masked=("a",))
    hold(tool="a")
    kept = [
        "erased 0 masked values of 1 record that matches",
        "1 record kept by legal holds",
        "nothing is there to be deleted, so no record tells of it",
        "1 text of these records still stands: what it shows in the clear, it goes on showing",
        HEADERS,
    ]
    assert audit(*HERS).splitlines() == kept
    write(session="s-1", tool="b", masked=("b",))
    assert audit(*HERS).splitlines()[-3:] == [
        "2 texts of these records still stand: what they show in the clear, they go on showing",
        "  the same with --bodies deletes 1 of them too",
        HEADERS,
    ]
    assert json.loads(audit(*HERS, "--json"))["deletable"] == 1


def test_a_dry_run_counts_no_text_as_standing_that_it_would_delete():
    write(session="s-1", masked=("a",))
    seal()
    assert audit(*HERS, "--bodies", "--dry-run").splitlines() == [
        "would erase 1 masked value of 1 record that matches",
        "would delete 1 text",
        HEADERS,
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--filter", "agnet=a"), "did you mean `agent`"),
        (("--filter", "agent"), "write NAME=VALUE"),
        ((), "name whose values"),
        (("--context", "user"), "is not KEY=VALUE"),
    ],
)
def test_the_command_refuses_in_words(words, said):
    with pytest.raises(CommandError, match=said):
        call_command("audit", "erase", "--reason", "r", *words)


def test_authors_are_no_longer_offered_whom_an_erasure_names():
    write(context={"user": "eve"}, masked=("a",))
    for user in ("eve", "mal"):
        SeenContext.objects.create(key="user", value=user)
    assert erase(context={"user": "eve"}, dry_run=True).seen == 1
    assert SeenContext.objects.count() == 2
    assert "would erase 1 context value that authors were offered" in audit(
        *("erase", "--context", "user=eve", "--reason", "asked", "--dry-run")
    )
    assert erase(context={"user": "eve"}).wire()["seen"] == 1
    assert seen.values("user") == ["mal"]
    assert erase(filters={"session": "s"}).seen == 0
