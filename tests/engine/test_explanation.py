"""Explanations: every rule says whether it matched and why not; the decider is marked once."""

import pytest

from toolpolicy.engine.documents import FORMAT, parse_policy
from toolpolicy.engine.evaluate import Judged, judge
from toolpolicy.engine.explanation import explain, explain_stop
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Approval, ReasonCode, Surface


def layer(*rules, name="base", scope="config", combining="deny_overrides", **rest):
    policy = {"name": name, "rules": list(rules), **rest.pop("policy", {})}
    return {"scope": scope, "position": 0, "combining": combining, "policy": policy, **rest}


def told(layers, subject, args=ABSENT, *, surface="call", context=None, floor=Approval.DEFAULT):
    policy = parse_policy({"format": FORMAT, "layers": layers})
    judged = [Judged(parse_subject(subject), args, floor)]
    decision = judge(policy, judged, context or {}, Surface(surface), None)
    return explain(policy, judged, context or {}, decision, now=None)


def rules_of(explanation):
    [subject] = explanation["subjects"]
    return [rule for entry in subject["layers"] for rule in entry.get("rules", [])]


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


DENY, ALLOW = {"id": "d", "effect": "deny"}, {"id": "a", "effect": "allow"}
ASK, AUTO = {"id": "q", "effect": "require_approval"}, {"id": "w", "effect": "auto_approve"}
ORDERED = {"combining": "last_match", "name": "list"}
DECIDERS = [
    ([layer(ALLOW, DENY)], {}, "rule", "d"),
    ([layer(policy={"default": "deny"})], {}, "layer_default", None),
    ([layer(ALLOW, policy={"default": "deny"})], {}, "rule", "a"),
    ([layer(AUTO, ASK)], {}, "rule", "q"),
    ([layer(AUTO)], {"hints": {"needs_approval": True}}, "rule", "w"),
    ([], {"hints": {"needs_approval": True}}, "declared", None),
    ([], {}, "nothing", None),
    ([layer({"id": "o", "match": {"name": "*"}, "mode": "off"}, **ORDERED)], {}, "rule", "o"),
    ([layer({"id": "k", "match": {"name": "*"}, "mode": "ask"}, **ORDERED)], {}, "rule", "k"),
    ([layer({"id": "n", "match": {"name": "*"}, "mode": "on"}, **ORDERED)], {}, "rule", "n"),
    ([layer(**ORDERED)], {"default_permission": "off"}, "tool_default", None),
    ([layer(**ORDERED)], {"default_permission": "ask"}, "tool_default", None),
]


LIST = [
    {"id": "k", "match": {"name": "*"}, "mode": "ask"},
    {"id": "n", "match": {"name": "*"}, "mode": "on"},
]
BOUND, FREE = {"may_waive_approval": False}, {"may_waive_approval": True}
DECIDERS += [
    # An auto_approve that may not waive yields nothing, so it is not what decided.
    ([layer(AUTO, settings=BOUND)], {}, "nothing", None),
    ([layer(AUTO, name="a", settings=BOUND), layer(AUTO | {"id": "z"})], {}, "rule", "z"),
    # An `on` that may waive overrules the `ask` before it; one that may not leaves it standing.
    ([layer(*LIST, **ORDERED)], {}, "rule", "n"),
    ([layer(*LIST, **ORDERED, settings=BOUND)], {}, "rule", "k"),
    ([layer(*LIST, **ORDERED), layer(ASK)], {}, "rule", "q"),
    ([layer(ASK, settings={"observe": True})], {}, "nothing", None),
    ([layer(policy={"default": "deny"}, settings={"enabled": False})], {}, "nothing", None),
    (
        [layer(ASK, ASK | {"id": "q2"}, settings={"rules": {"q": {"observe": True}}})],
        {},
        "rule",
        "q2",
    ),
    (
        [layer(LIST[1], **ORDERED, settings={"observe": True})],
        {"default_permission": "off"},
        "nothing",
        None,
    ),
    # An `on` that may not waive decides where the list would refuse or ask without it.
    ([layer(LIST[1], **ORDERED, settings=BOUND)], {"default_permission": "off"}, "rule", "n"),
    ([layer(LIST[1], **ORDERED, settings=BOUND)], {"default_permission": "on"}, "nothing", None),
    (
        [
            layer(*LIST, **ORDERED),
            layer(
                {"id": "m", "match": {"name": "*"}, "mode": "on"},
                scope="session",
                target="*",
                combining="last_match",
                name="toggles",
            ),
        ],
        {},
        "rule",
        "n",
    ),
]


