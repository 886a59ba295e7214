"""Explanations: every rule says whether it matched and why not, and each reader gets a sentence."""

import pytest

from tests.engine.explained import ORDERED, layer, rules_of, told
from toolpolicy.engine.explanation import explain_stop
from toolpolicy.engine.words import ReasonCode

STEPS = [
    ("matches", {"name": "x*"}, {}, None, None),
    ("no_match", {"name": "y*"}, {}, "name", "x1"),
    ("no_match", {"tags": "b"}, {"tags": ["a", "c"]}, "tags", ["a", "c"]),
    ("no_match", {"category": ["skill"]}, {"category": "system"}, "category", "system"),
    ("no_match", {"permission_at_least": "Write"}, {"permission": "None"}, "permission", "None"),
    ("unreadable", {"permission_at_most": "Write"}, {}, "permission", None),
    ("unreadable", {"side_effects": ["payment"]}, {}, "side_effects", None),
    ("unreadable", {"hints": {"destructive": True}}, {}, "hints.destructive", None),
    ("no_match", {"arg": {"pointer": "/a", "value": "1"}}, {}, "arg /a", "2"),
    ("no_match", {"arg": {"pointer": "/no", "value": "1"}}, {}, "arg /no", None),
    (
        "unreadable",
        {"arg": {"pointer": "/a/b", "value": "1"}},
        {},
        "arg /a/b",
        "(cannot be entered)",
    ),
    (
        "unreadable",
        {"arg": {"pointer": "", "value": "1"}},
        {},
        "arg (whole)",
        "(an object with 1 member)",
    ),
]


@pytest.mark.parametrize(("result", "match", "declared", "field", "actual"), STEPS)
def test_a_rule_says_which_field_failed_and_what_was_there(result, match, declared, field, actual):
    rule = {"id": "r", "effect": "deny", "match": match}
    [step] = rules_of(told([layer(rule)], {"name": "x1", **declared}, {"a": "2"}))
    assert (step["result"], step.get("field"), step.get("actual")) == (result, field, actual)


def test_one_definite_no_is_named_before_what_could_not_be_read():
    match = {"hints": {"destructive": True}, "name": "y"}
    [step] = rules_of(told([layer({"effect": "deny", "match": match})], {"name": "x"}, {}))
    assert (step["result"], step["field"]) == ("no_match", "name")


def test_a_fail_safe_match_names_the_fields_that_could_not_be_read():
    rule = {"effect": "deny", "match": {"hints": {"destructive": True}}}
    strict = layer(rule, settings={"fail_safe": True})
    [step] = rules_of(told([strict], {"name": "x"}, {}))
    assert (step["result"], step["unreadable"]) == ("matches", ["hints.destructive"])


def test_an_exception_that_carves_out_is_named():
    rule = {"effect": "deny", "match": {}, "except": {"family": "git*"}}
    [step] = rules_of(told([layer(rule)], {"name": "x", "family": "github"}, {}))
    assert (step["result"], step["field"], step["actual"]) == (
        "no_match",
        "except family",
        "github",
    )


def test_an_empty_exception_carves_everything_out():
    [step] = rules_of(told([layer({"effect": "deny", "except": {}})], {"name": "x"}, {}))
    assert (step["result"], step["field"]) == ("no_match", "except everything")


def test_surface_and_context_are_named():
    rules = [
        {"effect": "deny", "on": ["catalog"]},
        {"effect": "deny", "when": {"channel": "telegram*"}},
    ]
    steps = rules_of(told([layer(*rules)], {"name": "x"}, {}, context={"channel": "slack"}))
    assert [(s["field"], s["actual"]) for s in steps] == [("on", "call"), ("when channel", "slack")]


def test_on_a_listing_a_rule_waits_for_arguments():
    rule = {"effect": "deny", "match": {"arg": {"pointer": "/a", "value": "*"}}}
    [step] = rules_of(told([layer(rule)], {"name": "x"}, surface="catalog"))
    assert step["result"] == "waits_for_arguments"


def test_a_call_without_arguments_says_that_there_are_none():
    rule = {"effect": "deny", "match": {"arg": {"pointer": "/a", "value": "*"}}}
    [step] = rules_of(told([layer(rule)], {"name": "x"}))
    assert (step["result"], step["actual"]) == ("unreadable", "(no arguments)")


def test_switched_off_expired_and_observing_rules_are_told_apart():
    rules = [{"id": name, "effect": "deny"} for name in ("off", "watching")]
    settings = {"rules": {"off": {"enabled": False}, "watching": {"observe": True}}}
    steps = rules_of(told([layer(*rules, settings=settings)], {"name": "x"}, {}))
    assert [step["result"] for step in steps] == ["switched_off", "matches"]
    assert [step.get("observing") for step in steps] == [None, True]


