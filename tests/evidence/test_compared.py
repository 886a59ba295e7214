"""Two points in time: which answers differ, and through which event each of them changed."""

import random
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import SYSTEM
from tests.live import make_live, register, strict
from tests.registry.samples import imported, named
from toolpolicy.models import RecordBody
from toolpolicy.services import deployment, freezes, registry
from toolpolicy.services.evidence import attribution
from toolpolicy.services.evidence.standings import compare, said_words

pytestmark = pytest.mark.django_db
FREEZE = {"kind": "agent", "value": "coder", "reason": "a loop"}
CODER = {"agent": "coder"}
now = timezone.now
DENY_WRITE = {"effect": "deny", "match": {"name": "write"}}


@pytest.fixture
def start(db):
    deployment.adopt()
    imported(named("read", "write"))
    make_live([strict()])
    return now()


def differing(first, second=None, context=CODER):
    """Return, by tool, the outcomes before and after and the kinds of events in between."""
    found = compare(context, first, second or now())
    return {
        one.tool[1]: (
            str(one.before.outcome) if one.before else None,
            str(one.after.outcome) if one.after else None,
            [str(event.kind) for event in one.through],
        )
        for one in found.differences
    }


def test_nothing_differs_where_nothing_happened(start):
    assert differing(start) == {}


def test_a_version_changes_the_answers_that_it_is_about_and_no_others(start):
    make_live([strict()])
    make_live([strict(DENY_WRITE)])
    make_live([strict(DENY_WRITE, {"effect": "allow", "match": {"name": "x"}})])
    assert differing(start) == {"write": ("allow", "deny", ["version"])}
    [difference] = compare(CODER, start, now()).differences
    assert [event.version for event in difference.through] == [3]


def waiting(effect, *patterns):
    looked = {"pointer": "/branch", "value": list(patterns)}
    return {"effect": effect, "match": {"name": "write", "arg": looked}}


def test_where_only_the_arguments_that_decide_differ_that_is_said(start):
    make_live([strict(waiting("deny", "main"), waiting("require_approval", "x"))])
    first = now()
    make_live([strict(waiting("deny", "main", "release/*"), waiting("require_approval", "x"))])
    [difference] = compare(CODER, first, now()).differences
    assert [said_words(*side) for side in difference.sides] == [
        "allow, depends on arguments, listed, deny by argument `/branch` (`main`)",
        "allow, depends on arguments, listed, deny by argument `/branch` (`main`, `release/*`)",
    ]
    assert difference.wire()["before"]["open"] == [
        {"effect": "deny", "arguments": [{"pointer": "/branch", "value": ["main"]}]}
    ]


@pytest.mark.parametrize(
    ("act", "found"),
    [
        (
            lambda: registry.quarantine_tool(actor=SYSTEM, family="box", name="read"),
            {"read": ("allow", "deny", ["registry"])},
        ),
        (
            lambda: register("kit", {"name": "cut"}),
            {"cut": (None, "allow", ["registry"])},
        ),
        (
            lambda: freezes.freeze(actor=SYSTEM, values=FREEZE),
            {name: ("allow", "deny", ["freeze"]) for name in ("read", "write")},
        ),
        (
            lambda: freezes.freeze(actor=SYSTEM, values={**FREEZE, "value": "clerk"}),
            {},
        ),
    ],
    ids=["quarantine", "registration", "freeze", "another's freeze"],
)
def test_every_kind_of_event_is_named(start, act, found):
    act()
    assert differing(start) == found


def test_a_lifted_freeze_is_named_as_such(start):
    freeze = freezes.freeze(actor=SYSTEM, values={**FREEZE, "kind": "tool", "value": "read"})
    frozen = now()
    freezes.lift(actor=SYSTEM, freeze=freeze.pk)
    assert differing(frozen) == {"read": ("deny", "allow", ["lift"])}
    assert differing(start) == {}


def test_a_freeze_that_runs_out_is_named_as_such(start):
    until = now() + timedelta(hours=1)
    freezes.freeze(actor=SYSTEM, values={**FREEZE, "until": until})
    frozen, later = now(), until + timedelta(hours=1)
    assert differing(frozen, later)["read"] == ("deny", "allow", ["freeze_end"])


def test_what_only_time_changed_is_told_from_what_happened_meanwhile(start):
    begins = now() + timedelta(hours=1)
    layer = strict(DENY_WRITE, name="later", settings={"valid_from": begins.isoformat()})
    make_live([layer])
    before = now()
    register("kit", {"name": "cut"})
    found = differing(before, begins + timedelta(hours=1))
    assert found == {"write": ("allow", "deny", ["time"]), "cut": (None, "allow", ["registry"])}


def test_several_steps_of_one_answer_are_all_named(start):
    make_live([strict({"effect": "require_approval", "match": {"name": "write"}})])
    make_live([strict(DENY_WRITE)])
    assert differing(start)["write"] == ("allow", "deny", ["version", "version"])


def test_the_dates_may_stand_in_either_order(start):
    make_live([strict(DENY_WRITE)])
    assert differing(now(), start) == differing(start)


def test_where_the_looks_are_used_up_the_span_is_named(start, monkeypatch):
    monkeypatch.setattr(attribution, "MOST_LOOKS", 2)
    for number in range(8):
        make_live([strict(*([DENY_WRITE] if number > 4 else []))])
    assert differing(start)["write"] == ("allow", "deny", ["one_of"])
    [difference] = compare(CODER, start, now()).differences
    assert "one or more of 4 changes since" in difference.through[0].what


def test_an_event_whose_text_is_lost_is_listed_and_the_rest_found_all_the_same(start):
    freezes.freeze(actor=SYSTEM, values=FREEZE)
    make_live([strict(DENY_WRITE)])
    RecordBody.objects.filter(record__kind="freeze").delete()
    found = compare({}, start, now())
    assert [str(event.kind) for event in found.events] == ["freeze", "version"]
    assert found.after.moment.wire()["missing"][0]["code"] == "freezes"
    assert differing(start, context={}) == {"write": ("allow", "deny", ["version"])}


def happen(dice, number):
    """Do something that can change answers."""
    what, name = dice.randrange(4), dice.choice(["read", "write"])
    if what == 0:
        make_live([strict({"effect": "deny", "match": {"name": name}})])
    elif what == 1:
        register(f"kit{number}", {"name": f"cut{number}"})
    elif what == 2:
        registry.quarantine_tool(actor=SYSTEM, family="box", name=name)
    else:
        freezes.freeze(actor=SYSTEM, values={**FREEZE, "kind": "tool", "value": name})


@pytest.mark.parametrize("seed", range(5))
def test_whatever_happened_the_named_events_lead_from_one_answer_to_the_other(start, seed):
    """Each difference is explained, and the last event that explains it came after the first."""
    dice = random.Random(seed)  # noqa: S311  (no secret)
    for number in range(12):
        happen(dice, number)
    found = compare(CODER, start, now())
    times = {event.at for event in found.events}
    for one in found.differences:
        assert one.through
        assert [event.at for event in one.through] == sorted(event.at for event in one.through)
        assert {event.at for event in one.through} <= times
        # After its last event the answer is the one of the end; before its first, of the start.
        after = {a.tool: a.said for a in compare(CODER, one.through[-1].at, start).after.answers}
        tick = timedelta(microseconds=1)
        before = compare(CODER, one.through[0].at - tick, start).after.answers
        assert after.get(one.tool) == one.after
        assert {a.tool: a.said for a in before}.get(one.tool) == one.before