@pytest.mark.parametrize(("layers", "declared", "kind", "rule"), DECIDERS)
def test_the_decider_is_named_and_marked_once(layers, declared, kind, rule):
    explanation = told(layers, {"name": "x", **declared}, {}, context={"session": "s"})
    decider = explanation["decider"]
    assert (decider["kind"], decider.get("rule")) == (kind, rule)
    [subject] = explanation["subjects"]
    marked = [step["rule"] for step in rules_of(explanation) if step["decider"]]
    marked += [None for entry in subject["layers"] if entry["decider"]]
    assert marked == ([] if decider.get("layer") is None else [rule])


@pytest.mark.parametrize("layers", [[], [layer(AUTO)], [layer(*LIST, **ORDERED)]])
def test_what_the_registry_asks_for_is_said(layers):
    explanation = told(layers, {"name": "x"}, {}, floor=Approval.REQUIRED)
    assert explanation["decider"]["kind"] == "registry"


@pytest.mark.parametrize(
    ("rules", "declared", "kind", "subject"),
    [
        ([ASK | {"match": {"name": "y"}}], {}, "rule", 1),
        ([AUTO | {"match": {"name": "y"}}], {}, "rule", 1),
        ([], {"hints": {"needs_approval": True}}, "declared", 1),
        ([DENY | {"match": {"name": "y"}}], {}, "rule", 1),
        ([ASK], {}, "rule", 0),
        ([], {}, "nothing", 0),
    ],
)
def test_the_decider_of_a_call_is_about_the_subject_that_decided(rules, declared, kind, subject):
    policy = parse_policy({"format": FORMAT, "layers": [layer(*rules)]})
    tools = ({"name": "x"}, {"name": "y", **declared})
    judged = [Judged(parse_subject(tool), {}) for tool in tools]
    decision = judge(policy, judged, {}, Surface.CALL, None)
    decider = explain(policy, judged, {}, decision, now=None)["decider"]
    assert (decider["kind"], decider["subject"]) == (kind, subject)
    assert decider["tool"] == "xy"[subject]


def test_a_rule_that_opens_a_later_subject_alone_is_the_decider():
    rule = {"id": "n", "match": {"name": "y"}, "mode": "on"}
    entry = layer(rule, **ORDERED, settings=BOUND)
    policy = parse_policy({"format": FORMAT, "layers": [entry]})
    tools = ({"name": "x", "default_permission": "on"}, {"name": "y", "default_permission": "off"})
    judged = [Judged(parse_subject(tool), {}) for tool in tools]
    decision = judge(policy, judged, {}, Surface.CALL, None)
    decider = explain(policy, judged, {}, decision, now=None)["decider"]
    assert (decider["kind"], decider["rule"], decider["tool"]) == ("rule", "n", "y")


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


def test_an_allow_that_opens_nothing_is_not_the_decider():
    shut = [layer(ALLOW, name="a"), layer(DENY | {"match": {"name": "y"}}, name="b")]
    assert told(shut, {"name": "x"})["decider"]["kind"] == "nothing"
    opened = layer({"effect": "hide", "match": {}}, ALLOW, name="c", policy={"default": "deny"})
    decider = told([opened], {"name": "x"})["decider"]
    assert (decider["layer"], decider["rule"], decider["index"]) == ("c", "a", 1)


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
