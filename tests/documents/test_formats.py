"""Policies in other forms: what they mean, and every fault with its pointer (SPEC §4, §10)."""

from typing import Any

import pytest

from tests.engine.refusals import faults_of, message_of
from toolpolicy.engine.documents import FORMAT, dump_policy
from toolpolicy.engine.evaluate import evaluate
from toolpolicy.engine.formats import Form, Place, pick, preferences_layer, read_any
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.words import Scope

AGENT = Place(name="mine", scope=Scope.AGENT, target=("coder-*",))
RULE = {"match": {"name": "a"}, "mode": "on"}
LAYER = {"name": "a", "default": "deny", "rules": [{"effect": "allow", "match": {"name": "x"}}]}


def layers_of(document, place=None):
    return dump_policy(read_any(document, place).policy)["layers"]


def sources_of(document):
    return [(s.place, s.name, s.rules) for s in read_any(document).sources]


# --- the forms ------------------------------------------------------------------------------------


def test_a_policy_document_is_read_as_it_is():
    entry = {"scope": "agent", "target": "x", "position": 4, "combining": "deny_overrides",
             "policy": LAYER}  # fmt: skip
    document = {"format": FORMAT, "layers": [entry]}
    assert read_any(document).form is Form.POLICY
    assert layers_of(document) == [entry]
    rules = ("/layers/0/policy/rules/0",)
    assert sources_of(document) == [("/layers/0", "/layers/0/policy/name", rules)]


def test_tinytools_layers_become_config_layers_as_published():
    assert layers_of([LAYER, {"name": "b"}]) == [
        {"scope": "config", "position": 0, "combining": "deny_overrides", "policy": LAYER},
        {
            "scope": "config", "position": 1, "combining": "deny_overrides",
            "policy": {"name": "b", "default": "allow", "rules": []},
        },
    ]  # fmt: skip
    assert sources_of([LAYER]) == [("/0", "/0/name", ("/0/rules/0",))]
    assert read_any([]).policy.layers == ()


def test_layers_without_a_name_are_numbered_under_the_given_one():
    assert [layer["policy"]["name"] for layer in layers_of([{}, LAYER, {}])] == [
        "imported 1", "a", "imported 3",
    ]  # fmt: skip
    assert [layer["policy"]["name"] for layer in layers_of([{}])] == ["imported"]


def test_bare_layers_go_where_they_are_put_and_may_still_waive_approval_as_published():
    [layer] = layers_of([LAYER], AGENT)
    assert (layer["scope"], layer["target"], layer["policy"]["name"]) == ("agent", "coder-*", "a")
    assert layer["settings"] == {"may_waive_approval": True}


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_ordered_policy_becomes_one_layer(wrapped):
    rules = [{"match": {"name": "*"}, "mode": "ASK"}, {**RULE, "id": "x", "reason": "r"}]
    document = {"toolPolicy": rules} if wrapped else rules
    assert read_any(document).form is Form.ORDERED
    [layer] = layers_of(document, AGENT)
    assert layer == {
        "scope": "agent", "target": "coder-*", "position": 0, "combining": "last_match",
        "policy": {"name": "mine", "rules": [{**rules[0], "mode": "ask"}, rules[1]]},
    }  # fmt: skip
    at = "/toolPolicy" if wrapped else ""
    assert sources_of(document) == [("", "", (f"{at}/0", f"{at}/1"))]


def test_preferences_are_groups_then_names_in_the_order_of_their_keys_before_the_policy():
    document = {
        "toolPolicy": [RULE],
        "toolPreferences": {"mail": "allow", "calendar": " Deny ", "mail_send": "ask"},
    }
    [layer] = layers_of(document)
    said = [(*rule["match"].items(), rule["mode"]) for rule in layer["policy"]["rules"]]
    assert said == [
        (("group", "calendar"), "off"),
        (("group", "mail"), "on"),
        (("group", "mail_send"), "ask"),
        (("name", "calendar"), "off"),
        (("name", "mail"), "on"),
        (("name", "mail_send"), "ask"),
        (("name", "a"), "on"),
    ]
    keys = ["calendar", "mail", "mail_send"]
    [(_, _, rules)] = sources_of(document)
    assert rules == (*[f"/toolPreferences/{key}" for key in keys * 2], "/toolPolicy/0")
    assert layers_of({"toolPreferences": {}})[0]["policy"]["rules"] == []


def test_a_preference_for_a_name_beats_the_one_for_its_group():
    policy = read_any({"toolPreferences": {"mail": "off", "mail_read": "on"}}).policy
    read, send = (
        evaluate(policy, parse_subject({"name": name, "group": "mail"}), {}, "call", {})
        for name in ("mail_read", "mail_send")
    )
    assert (read.callable, send.callable) == (True, False)


