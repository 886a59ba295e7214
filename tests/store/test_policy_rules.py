"""Rules are made, changed, moved and deleted through services, and each fault names its member."""

import pytest

from tests.factories import SYSTEM, make_layer, make_rule
from tests.store.saving import (
    create_rule,
    faults_of,
    last_change,
    live_document,
    rule_ids,
    update_rule,
)
from toolpolicy.services import policies

pytestmark = pytest.mark.django_db


def test_a_rule_can_say_everything_that_the_language_has():
    layer = make_layer()
    values = {
        "id": "r1", "effect": "require_approval", "on": ["call"], "match": {"name": ["a*", "b"]},
        "except": {"tags": "safe"}, "when": {"agent": "x"}, "reason": "because", "enabled": False,
        "observe": True, "expires_at": "2030-01-01T00:00:00Z", "examples": [{"name": "a"}],
        "approval": {"remember": True},
    }  # fmt: skip
    rule = create_rule(layer, **values).rule
    assert (rule.surfaces, rule.except_match, rule.when) == (
        ["call"],
        {"tags": "safe"},
        {"agent": "x"},
    )
    [entry] = live_document()["layers"]
    beside = ("enabled", "observe", "expires_at", "examples", "approval")
    assert entry["policy"]["rules"] == [{k: v for k, v in values.items() if k not in beside}]
    assert entry["settings"]["rules"] == {"r1": {name: values[name] for name in beside}}


def test_an_ordered_rule_has_its_mode_as_effect():
    layer = make_layer(combining="last_match")
    rule = create_rule(layer, effect=" ON ", match={"verb": "list,get"}, on=[]).rule
    assert (rule.effect, rule.rule_id) == ("on", "ON-list-get")
    [wire] = live_document()["layers"][0]["policy"]["rules"]
    assert wire == {"id": "ON-list-get", "mode": "on", "match": {"verb": "list,get"}}


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({}, ""),
        ({"effect": "forbid"}, "/effect"),
        ({"effect": "on"}, "/effect"),
        ({"effect": None}, "/effect"),
        ({"id": "a b"}, "/id"),
        ({"id": "x\n"}, "/id"),
        ({"id": 5}, "/id"),
        ({"id": "x" * 201}, "/id"),
        ({"id": "old"}, "/id"),
        ({"on": ["air"]}, "/on/0"),
        ({"on": None}, "/on"),
        ({"match": {"nmae": "x"}}, "/match/nmae"),
        ({"match": None}, "/match"),
        ({"match": {"arg": {"pointer": "/x"}}}, "/match/arg"),
        ({"match": {"name": ["a", 5]}}, "/match/name/1"),
        ({"except": {"tags": 5}}, "/except/tags"),
        ({"when": {"agent": 5}}, "/when/agent"),
        ({"when": None}, "/when"),
        ({"reason": 5}, "/reason"),
        ({"position": 2}, "/position"),
        ({"position": -1}, "/position"),
        ({"position": True}, "/position"),
        ({"position": "0"}, "/position"),
        ({"enabled": 1}, "/enabled"),
        ({"observe": None}, "/observe"),
        ({"expires_at": "2030-01-01"}, "/expires_at"),
        ({"examples": {}}, "/examples"),
        ({"approval": []}, "/approval"),
        ({"surfaces": []}, "/surfaces"),
    ],
)
def test_a_wrong_rule_is_refused_at_the_member_that_is_wrong(values, pointer):
    layer = make_layer()
    rule = make_rule(layer, id="old")
    sent = {"effect": "deny", **values} if values else {}
    assert [where for where, _ in faults_of(create_rule, layer, **sent)] == [pointer]
    if values and values.get("id") != "old" and values.get("position") != 2:
        assert [where for where, _ in faults_of(update_rule, rule, **values)] == [pointer]
    assert rule_ids(layer) == ["old"]


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"effect": "deny"}, "/effect"),
        ({"match": {}}, "/match"),
        ({"match": {"arg": {}}}, "/match/arg"),
        ({"on": ["call"]}, "/on"),
        ({"except": {"name": "x"}}, "/except"),
    ],
)
def test_what_belongs_in_a_strict_layer_is_refused_in_an_ordered_one(values, pointer):
    layer = make_layer(combining="last_match")
    sent = {"effect": "off", "match": {"name": "x"}, **values}
    assert [where for where, _ in faults_of(create_rule, layer, **sent)] == [pointer]


