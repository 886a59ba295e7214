"""Layers and rules are changed through services: whole, checked, versioned and recorded."""

import json
from itertools import count
from typing import Any

import pytest
from django.db import OperationalError, connection

from tests.factories import ORIGIN, SYSTEM, live_version, make_layer, make_rule, make_user
from toolpolicy.engine.canonical import digest, dumps
from toolpolicy.models import (
    Document,
    Layer,
    PolicyState,
    PolicyVersion,
    Record,
    RecordBody,
    Rule,
)
from toolpolicy.services import policies
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import InvalidInput, NotFound, Stale

NOON = "2026-03-01T12:00:00Z"

pytestmark = pytest.mark.django_db


def live_document():
    return json.loads(live_version().document.text)


def last_change():
    return json.loads(Record.objects.newest_first().select_related("body")[0].body.text)


def faults_of(call, *args, **kwargs):
    with pytest.raises(InvalidInput) as caught:
        call(*args, **kwargs)
    return [(fault.pointer, fault.code) for fault in caught.value.faults]


def create_layer(**values):
    return policies.create_layer(actor=SYSTEM, values=values)


def update_layer(layer, **values):
    return policies.update_layer(actor=SYSTEM, layer=layer.pk, version=layer.version, values=values)


def create_rule(layer, **values):
    return policies.create_rule(actor=SYSTEM, layer=layer.pk, values=values)


def update_rule(rule, **values):
    version = Layer.objects.get(pk=rule.layer_id).version
    return policies.update_rule(actor=SYSTEM, rule=rule.pk, version=version, values=values)


def rule_ids(layer):
    rules = Rule.objects.filter(layer=layer).in_order()
    assert [rule.position for rule in rules] == list(range(len(rules)))
    return [rule.rule_id for rule in rules]


# --- what a save makes live ----------------------------------------------------------------------


def test_a_saved_rule_is_live_in_a_new_version():
    layer = make_layer()
    saved = create_rule(layer, id="no-mail", effect="deny", match={"name": "mail_*"})
    version = live_version()
    assert (saved.changed, saved.version, version.number) == (True, version, 2)
    assert live_document() == {
        "format": "toolpolicy/1",
        "layers": [
            {
                "scope": "config",
                "position": 0,
                "combining": "deny_overrides",
                "settings": {"fail_safe": True},
                "policy": {
                    "name": "house rules",
                    "default": "allow",
                    "rules": [{"id": "no-mail", "effect": "deny", "match": {"name": "mail_*"}}],
                },
            }
        ],
    }
    assert policies.working_document() == live_document()


def test_the_document_of_a_version_stands_under_the_digest_of_its_canonical_text():
    make_layer()
    document = live_version().document
    assert document.digest == digest(document.text)
    assert document.text == dumps(json.loads(document.text))


def test_a_change_is_recorded_with_both_documents_actor_and_request():
    layer = make_layer()
    before = live_document()
    user = make_user("ada")
    policies.create_rule(
        actor=Actor.for_user(user), layer=layer.pk, values={"effect": "hide"}, origin=ORIGIN
    )
    body = last_change()
    assert (body["before"], body["after"]) == (before, live_document())
    assert body["actor"] == {
        "kind": "user",
        "label": "ada",
        "user": str(user.pk),
        "superuser": False,
    }
    assert body["origin"] == {"request_id": "request-1", "address": "192.0.2.7"}
    assert body["summary"] == "added the rule `hide-all` of the layer `house rules`"
    assert body["policy"] == {"version": 2, "digest": live_version().document_id}
    record = Record.objects.newest_first()[0]
    assert (record.kind, record.layer, record.rule) == ("change", "house rules", "hide-all")
    assert (record.actor_label, record.object_label) == ("ada", "house rules / hide-all")
    assert (record.policy_version, record.request_id) == (2, "request-1")


def test_a_version_says_who_when_and_what():
    user = make_user("ada")
    policies.create_layer(actor=Actor.for_user(user), values={"name": "x"}, origin=ORIGIN)
    version = live_version()
    assert (version.published_by, version.published_by_label) == (user, "ada")
    assert (version.comment, version.request_id) == ("added the layer `x`", "request-1")


def test_a_save_that_changes_nothing_leaves_no_trace():
    layer = make_layer(description="d")
    rule = make_rule(layer, match={"name": ["a"]}, when={"agent": "x"})
    counts = (PolicyVersion.objects.count(), Record.objects.count(), layer.version)
    for saved in (
        update_layer(layer, description="d", enabled=True, target=None, valid_from=None),
        update_rule(rule, match={"name": "a"}, position=0, **{"except": None}),
        policies.publish(actor=SYSTEM),
        policies.reorder_layers(actor=SYSTEM, scope="config", version=2, order=[layer.pk]),
        policies.roll_back(actor=SYSTEM, number=2),
    ):
        assert not saved.changed
    layer.refresh_from_db()
    assert counts == (PolicyVersion.objects.count(), Record.objects.count(), layer.version)


@pytest.mark.parametrize(
    ("old", "new"), [([1], [True]), ([1], [1.0]), ([0], [False]), ([1e16], [10**16])]
)
def test_numbers_and_booleans_that_python_calls_equal_are_a_change(old, new):
    rule = make_rule(make_layer(), examples=old)
    assert update_rule(rule, examples=new).changed
    assert dumps(Rule.objects.get().examples) == dumps(new)
    assert dumps(
        live_document()["layers"][0]["settings"]["rules"][rule.rule_id]["examples"]
    ) == dumps(new)