def test_old_words_are_modes_in_preferences_alone():
    assert faults_of(read_any, [{**RULE, "mode": "allow"}]) == [("/0/mode", "bad_mode")]


def test_preferences_alone_make_a_layer():
    layer = preferences_layer({"mail": "off"}, AGENT)
    assert (layer.name, layer.settings.target, len(layer.rules)) == ("mine", ("coder-*",), 2)
    assert faults_of(preferences_layer, {"a": "b"}, AGENT) == [("/toolPreferences/a", "bad_mode")]


# --- what is wrong --------------------------------------------------------------------------------

WRONG: list[tuple[str, Any, list[tuple[str, str]]]] = [
    ("null", None, [("", "invalid")]),
    ("a string", "toolpolicy/1", [("", "invalid")]),
    ("an empty object", {}, [("/format", "invalid"), ("", "missing")]),
    ("a layer that is no object", [1, LAYER], [("/0", "invalid")]),
    ("a name twice", [LAYER, LAYER], [("/1/name", "duplicate")]),
    (
        "an id twice",
        [{"rules": [{"effect": "deny", "id": "x"}, {"effect": "deny", "id": "x"}]}],
        [("/0/rules/1/id", "duplicate")],
    ),
    (
        "several at once",
        [{"name": "a", "rule": []}, {"name": "b", "rules": [{"effect": "dney"}, {"match": 1}]}],
        [
            ("/0/rule", "unknown_member"),
            ("/1/rules/0/effect", "unknown_word"),
            ("/1/rules/1", "missing"),
            ("/1/rules/1/match", "invalid"),
        ],
    ),
    (
        "an ordered list",
        [RULE, {**RULE, "mode": "yes"}, {"match": {}, "mode": "on"}, {**RULE, "modes": 1}, 5],
        [
            ("/1/mode", "bad_mode"),
            ("/2/match", "empty_match"),
            ("/3/modes", "unknown_member"),
            ("/4", "invalid"),
        ],
    ),
    (
        "an id twice in an ordered list",
        [{**RULE, "id": "x"}, {**RULE, "id": "x"}],
        [("/1/id", "duplicate")],
    ),
    (
        "a policy and preferences of other kinds",
        {"toolPolicy": {}, "toolPreferences": []},
        [("/toolPreferences", "invalid"), ("/toolPolicy", "invalid")],
    ),
    (
        "preferences",
        {"toolPreferences": {"": "on", "a/b": "maybe", "c": True, "d": "on"}},
        [
            ("/toolPreferences/a~1b", "bad_mode"),
            ("/toolPreferences/c", "bad_mode"),
            ("/toolPreferences/", "empty_match"),
        ],
    ),
    ("a slip", {"toolpolicy": [RULE]}, [("/toolpolicy", "unknown_member")]),
]


@pytest.mark.parametrize(("document", "faults"), [c[1:] for c in WRONG], ids=[c[0] for c in WRONG])
def test_every_fault_is_named_with_its_pointer_into_what_was_given(document, faults):
    assert faults_of(read_any, document) == faults


def test_a_slip_is_told_the_nearest_word():
    assert "did you mean `toolPolicy`" in message_of(read_any, {"toolpolicy": []})
    assert "did you mean `rules`" in message_of(read_any, [{"rule": []}])
    assert "did you mean `deny`" in message_of(read_any, [{"rules": [{"effect": "dney"}]}])


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (Place(target=("x",)), "a config layer has no target"),
        (Place(scope=Scope.AGENT), "needs a target"),
        (Place(name=""), "needs a name"),
    ],
)
def test_a_place_that_cannot_be_is_refused(place, message):
    assert message in message_of(read_any, [RULE], place)


def test_a_policy_document_names_its_places_itself():
    document = {"format": FORMAT, "layers": []}
    assert "names scope, target and names" in message_of(read_any, document, Place())


def test_the_members_of_a_prompt_that_are_not_ours_are_its_own():
    own = {"model": "m", "tools": ["a"], "toolChoice": "auto"}
    assert pick({**own, "toolPolicy": []}) == ({"toolPolicy": []}, [])
    for slip in ("toolpolicy", "tool_policy", "toolPolicies", "toolPreference"):
        _, [fault] = pick({**own, "toolPolicy": [], slip: []})
        assert (fault.pointer, "did you mean" in fault.message) == (f"/{slip}", True)
    assert [fault.code for fault in pick(own)[1]] == ["missing"]
    assert [fault.code for fault in pick([])[1]] == ["invalid"]