def test_the_id_of_another_rule_is_refused_wherever_that_rule_stands():
    layer = make_layer()
    first, last = make_rule(layer, id="a"), make_rule(layer, id="b", observe=True)
    assert faults_of(update_rule, first, id="b") == [("/id", "duplicate")]
    assert faults_of(update_rule, last, id="a") == [("/id", "duplicate")]


def test_a_rule_without_an_id_gets_one_from_its_effect_and_pattern():
    layer = make_layer()
    match = {"family": "mail", "name": ["mcp__mail__send*", "x"]}
    ids = [create_rule(layer, effect="deny", match=match).rule.rule_id for _ in range(3)]
    assert ids == ["deny-mcp__mail__send", "deny-mcp__mail__send-2", "deny-mcp__mail__send-3"]
    assert create_rule(layer, effect="allow").rule.rule_id == "allow-all"
    assert (
        create_rule(layer, effect="allow", match={"hints": {"read_only": True}}).rule.rule_id
        == "allow-all-2"
    )
    assert len(create_rule(layer, effect="hide", match={"name": "é/" * 400}).rule.rule_id) <= 200


def test_a_renamed_rule_keeps_what_is_set_beside_it():
    layer = make_layer()
    rule = make_rule(layer, id="a", observe=True, expires_at="2030-01-01T00:00:00Z")
    assert update_rule(rule, id="b").rule.observe
    assert list(live_document()["layers"][0]["settings"]["rules"]) == ["b"]


def test_the_other_rules_keep_what_is_set_beside_them():
    layer = make_layer()
    make_rule(layer, id="a", observe=True)
    rule = make_rule(layer, id="b", enabled=False)
    update_rule(rule, enabled=True, reason="r")
    assert live_document()["layers"][0]["settings"]["rules"] == {"a": {"observe": True}}


def test_a_rule_is_put_where_its_position_says():
    layer = make_layer()
    for name in "abc":
        make_rule(layer, id=name)
    middle = make_rule(layer, id="m", position=1)
    assert rule_ids(layer) == ["a", "m", "b", "c"]
    update_rule(middle, position=3)
    assert rule_ids(layer) == ["a", "b", "c", "m"]
    saved = update_rule(middle, position=0, reason="first")
    assert rule_ids(layer) == ["m", "a", "b", "c"]
    assert (saved.rule.pk, saved.rule.position, saved.rule.reason) == (middle.pk, 0, "first")


def test_the_rules_behind_a_deleted_one_move_up():
    layer = make_layer()
    rules = [make_rule(layer, id=name, observe=True) for name in "abc"]
    layer.refresh_from_db()
    policies.delete_rule(actor=SYSTEM, rule=rules[0].pk, version=layer.version)
    assert rule_ids(layer) == ["b", "c"]
    assert set(live_document()["layers"][0]["settings"]["rules"]) == {"b", "c"}


def test_rules_are_reordered_in_one_version():
    layer = make_layer()
    rules = [make_rule(layer, id=name) for name in "abcd"]
    order = [rules[n].pk for n in (3, 1, 0, 2)]
    saved = policies.reorder_rules(actor=SYSTEM, layer=layer.pk, version=layer.version, order=order)
    assert saved.layer is not None
    assert (rule_ids(layer), saved.layer.version) == (["d", "b", "a", "c"], layer.version + 1)
    assert last_change()["action"] == "reorder_rules"
    assert faults_of(
        policies.reorder_rules,
        actor=SYSTEM,
        layer=layer.pk,
        version=layer.version + 1,
        order=order[1:],
    )
