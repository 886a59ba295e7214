"""What a sealed record of a pruning is believed: what the product itself would have deleted.

Whoever can write into the database can have such a record sealed, and delete a text. So the server
and the verifier of bundles look at what it says, alike.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from tests.audit.claims import BELIEVED, DISBELIEVED
from tests.audit.logs import first_said, verdict
from tests.audit.taking import judged, taken
from tests.retention.worlds import TESTS, hold, seal, write
from toolpolicy.audit import sealer, writer
from toolpolicy.audit.headers import moment
from toolpolicy.audit.verification import whole
from toolpolicy.models import MaskedValue, RecordBody
from toolpolicy.services import erasure, retention
from toolpolicy.services.erasure import Person
from toolpolicy.services.record_filters import parse

pytestmark = pytest.mark.django_db


def ago(days: float) -> str:
    return moment(timezone.now() - timedelta(days=days))


def delete(seq: int, *spans: tuple[int, int], **said: Any) -> None:
    """Delete a text by hand, and have a record sealed that says so."""
    with transaction.atomic():
        RecordBody.objects.filter(record__leaf__seq=seq).delete()
        bodies = [list(span) for span in spans or [(seq, seq)]]
        writer.write(kind="prune", body={"bodies": bodies, **said})
    sealer.seal_all()


@pytest.mark.parametrize(("age", "kind", "asked"), BELIEVED.values(), ids=BELIEVED)
def test_a_text_that_may_have_been_deleted_is_expired(age, kind, asked):
    write(age=age, kind=kind)
    seal()
    said = {} if asked else {"before": {kind: ago(183)}}
    delete(1, why="it says", **said)
    found = verdict()
    assert (found.good, found.expired, found.on_request) == (True, 1, int(asked))
    assert judged(taken())["exit"] == 0


@pytest.mark.parametrize(("age", "kind", "asked"), DISBELIEVED.values(), ids=DISBELIEVED)
def test_a_record_that_says_what_no_pruning_does_explains_nothing(age, kind, asked):
    write()
    seal()
    write(age=age, kind=kind)
    seal()
    said = {} if asked else {"before": {kind: ago(183)}}
    delete(2, why="retention", **said)
    assert first_said() == ("missing", 2)
    found = judged(taken())
    assert (found["exit"], found["what"][:15]) == (2, "1 texts are gon")


def test_a_record_of_before_explains_nothing_that_came_later():
    write(age=500)
    seal()
    delete(1, (1, 9), why="asked")
    write()
    seal()
    RecordBody.objects.filter(record__leaf__seq=3).delete()
    assert first_said() == ("missing", 3)


def test_a_claim_that_lies_over_others_takes_nothing_from_them():
    write()
    seal()
    delete(1, (1, 9), before={"decision": ago(400)})
    for _ in range(3):
        write(age=500)
    seal()
    for seq in (3, 4, 5):
        delete(seq, before={"decision": ago(400)})
    assert [one.seq for one in verdict().findings] == [1]


def test_what_was_asked_for_is_told_apart_from_what_was_too_old(capsys):
    write(age=500)
    write(agent="a")
    retention.prune(actor=TESTS)
    person = Person(filter=parse({"agent": "a"}))
    erasure.erase(actor=TESTS, person=person, reason="the court", bodies=True)
    found = verdict()
    assert (found.good, found.expired, found.on_request) == (True, 2, 1)
    call_command("audit", "verify", "--full")
    said = capsys.readouterr().out
    assert "1 text deleted by retention; their headers verify" in said
    assert "1 text deleted on request; the report of changes says who asked, and why" in said
    notes = judged(taken())["notes"]
    assert notes == ["record 4 deleted texts on request: 'the court'"]


# --- masked values --------------------------------------------------------------------------------


def masked(**columns: Any) -> int:
    pk = write(masked=("a", "b"), **columns)
    seal()
    return pk


def test_a_masked_value_that_an_erasure_deleted_is_not_missing():
    masked(agent="a")
    masked(agent="b")
    erasure.erase(actor=TESTS, person=Person(filter=parse({"agent": "a"})), reason="she asked")
    assert MaskedValue.objects.count() == 2
    assert verdict().good


@pytest.mark.parametrize("all_of_it", [True, False])
def test_a_masked_value_that_somebody_deleted_is_missing(all_of_it):
    masked()
    second = masked()
    values = MaskedValue.objects.filter(record=second).order_by("pk")
    values.filter(pk__in=[row.pk for row in values[: 2 if all_of_it else 1]]).delete()
    found = verdict()
    assert first_said() == ("missing", 2)
    assert found.findings[0].message == (
        "record 2: the masked value at /context/masked-0 is gone, and by no erasure"
    )


def test_a_record_of_an_erasure_explains_its_own_records_alone():
    masked(agent="a")
    masked(agent="b")
    erasure.erase(actor=TESTS, person=Person(filter=parse({"agent": "a"})), reason="she asked")
    MaskedValue.objects.all().delete()
    assert [one.seq for one in verdict().findings] == [2, 2]


def test_values_that_were_put_back_after_their_text_was_deleted_are_found():
    pk = masked(age=500)
    kept = list(MaskedValue.objects.filter(record=pk))
    retention.prune(actor=TESTS)
    assert verdict().good
    MaskedValue.objects.bulk_create(kept)
    assert first_said() == ("inserted", 1)


def test_a_held_record_keeps_its_values_and_the_log_stays_good():
    masked(age=500, agent="a")
    hold(agent="a")
    retention.prune(actor=TESTS)
    assert MaskedValue.objects.count() == 2
    assert verdict().good


def test_values_that_go_while_the_log_is_read_are_not_missing(monkeypatch):
    masked(agent="a")
    walk = whole._walk

    def erase_and_walk(*given: Any) -> None:
        erasure.erase(actor=TESTS, person=Person(filter=parse({"agent": "a"})), reason="she asked")
        walk(*given)

    monkeypatch.setattr(whole, "_walk", erase_and_walk)
    assert verdict().findings == []
