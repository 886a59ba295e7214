"""Freezes stand from the moment they are made until they are lifted or run out."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.factories import ORIGIN, SYSTEM, make_user
from toolpolicy.models import Freeze, Record
from toolpolicy.services import freezes, live
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import InvalidInput, NotFound

pytestmark = pytest.mark.django_db
VALUES = {"kind": "tool", "value": "mail__send", "reason": "it sends spam"}


def standing(after=timedelta(0)):
    return [freeze.value for freeze in freezes.active(timezone.now() + after)]


def test_a_freeze_stands_at_once_and_until_it_is_lifted():
    freeze = freezes.freeze(actor=SYSTEM, values=VALUES)
    assert standing() == standing(timedelta(days=9999)) == ["mail__send"]
    lifted = freezes.lift(actor=SYSTEM, freeze=freeze.pk)
    assert standing() == []
    assert freezes.lift(actor=SYSTEM, freeze=freeze.pk).lifted_at == lifted.lifted_at
    assert Record.objects.count() == 2


def test_a_freeze_with_an_end_runs_out_at_that_moment():
    end = timezone.now() + timedelta(hours=1)
    freezes.freeze(actor=SYSTEM, values={**VALUES, "until": end})
    assert standing() == ["mail__send"]
    assert [f.value for f in freezes.active(end - timedelta(microseconds=1))] == ["mail__send"]
    assert not freezes.active(end)


UNREADABLE = (
    ["garbage", "", "0", "now", "2026-01-01", "2026-01-01 00:00:00Z", "2026-01-01 00:00:00.5 or so"]
    if connection.vendor == "sqlite"
    else ["infinity", "-infinity"]
)


def stored(**values):
    """Write into the freeze what no code of ours writes; return what stands by each reading."""
    on_sqlite = connection.vendor == "sqlite"
    connection.check_constraints()  # PostgreSQL alters no table while a check is outstanding
    with connection.cursor() as cursor:
        cursor.execute(
            "PRAGMA ignore_check_constraints = ON"
            if on_sqlite
            else "ALTER TABLE toolpolicy_freeze DROP CONSTRAINT IF EXISTS freeze_until_later"
        )
        for column, value in values.items():
            cursor.execute(f"UPDATE toolpolicy_freeze SET {column} = %s", [value])  # noqa: S608
        if on_sqlite:
            cursor.execute("PRAGMA ignore_check_constraints = OFF")
    now = timezone.now()
    by_all = list(freezes.active(now).values_list("value", flat=True))
    return by_all, [freeze.value for freeze in live.read_live(now).freezes]


@pytest.mark.parametrize("value", UNREADABLE)
def test_a_freeze_with_no_time_in_place_of_its_lifting_stands(value):
    freezes.freeze(actor=SYSTEM, values=VALUES)
    assert stored(lifted_at=value) == (["mail__send"], ["mail__send"])


@pytest.mark.parametrize("value", UNREADABLE)
def test_a_freeze_with_no_time_in_place_of_its_end_stands(value):
    freezes.freeze(actor=SYSTEM, values=VALUES)
    assert stored(until=value) == (["mail__send"], ["mail__send"])


@pytest.mark.parametrize("time", ["2026-01-01 00:00:00", "2026-01-01 00:00:00.123456"])
def test_every_way_of_reading_agrees_on_freezes_that_are_over(time):
    freezes.freeze(actor=SYSTEM, values=VALUES)
    assert stored(lifted_at=time) == ([], [])
    assert stored(lifted_at=None, until=time) == ([], [])


@pytest.mark.skipif(connection.vendor != "sqlite", reason="its own plans")
def test_a_decision_does_not_look_through_the_lifted_freezes():
    with CaptureQueriesContext(connection) as captured:
        live.read_live(timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {captured[0]['sql']}")
        plan = [row[3] for row in cursor.fetchall() if "toolpolicy_freeze" in row[3]]
    assert [step.partition(" USING ")[2] for step in plan] == [
        "INDEX freeze_standing",
        "INDEX freeze_unreadable",
    ]


def test_freezing_and_lifting_are_recorded_under_what_was_frozen():
    actor = Actor.for_user(make_user("ada"))
    freeze = freezes.freeze(actor=actor, values=VALUES, origin=ORIGIN)
    freezes.lift(actor=actor, freeze=freeze.pk, origin=ORIGIN)
    lifted, made = Record.objects.newest_first().select_related("body")
    assert (made.kind, made.tool, made.agent, made.actor_label) == (
        "freeze",
        "mail__send",
        "",
        "ada",
    )
    assert json.loads(made.body.text)["summary"] == "froze the tool `mail__send`"
    assert json.loads(made.body.text)["freeze"]["reason"] == "it sends spam"
    assert json.loads(lifted.body.text)["action"] == "lift"
    assert (freeze.created_by, freeze.created_by_label) == (actor.user, "ada")


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"kind": "planet"}, "/kind"),
        ({"kind": None}, "/kind"),
        ({"value": ""}, "/value"),
        ({"value": 5}, "/value"),
        ({"value": "x" * 201}, "/value"),
        ({"reason": " "}, "/reason"),
        ({"until": "2020-01-01T00:00:00Z"}, "/until"),
        ({"until": "never"}, "/until"),
        ({"untill": None}, "/untill"),
    ],
)
def test_a_wrong_freeze_is_refused_at_the_member_that_is_wrong(values, pointer):
    with pytest.raises(InvalidInput) as caught:
        freezes.freeze(actor=SYSTEM, values={**VALUES, **values})
    assert [fault.pointer for fault in caught.value.faults] == [pointer]
    assert not Freeze.objects.exists()


def test_a_freeze_that_is_not_there_cannot_be_lifted():
    with pytest.raises(NotFound):
        freezes.lift(actor=SYSTEM, freeze=9)