def test_going_back_to_an_earlier_content_is_a_new_version_of_the_same_document():
    layer = make_layer(description="a")
    first = live_version()
    update_layer(layer, description="b")
    layer.refresh_from_db()
    update_layer(layer, description="a")
    again = live_version()
    assert (again.number, again.document_id) == (3, first.document_id)
    assert Document.objects.count() == 2


def test_rows_that_were_changed_behind_our_back_go_live_with_the_next_publication():
    make_layer()
    Layer.objects.update(description="by hand")
    saved = policies.publish(actor=SYSTEM)
    assert (saved.changed, live_document()["layers"][0]["settings"]["description"]) == (
        True,
        "by hand",
    )
    assert Record.objects.newest_first()[0].kind == "publish"


# --- layers --------------------------------------------------------------------------------------


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


# --- rules ---------------------------------------------------------------------------------------


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


# --- lost updates --------------------------------------------------------------------------------


def test_a_change_of_a_rule_counts_its_layer_up():
    layer = make_layer()
    rule = make_rule(layer)
    assert layer.version == 2
    update_rule(rule, reason="x")
    layer.refresh_from_db()
    assert layer.version == 3


def test_a_save_of_what_somebody_else_changed_is_refused():
    layer = make_layer()
    seen = layer.version
    rule = make_rule(layer)
    common: dict[str, Any] = {"actor": SYSTEM, "version": seen}
    for late in (
        lambda: policies.update_layer(layer=layer.pk, values={"enabled": False}, **common),
        lambda: policies.delete_layer(layer=layer.pk, **common),
        lambda: policies.update_rule(rule=rule.pk, values={"enabled": False}, **common),
        lambda: policies.delete_rule(rule=rule.pk, **common),
        lambda: policies.reorder_rules(layer=layer.pk, order=[rule.pk], **common),
    ):
        with pytest.raises(Stale) as caught:
            late()
        assert (caught.value.expected, caught.value.found) == (1, 2)
    assert PolicyVersion.objects.count() == 2


def test_an_order_of_layers_is_refused_once_anybody_changed_the_policy():
    layers = [make_layer(name) for name in "ab"]
    order = [layers[1].pk, layers[0].pk]
    make_rule(layers[0])
    with pytest.raises(Stale) as caught:
        policies.reorder_layers(actor=SYSTEM, scope="config", version=2, order=order)
    assert (caught.value.expected, caught.value.found) == (2, 3)
    assert [layer.name for layer in Layer.objects.in_order()] == ["a", "b"]


def test_what_is_not_there_is_not_found():
    for missing in (
        lambda: policies.update_layer(actor=SYSTEM, layer=9, version=1, values={}),
        lambda: policies.create_rule(actor=SYSTEM, layer=9, values={"effect": "deny"}),
        lambda: policies.update_rule(actor=SYSTEM, rule=9, version=1, values={}),
        lambda: policies.roll_back(actor=SYSTEM, number=9),
        lambda: policies.version(number=9),
    ):
        with pytest.raises(NotFound):
            missing()


# --- faults of the database ----------------------------------------------------------------------


def everything():
    tables = (Layer, Rule, Document, PolicyVersion, PolicyState, Record, RecordBody)
    return [list(table.objects.order_by("pk").values()) for table in tables]


class Failing:
    """Lets some statements pass, and fails the next one."""

    def __init__(self, passing):
        self.left = passing

    def __call__(self, execute, *arguments):
        self.left -= 1
        if self.left == -1:
            raise OperationalError
        return execute(*arguments)


@pytest.mark.django_db(transaction=True)
def test_a_database_that_fails_at_any_statement_leaves_the_policy_as_it_was():
    layer = make_layer()
    rule, _ = make_rule(layer, id="a"), make_rule(layer, id="b")
    before = everything()
    for passing in count():
        try:
            with connection.execute_wrapper(Failing(passing)):
                update_rule(rule, reason="x", position=1)
            break
        except OperationalError:
            assert everything() == before
    assert (passing > 15, rule_ids(layer)) == (True, ["b", "a"])
    numbers = Record.objects.order_by("id").values_list("writer_n", flat=True)
    assert list(numbers) == list(range(numbers[0], numbers[0] + 4))


# --- cost ----------------------------------------------------------------------------------------


def test_reading_and_saving_cost_the_same_for_one_rule_and_for_five_hundred(
    django_assert_num_queries,
):
    layer = make_layer()
    first = make_rule(layer, id="first")

    def check_cost():
        layer.refresh_from_db()
        with django_assert_num_queries(2):
            policies.working_document()
        # Lock, layers, rules; rule, layer; two for each of document, version and record; the
        # document read again to compile it; the state; and a savepoint around it all.
        with django_assert_num_queries(15):
            policies.update_rule(
                actor=SYSTEM,
                rule=first.pk,
                version=layer.version,
                values={"reason": str(layer.version)},
            )

    check_cost()
    more = [
        Rule(layer=layer, rule_id=f"r{n}", effect="deny", match={"name": f"t{n}"}, position=n)
        for n in range(1, 500)
    ]
    Rule.objects.bulk_create(more)
    policies.publish(actor=SYSTEM)
    check_cost()
    assert len(live_document()["layers"][0]["policy"]["rules"]) == 500
