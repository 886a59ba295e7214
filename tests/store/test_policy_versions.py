"""Versions: rolled back, compared; and the baseline that only few may change."""

import json
from datetime import UTC, datetime

import pytest

from tests.factories import SYSTEM, live_version, make_layer, make_rule, make_user
from toolpolicy.engine.documents import parse_policy
from toolpolicy.engine.evaluate import evaluate
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.words import Surface
from toolpolicy.models import ApiClient, Layer, PolicyVersion, Record, Rule
from toolpolicy.services import policies
from toolpolicy.services.actors import Actor
from toolpolicy.services.baseline import BASELINE_NAMES
from toolpolicy.services.errors import InvalidInput, Refused

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def update_rule(rule, **values):
    version = Layer.objects.get(pk=rule.layer_id).version
    policies.update_rule(actor=SYSTEM, rule=rule.pk, version=version, values=values)


# --- rolling back --------------------------------------------------------------------------------


def test_rolling_back_is_a_new_version_with_the_old_content():
    layer = make_layer()
    kept, changed = make_rule(layer, id="kept"), make_rule(layer, id="changed", reason="old")
    good = live_version()
    update_rule(changed, reason="new", position=0)
    make_rule(layer, id="added")
    make_layer("other")
    layer.refresh_from_db()
    policies.delete_rule(actor=SYSTEM, rule=kept.pk, version=layer.version)

    saved = policies.roll_back(actor=SYSTEM, number=good.number)

    live = live_version()
    assert (live, live.document_id) == (saved.version, good.document_id)
    assert live.number == PolicyVersion.objects.count() == good.number + 5
    assert live.comment == f"rolled back to version {good.number}"
    rules = Rule.objects.in_order()
    assert [(rule.rule_id, rule.reason) for rule in rules] == [("kept", ""), ("changed", "old")]
    assert (rules[1].pk, Layer.objects.get().pk) == (changed.pk, layer.pk)
    body = json.loads(Record.objects.newest_first()[0].body.text)
    assert (body["action"], len(body["before"]["layers"]), len(body["after"]["layers"])) == (
        "roll_back", 2, 1,
    )  # fmt: skip


def test_rolling_back_counts_the_layers_up_that_it_changes():
    one, other = make_layer("one"), make_layer("other")
    number = live_version().number
    make_rule(one)
    policies.roll_back(actor=SYSTEM, number=number)
    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.version, other.version) == (3, 1)


def test_a_layer_that_came_back_with_another_combining_is_another_layer():
    old = make_layer("x")
    policies.delete_layer(actor=SYSTEM, layer=old.pk, version=1)
    make_layer("x", combining="last_match")
    policies.roll_back(actor=SYSTEM, number=1)
    assert Layer.objects.get().combining == "deny_overrides"


# --- comparing -----------------------------------------------------------------------------------


def changes(before, after):
    found = policies.diff(before=before, after=after)
    return [(change["change"], change["layer"], change.get("rule")) for change in found]


def test_versions_are_compared_layer_by_layer_and_rule_by_rule():
    layer = make_layer("a", description="old")
    rules = [make_rule(layer, id=name, reason="old") for name in "vwxyz"]
    gone = make_layer("gone")
    first = live_version().number
    update_rule(rules[1], reason="new")
    update_rule(rules[2], observe=True)
    update_rule(rules[0], position=4)
    layer.refresh_from_db()
    policies.delete_rule(actor=SYSTEM, rule=rules[4].pk, version=layer.version)
    make_rule(layer, id="new", position=0)
    policies.update_layer(
        actor=SYSTEM,
        layer=layer.pk,
        version=layer.version,
        values={"description": "", "position": 5},
    )
    policies.delete_layer(actor=SYSTEM, layer=gone.pk, version=1)
    make_layer("fresh", scope="agent", target="x")
    last = live_version().number
    assert changes(first, last) == [
        ("changed", "a", None),
        ("moved", "a", None),
        ("added", "a", "new"),
        ("changed", "a", "w"),
        ("changed", "a", "x"),
        ("moved", "a", "v"),
        ("removed", "a", "z"),
        ("added", "fresh", None),
        ("removed", "gone", None),
    ]
    assert changes(last, last) == []


def test_a_difference_holds_both_sides():
    layer = make_layer()
    rule = make_rule(layer, id="r", match={"name": "x"})
    update_rule(rule, observe=True)
    wire = {"id": "r", "effect": "deny", "match": {"name": "x"}}
    assert policies.diff(before=2, after=3) == [
        {
            "change": "changed", "layer": "house rules", "rule": "r",
            "before": wire, "after": {**wire, "settings": {"observe": True}},
            "grade": "loosens",
        }
    ]  # fmt: skip
    [added] = policies.diff(before=1, after=2)
    assert (added["change"], added["after"], "before" in added) == ("added", wire, False)
    [removed] = policies.diff(before=2, after=1)
    assert (removed["change"], removed["before"], "after" in removed) == ("removed", wire, False)


# --- the baseline --------------------------------------------------------------------------------


@pytest.fixture
def baseline():
    policies.install_baseline(actor=SYSTEM)
    return {layer.name: layer for layer in Layer.objects.in_order()}


def judged(subject, **context):
    policy = parse_policy(policies.working_document())
    return evaluate(policy, parse_subject(subject), context, Surface.CALL, {}, now=NOW)


def test_the_baseline_is_installed_once(baseline):
    assert set(baseline) == BASELINE_NAMES
    assert not policies.install_baseline(actor=SYSTEM).changed
    assert (Layer.objects.count(), PolicyVersion.objects.count()) == (3, 1)


