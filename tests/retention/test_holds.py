"""Legal holds: placed with a reason, recorded, lifted, never edited or deleted."""

import pytest
from django.db import DatabaseError, connection, transaction

from tests.retention.worlds import TESTS, hold, told, write
from toolpolicy.models import LegalHold, Record
from toolpolicy.services import holds
from toolpolicy.services.actors import Origin
from toolpolicy.services.errors import InvalidInput, NotFound

pytestmark = pytest.mark.django_db


def test_placing_and_lifting_a_hold_are_records():
    placed = holds.place(
        actor=TESTS,
        values={"name": "case 7", "reason": "a claim", "filter": {"agent": "coder"}},
        origin=Origin(request_id="r-1"),
    )
    lifted = holds.lift(actor=TESTS, hold=placed.pk)
    assert (lifted.lifted_by_label, lifted.lifted_at is not None) == ("tests", True)
    first, second = told("hold")
    assert (first["action"], second["action"]) == ("place", "lift")
    assert first["hold"] == {
        "id": str(placed.pk),
        "name": "case 7",
        "reason": "a claim",
        "filter": {"agent": "coder"},
    }
    record = Record.objects.filter(kind="hold").earliest("pk")
    assert (record.object_label, record.actor_label, record.request_id) == (
        "case 7",
        "tests",
        "r-1",
    )


def test_a_date_in_a_hold_is_kept_as_its_midnight_in_utc():
    placed = hold(from_="2026-01-01")
    assert placed.filter == {"from": "2026-01-01T00:00:00.000000Z"}


def test_a_hold_that_was_lifted_stays_lifted_and_is_told_once():
    placed = hold()
    first = holds.lift(actor=TESTS, hold=placed.pk).lifted_at
    assert holds.lift(actor=TESTS, hold=placed.pk).lifted_at == first
    assert len(told("hold")) == 2


def test_a_hold_counts_what_it_covers():
    write(agent="coder")
    write(agent="coder", session="s-1")
    assert holds.covered(hold(agent="coder")) == 2
    assert holds.covered(hold(agent="codre")) == 0
    assert holds.covered(hold(agent="coder", session="s-1")) == 1


@pytest.mark.parametrize(
    ("values", "pointers"),
    [
        ({}, ["/name", "/reason", "/filter"]),
        ({"name": " ", "reason": "r", "filter": {}}, ["/name"]),
        ({"name": "n" * 201, "reason": "r", "filter": {}}, ["/name"]),
        ({"name": "n", "reason": 1, "filter": {}}, ["/reason"]),
        ({"name": "n", "reason": "r", "filter": {"agnet": "x"}}, ["/filter/agnet"]),
        ({"name": "n", "reason": "r", "filter": None}, ["/filter"]),
        ({"name": "n", "reason": "r", "filter": {}, "until": "x"}, ["/until"]),
    ],
)
def test_a_wrong_hold_is_refused_with_every_fault(values, pointers):
    with pytest.raises(InvalidInput) as refused:
        holds.place(actor=TESTS, values=values)
    assert [fault.pointer for fault in refused.value.faults] == pointers
    assert not LegalHold.objects.exists()


def test_a_hold_that_is_not_there_is_not_found():
    with pytest.raises(NotFound):
        holds.lift(actor=TESTS, hold=9)


def test_the_database_deletes_no_hold():
    placed = hold()
    with (
        pytest.raises(DatabaseError, match="is written once"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("DELETE FROM toolpolicy_legalhold WHERE id = %s", [placed.pk])
    assert LegalHold.objects.exists()