def test_a_layer_that_does_not_apply_says_why():
    far = layer(name="far", scope="agent", target=["support-*"])
    [subject] = told([far], {"name": "x"}, {}, context={"agent": "coder"})["subjects"]
    [entry] = subject["layers"]
    assert not entry["applies"]
    assert (entry["because"], entry["target"], entry["actual"]) == ("target", "support-*", "coder")


def test_a_layer_that_is_switched_off_says_so():
    [subject] = told([layer(settings={"enabled": False})], {"name": "x"})["subjects"]
    [entry] = subject["layers"]
    assert (entry["applies"], entry["because"]) == (False, "disabled")
    assert "target" not in entry


def test_what_was_refused_before_any_rule_was_read_is_explained():
    told_why = explain_stop("x", ReasonCode.FROZEN)
    assert told_why["decider"] == {"subject": 0, "tool": "x", "kind": "frozen"}
    assert told_why["subjects"] == []
    assert told_why["sentences"] == {
        "agent": "Tool 'x' is not permitted: it is frozen.",
        "person": "`x` is denied: it is frozen.",
        "admin": "No rule was read. Decided by: frozen, it is frozen.",
    }


@pytest.mark.parametrize(
    ("match", "declared", "result", "field"),
    [
        ({"verb": "get"}, {"verb": "list"}, "no_match", "verb"),
        ({"readOnly": True}, {}, "unreadable", "hints.read_only"),
        ({"readOnly": True}, {"hints": {"read_only": False}}, "no_match", "hints.read_only"),
        ({"verb": "get"}, {"verb": "get"}, "matches", None),
    ],
)
def test_an_ordered_rule_says_which_field_failed(match, declared, result, field):
    entry = layer({"match": match, "mode": "on"}, **ORDERED)
    [step] = rules_of(told([entry], {"name": "x", **declared}))
    assert (step["result"], step.get("field")) == (result, field)


def test_what_could_not_be_read_inside_an_exception_is_named_too():
    rule = {
        "effect": "deny",
        "match": {},
        "except": {"category": ["skill"], "exposure": ["direct"]},
    }
    carved = {"name": "x", "exposure": "direct"}
    [step] = rules_of(told([layer(rule, settings={"fail_safe": True})], carved))
    assert (step["result"], step["unreadable"]) == ("matches", ["except category"])


def test_each_reader_gets_one_sentence():
    rule = {"id": "no-x", "effect": "deny", "match": {"name": "x"}, "reason": "not today"}
    sentences = told([layer(rule)], {"name": "x"}, {})["sentences"]
    assert sentences == {
        "agent": "Tool 'x' is not permitted by tool rules (rule 'no-x') in 'base': not today.",
        "person": "`x` is denied: the rule `no-x` (number 1) of the config layer `base`, which says"
        " “not today”.",
        "admin": "1 of 1 layers apply, 1 of 1 rules match. Decided by: the rule `no-x` (number 1)"
        " of the config layer `base`, which says “not today”.",
    }


def test_texts_that_cannot_be_printed_are_escaped_and_long_ones_cut():
    rule = {"effect": "deny", "match": {"arg": {"pointer": "/a", "value": "no"}}}
    [step] = rules_of(told([layer(rule)], {"name": "x"}, {"a": "y" * 500}))
    assert len(step["actual"]) == 200
    denied = {"effect": "deny", "match": {}, "reason": "\u202eevil\n"}
    sentence = told([layer(denied)], {"name": "x"}, {})["sentences"]["agent"]
    assert sentence.isprintable()


MET = [
    (
        layer(
            {
                "effect": "deny",
                "match": {"name": "x*", "arg": {"pointer": "/a", "value": "2"}},
                "when": {"channel": "s*"},
            }
        ),
        [("name", "x1"), ("arg /a", "2"), ("channel", "slack")],
    ),
    (
        layer(
            {"mode": "off", "match": {"name": "x*", "destructive": True}},
            combining="last_match",
        ),
        [("name", "x1"), ("hints.destructive", True)],
    ),
]


@pytest.mark.parametrize(("entry", "met"), MET)
def test_the_rule_that_decides_says_what_it_met_and_no_other_does(entry, met):
    other = layer({"effect": "hide"}, name="a")
    declared = {"name": "x1", "hints": {"destructive": True}}
    steps = rules_of(told([other, entry], declared, {"a": "2"}, context={"channel": "slack"}))
    assert [[(one["field"], one["actual"]) for one in step.get("met", [])] for step in steps] == [
        [],
        met,
    ]