def test_a_baseline_layer_that_went_missing_is_put_back_behind_the_others(baseline):
    name = min(BASELINE_NAMES)
    policies.delete_layer(actor=SYSTEM, layer=baseline[name].pk, version=1)
    make_layer()
    policies.install_baseline(actor=SYSTEM)
    assert [layer.name for layer in Layer.objects.in_order()][-1] == name


def test_a_tool_that_declares_that_it_needs_approval_gets_it(baseline):
    assert judged({"name": "t", "hints": {"needs_approval": True}}).approval == "required"
    for hints in ({"needs_approval": False}, {}):
        assert judged({"name": "t", "hints": hints}).approval == "default"


@pytest.mark.parametrize(
    ("declared", "approval"),
    [
        ({"hints": {"destructive": True}}, "required"),
        ({"hints": {"read_only": False}}, "required"),
        ({}, "required"),
        ({"hints": {"read_only": True}}, "default"),
        ({"hints": {"destructive": True, "read_only": True}}, "default"),
        ({"hints": {"destructive": False}}, "required"),
        ({"hints": {"destructive": False}, "side_effects": "plain"}, "default"),
        ({"hints": {"destructive": False}, "side_effects": "destructive"}, "required"),
    ],
)
def test_in_a_read_only_sandbox_what_may_destroy_is_approved_first(baseline, declared, approval):
    flags = ("read_only", "writes_files", "network", "installs_dependencies", "destructive",
             "external_service", "payment")  # fmt: skip
    subject = {"name": "t", **declared}
    if "side_effects" in subject:
        subject["side_effects"] = {flag: flag == declared["side_effects"] for flag in flags}
    assert judged(subject, sandbox_mode="read_only").approval == approval
    assert judged(subject, sandbox_mode="full").approval == "default"


def test_after_untrusted_content_approval_is_only_observed_until_it_is_switched_on(baseline):
    flags = dict.fromkeys(
        ("read_only", "writes_files", "installs_dependencies", "destructive", "external_service",
         "payment"), False,
    )  # fmt: skip
    subject = {"name": "t", "side_effects": {**flags, "network": True}}
    decision = judged(subject, untrusted_content="true")
    assert (decision.approval, decision.observed.approval) == ("default", "required")
    assert judged(subject, untrusted_content="false").observed is None
    layer = baseline["baseline: untrusted content"]
    policies.update_layer(actor=SYSTEM, layer=layer.pk, version=1, values={"observe": False})
    assert judged(subject, untrusted_content="true").approval == "required"


def every_change_of_the_baseline(actor, layer):
    rule = layer.rules.all()[0]
    common = {"actor": actor, "version": layer.version}
    return (
        lambda: policies.update_layer(layer=layer.pk, values={"enabled": False}, **common),
        lambda: policies.update_layer(layer=layer.pk, values={"name": "x"}, **common),
        lambda: policies.delete_layer(layer=layer.pk, **common),
        lambda: policies.create_rule(
            actor=actor, layer=layer.pk, values={"effect": "auto_approve"}
        ),
        lambda: policies.update_rule(rule=rule.pk, values={"enabled": False}, **common),
        lambda: policies.delete_rule(rule=rule.pk, **common),
        lambda: policies.roll_back(actor=actor, number=1),
    )


@pytest.mark.parametrize("who", ["author", "publisher", "a client"])
def test_nobody_changes_the_baseline_without_its_own_permission(who):
    make_layer("house rules")
    policies.install_baseline(actor=SYSTEM)
    if who == "a client":
        actor = Actor.for_client(ApiClient(name="x", key_id="x" * 8, scopes=["policy:write"]))
    else:
        actor = Actor.for_user(make_user("ada", groups=(who,)))
    layer = Layer.objects.get(name="baseline: declared approval")
    before = live_version()
    for change in every_change_of_the_baseline(actor, layer):
        with pytest.raises(Refused) as caught:
            change()
        assert caught.value.code == "baseline_protected"
    assert live_version() == before


def test_the_permission_and_superusers_change_the_baseline():
    make_layer("house rules")
    for name, user in (
        ("permitted", make_user("ada", permissions=("change_baseline",))),
        ("superuser", make_user("root")),
    ):
        user.is_superuser = name == "superuser"
        policies.install_baseline(actor=SYSTEM)
        layer = Layer.objects.get(name="baseline: declared approval")
        change = every_change_of_the_baseline(Actor.for_user(user), layer)[-1]
        assert change().changed
        assert Layer.objects.count() == 1


def test_others_move_past_the_baseline_and_change_their_own_layers(baseline):
    actor = Actor.for_user(make_user("ada", groups=("author",)))
    own = make_layer("house rules", actor=actor)
    order = [own.pk, *(layer.pk for layer in baseline.values())]
    assert policies.reorder_layers(actor=actor, scope="config", version=2, order=order).changed


def test_a_layer_that_poses_as_baseline_needs_the_permission():
    with pytest.raises(Refused):
        make_layer(min(BASELINE_NAMES), actor=Actor.for_user(make_user("ada")))


def test_a_wrong_change_is_wrong_before_it_is_refused(baseline):
    layer = baseline["baseline: declared approval"]
    actor = Actor.for_user(make_user("ada"))
    with pytest.raises(InvalidInput):
        policies.update_layer(actor=actor, layer=layer.pk, version=1, values={"enabled": 5})
