"""Layers are made, changed, moved and deleted through services, and each fault names its member."""

import pytest

from tests.factories import SYSTEM, make_layer, make_rule
from tests.store.saving import create_layer, faults_of, last_change, live_document, update_layer
from toolpolicy.models import Layer, PolicyVersion, Rule
from toolpolicy.services import policies
from toolpolicy.services.errors import InvalidInput

NOON = "2026-03-01T12:00:00Z"

pytestmark = pytest.mark.django_db


def test_a_new_layer_gets_the_defaults_that_are_safe():
    strict = create_layer(name="a", scope="agent", target="bot*").layer
    assert (strict.fail_safe, strict.may_waive_approval, strict.default) == (True, False, "allow")
    ordered = create_layer(name="b", combining="last_match").layer
    assert (ordered.fail_safe, ordered.may_waive_approval, ordered.default) == (False, True, "")
    assert create_layer(name="c", fail_safe=False).layer.fail_safe is False


def test_a_new_layer_is_the_last_of_its_scope():
    for name in ("a", "b"):
        make_layer(name)
    make_layer("c", scope="agent", target=[])
    make_layer("d", position=7)
    make_layer("e")
    assert [(layer.name, layer.position) for layer in Layer.objects.in_order()] == [
        ("a", 0), ("b", 1), ("d", 7), ("e", 8), ("c", 0),
    ]  # fmt: skip


def test_layers_stand_in_the_document_in_the_order_in_which_they_apply():
    for scope in ("session", "channel", "agent"):
        make_layer(scope, scope=scope, target="*")
    make_layer("late", position=5)
    make_layer("early", position=2)
    names = [entry["policy"]["name"] for entry in live_document()["layers"]]
    assert names == ["early", "late", "agent", "channel", "session"]


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({}, "/name"),
        ({"name": ""}, "/name"),
        ({"name": 5}, "/name"),
        ({"name": "x" * 201}, "/name"),
        ({"name": "house rules"}, "/name"),
        ({"scope": "planet"}, "/scope"),
        ({"scope": None}, "/scope"),
        ({"scope": ["config"]}, "/scope"),
        ({"scope": "agent"}, ""),
        ({"target": "a"}, "/target"),
        ({"scope": "agent", "target": 5}, "/target"),
        ({"scope": "agent", "target": ["a", 5]}, "/target/1"),
        ({"combining": "vote"}, "/combining"),
        ({"combining": {}}, "/combining"),
        ({"default": "maybe"}, "/default"),
        ({"default": None}, "/default"),
        ({"default": ""}, "/default"),
        ({"combining": "last_match", "default": "deny"}, "/default"),
        ({"combining": "last_match", "fail_safe": True}, "/fail_safe"),
        ({"position": -1}, "/position"),
        ({"position": "first"}, "/position"),
        ({"position": True}, "/position"),
        ({"position": 2**40}, "/position"),
        ({"position": 0}, "/position"),
        ({"enabled": "yes"}, "/enabled"),
        ({"enabled": None}, "/enabled"),
        ({"observe": 1}, "/observe"),
        ({"may_waive_approval": None}, "/may_waive_approval"),
        ({"valid_from": "soon"}, "/valid_from"),
        ({"valid_from": NOON, "valid_until": NOON}, "/valid_until"),
        ({"description": None}, "/description"),
        ({"fail_save": True}, "/fail_save"),
        ({"version": 3}, "/version"),
        ({"rules": []}, "/rules"),
    ],
)  # fmt: skip
def test_a_wrong_layer_is_refused_at_the_member_that_is_wrong(values, pointer):
    make_layer()
    sent = values if "name" in values or not values else {"name": "new", **values}
    assert {where for where, _ in faults_of(create_layer, **sent)} == {pointer}
    assert (Layer.objects.count(), PolicyVersion.objects.count()) == (1, 1)


def test_every_fault_of_a_layer_is_named_at_once():
    faults = faults_of(create_layer, name="", scope="planet", enabled="yes", default="maybe")
    assert {where for where, _ in faults} == {"/name", "/scope", "/enabled", "/default"}


def test_an_unknown_member_is_named_with_its_nearest_known_one():
    with pytest.raises(InvalidInput, match="did you mean `fail_safe`"):
        create_layer(name="x", fail_save=True)


def test_the_name_of_another_layer_is_refused_wherever_that_layer_stands():
    first, last = make_layer("a"), make_layer("b")
    assert faults_of(update_layer, first, name="b") == [("/name", "duplicate")]
    assert faults_of(update_layer, last, name="a") == [("/name", "duplicate")]


def test_the_way_of_combining_stays():
    layer = make_layer()
    with pytest.raises(InvalidInput, match="stays `deny_overrides`"):
        update_layer(layer, combining="last_match")
    assert update_layer(layer, combining="deny_overrides", description="x").changed


def test_only_what_is_sent_is_changed():
    layer = make_layer(
        description="d", default="deny", observe=True, valid_until="2030-01-01T00:00:00+01:00"
    )
    changed = update_layer(layer, enabled=False).layer
    assert (changed.description, changed.default, changed.observe) == ("d", "deny", True)
    assert (changed.enabled, changed.version) == (False, layer.version + 1)
    assert changed.valid_until.isoformat() == "2029-12-31T23:00:00+00:00"


def test_a_time_can_be_taken_away_again():
    layer = make_layer(valid_until="2030-01-01T00:00:00Z")
    assert update_layer(layer, valid_until=None).layer.valid_until is None


def test_moving_a_layer_to_another_scope_does_not_let_it_waive_approval():
    agent = make_layer("a", scope="agent", target="x")
    config = make_layer("c")
    assert update_layer(agent, scope="config", target=None).layer.may_waive_approval is False
    assert update_layer(config, scope="agent", target="x").layer.may_waive_approval is True


def test_a_layer_that_moves_to_another_scope_comes_last_there():
    make_layer("a")
    moved = make_layer("b", scope="agent", target="x")
    assert update_layer(moved, scope="config", target=None).layer.position == 1


def test_a_deleted_layer_takes_its_rules_along():
    layer = make_layer()
    make_rule(layer)
    other = make_layer("other")
    policies.delete_layer(actor=SYSTEM, layer=layer.pk, version=layer.version)
    assert (list(Layer.objects.all()), Rule.objects.count()) == ([other], 0)
    assert last_change()["summary"] == "deleted the layer `house rules`"


def test_layers_are_reordered_within_their_scope():
    layers = [make_layer(name) for name in "abc"]
    other = make_layer("other", scope="agent", target="x")
    order = [layers[2].pk, layers[0].pk, layers[1].pk]
    policies.reorder_layers(actor=SYSTEM, scope="config", version=4, order=order)
    assert [layer.name for layer in Layer.objects.in_order()] == ["c", "a", "b", "other"]
    other.refresh_from_db()
    assert other.version == 1
    assert PolicyVersion.objects.count() == 5


@pytest.mark.parametrize("wrong", [[], [0, 0], [0], [0, 1, 2], [0, 99]])
def test_an_order_names_each_layer_once(wrong):
    layers = [make_layer("a"), make_layer("b"), make_layer("x", scope="agent", target="x")]
    order = [layers[n].pk if n < 3 else n for n in wrong]
    assert faults_of(policies.reorder_layers, actor=SYSTEM, scope="config", version=3, order=order)
