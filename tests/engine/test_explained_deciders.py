"""Explanations name what decided: the rule, default or declaration, marked once."""

import pytest

from tests.engine.explained import ORDERED, layer, rules_of, told
from toolpolicy.engine.documents import FORMAT, parse_policy
from toolpolicy.engine.evaluate import Judged, judge
from toolpolicy.engine.explanation import explain
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.words import Approval, Surface

DENY, ALLOW = {"id": "d", "effect": "deny"}, {"id": "a", "effect": "allow"}
ASK, AUTO = {"id": "q", "effect": "require_approval"}, {"id": "w", "effect": "auto_approve"}
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
BOUND = {"may_waive_approval": False}
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


def test_an_allow_that_opens_nothing_is_not_the_decider():
    shut = [layer(ALLOW, name="a"), layer(DENY | {"match": {"name": "y"}}, name="b")]
    assert told(shut, {"name": "x"})["decider"]["kind"] == "nothing"
    opened = layer({"effect": "hide", "match": {}}, ALLOW, name="c", policy={"default": "deny"})
    decider = told([opened], {"name": "x"})["decider"]
    assert (decider["layer"], decider["rule"], decider["index"]) == ("c", "a", 1)
