"""A point in time: what the history says was in force, and what it cannot say."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.admin.pages import decide
from tests.factories import SYSTEM, make_layer
from tests.live import make_client, make_live, register, strict
from tests.registry.samples import imported, named
from toolpolicy.models import PolicyState, RecordBody, SessionTaint
from toolpolicy.services import deployment, freezes, live, registry
from toolpolicy.services.evidence.moments import in_force
from toolpolicy.services.evidence.standings import standing_at

pytestmark = pytest.mark.django_db
FREEZE = {"kind": "agent", "value": "coder", "reason": "a loop"}
now = timezone.now


def outcomes(at, **context):
    found = standing_at(context, at)
    return {one.tool[1]: str(one.said.outcome) for one in found.answers}


def missing(at):
    return [str(one) for one in in_force(at).missing]


@pytest.fixture
def history(db):
    """Set up a deployment with its settings, a first policy and two tools."""
    deployment.adopt()
    imported(named("read", "write"))
    make_live([strict()])


def test_now_is_what_decisions_are_judged_by(history):
    make_layer()
    freezes.freeze(actor=SYSTEM, values=FREEZE)
    freezes.freeze(actor=SYSTEM, values={**FREEZE, "kind": "tool", "value": "read"})
    at = now()
    assert in_force(at).live == live.read_live(at)
    assert missing(at) == []


def test_a_version_is_in_force_from_its_publication_to_the_next(history):
    make_live([strict({"effect": "deny", "match": {"name": "write"}})])
    denied = now()
    make_live([strict({"effect": "require_approval", "match": {"name": "write"}})])
    asked = now()
    assert outcomes(denied) == {"read": "allow", "write": "deny"}
    assert outcomes(asked) == {"read": "allow", "write": "needs_approval"}
    assert in_force(denied).live.version == 2


def test_tools_are_those_that_were_registered_as_they_were(history):
    before = now()
    register("kit", {"name": "cut"})
    registered = now()
    registry.quarantine_tool(actor=SYSTEM, family="box", name="read")
    quarantined = now()
    assert set(outcomes(before)) == {"read", "write"}
    assert set(outcomes(registered)) == {"read", "write", "cut"}
    assert outcomes(registered)["read"] == "allow"
    assert outcomes(quarantined)["read"] == "deny"
    states = {one.tool[1]: one.state for one in standing_at({}, quarantined).answers}
    assert states == {"cut": "active", "read": "quarantined", "write": "active"}


def test_freezes_are_in_force_until_they_are_lifted_or_run_out(history):
    before = now()
    freeze = freezes.freeze(actor=SYSTEM, values=FREEZE)
    until = now() + timedelta(hours=1)
    freezes.freeze(actor=SYSTEM, values={**FREEZE, "kind": "tool", "value": "read", "until": until})
    both = now()
    freezes.lift(actor=SYSTEM, freeze=freeze.pk)
    one = now()
    for at, agent, found in (
        (before, "coder", {"read": "allow", "write": "allow"}),
        (both, "coder", {"read": "deny", "write": "deny"}),
        (both, "clerk", {"read": "deny", "write": "allow"}),
        (one, "coder", {"read": "deny", "write": "allow"}),
        (until - timedelta(microseconds=1), "coder", {"read": "deny", "write": "allow"}),
        (until, "coder", {"read": "allow", "write": "allow"}),
    ):
        assert outcomes(at, agent=agent) == found


def test_what_a_session_had_read_counts_from_then_on(history):
    make_live([strict({"effect": "deny", "match": {}, "when": {"untrusted_content": "true"}})])
    clean = now()
    SessionTaint.objects.create(client=make_client(), session="s1")
    assert outcomes(clean, session="s1")["read"] == "allow"
    assert outcomes(now(), session="s1")["read"] == "deny"
    assert outcomes(now(), session="s2")["read"] == "allow"


def test_what_was_possible_is_what_was_answered(history):
    make_live([strict({"effect": "deny", "match": {"name": "write"}})])
    answers = [decide(name, context={"agent": "coder"}) for name in ("read", "write")]
    at = now()
    make_live([strict()])
    assert [str(one.outcome) for one in answers] == list(outcomes(at, agent="coder").values())


# --- what cannot be said -------------------------------------------------------------------------


def test_before_the_first_version_every_call_was_refused(db):
    imported(named("read"))
    assert outcomes(now()) == {"read": "deny"}
    assert missing(now()) == ["no_policy", "settings"]
    listed = standing_at({}, now()).answers[0].said.listed
    assert listed is False


def test_before_everything_nothing_was_registered_and_that_is_known(history):
    long_ago = now() - timedelta(days=400)
    assert outcomes(long_ago) == {}
    assert in_force(long_ago).registry == ""
    assert missing(long_ago) == ["no_policy", "settings"]


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_lost_text_on_one_side_is_made_up_for_by_the_other(history, side):
    between = now()
    register("kit", {"name": "cut"})
    lost = {"record__kind": "import"} if side == "before" else {"record__family": "kit"}
    assert RecordBody.objects.filter(**lost).delete()[0] > 0
    assert set(outcomes(between)) == {"read", "write"}
    assert missing(between) == []


def test_lost_texts_on_both_sides_leave_the_registry_unknown(history):
    between = now()
    register("kit", {"name": "cut"})
    RecordBody.objects.filter(record__kind__in=("change", "import")).delete()
    found = in_force(between)
    assert found.registry is None
    assert {"registry", "settings"} <= set(missing(between))
    assert found.wire()["registry"] is None
    assert outcomes(between) == {}


def test_a_registry_that_was_changed_past_the_records_is_found(history):
    honest = now()
    register("kit", {"name": "cut"})
    PolicyState.objects.update(registry_digest="sha256:other")
    assert missing(now()) == ["registry_differs"]
    assert missing(honest) == []


def test_a_lost_text_of_a_freeze_is_said(history):
    freezes.freeze(actor=SYSTEM, values=FREEZE)
    RecordBody.objects.filter(record__kind="freeze").delete()
    assert missing(now()) == ["freezes"]
    assert outcomes(now(), agent="coder")["read"] == "allow"


def test_what_is_missing_is_said_in_words(db):
    wire = in_force(now()).wire()
    assert [one["code"] for one in wire["missing"]] == ["no_policy", "settings"]
    assert all(len(one["message"]) > 20 for one in wire["missing"])
    assert json.loads(json.dumps(wire)) == wire


def test_the_number_of_queries_is_fixed(history):
    counts = []
    for number in range(2):
        register(f"kit{number}", {"name": f"cut{number}"})
        freezes.freeze(actor=SYSTEM, values={**FREEZE, "value": f"a{number}"})
        at = now()
        standing_at({"agent": "coder"}, at)
        with CaptureQueriesContext(connection) as asked:
            standing_at({"agent": "coder"}, at)
        counts.append(len(asked))
    assert counts == [12, 12]
