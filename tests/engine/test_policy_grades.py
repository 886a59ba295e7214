"""What is said of changes that everybody can judge, and of those that nobody can."""

from typing import Any

import pytest

from toolpolicy.engine.documents import parse_policy
from toolpolicy.engine.policy_grades import Direction, grade_layer, grade_rule
from toolpolicy.engine.values import Layer

Wire = dict[str, Any]
LOOSENS, TIGHTENS = Direction.LOOSENS, Direction.TIGHTENS
OBSERVE = {"rules": {"r": {"observe": True}}}


def layer(*rules: Wire, **members: Any) -> Layer:
    """Return a layer of rules with the id `r`; `default` and the settings by their names."""
    scoped: Wire = {name: members.pop(name) for name in ("scope", "target") if name in members}
    default: Wire = {"default": members.pop("default")} if "default" in members else {}
    ordered = any("mode" in rule for rule in rules)
    entry = {
        "scope": "config",
        "position": 0,
        "combining": "last_match" if ordered else "deny_overrides",
        **scoped,
        "settings": members,
        "policy": {"name": "l", **default, "rules": [{"match": {}, **r, "id": "r"} for r in rules]},
    }
    return parse_policy({"format": "toolpolicy/1", "layers": [entry]}).layers[0]


def reverse(grade: Direction | None) -> Direction | None:
    return {LOOSENS: TIGHTENS, TIGHTENS: LOOSENS, None: None}[grade]


def deny(**members: Any) -> Wire:
    return {"effect": "deny", **members}


def deny_of(**match: Any) -> Wire:
    return deny(match=match)


ARG = {"pointer": "/p", "value": "x"}
CHANGED = [
    (deny_of(name="a"), deny_of(name=["a", "b"]), TIGHTENS),
    (deny_of(name=["a", "b"]), deny_of(name="b"), LOOSENS),
    (deny_of(name="a"), deny_of(name="b"), None),
    (deny_of(name="a"), deny_of(name="a", family="f"), LOOSENS),
    (deny_of(name="a"), deny_of(family="a"), None),
    (deny_of(arg=ARG), deny_of(arg={"pointer": "/q", "value": "x"}), None),
    (deny_of(arg=ARG), deny_of(arg={**ARG, "value": ["x", "y"]}), TIGHTENS),
    (deny_of(tags="a"), deny_of(tags=["a", "b"]), TIGHTENS),
    (deny_of(category=["system"]), deny_of(category=["skill", "system"]), TIGHTENS),
    (deny_of(category=["system"]), deny_of(category=["skill"]), None),
    (deny_of(side_effects=["payment"]), deny_of(side_effects=["network", "payment"]), TIGHTENS),
    (deny_of(side_effects=["payment"]), deny_of(side_effects=["network"]), None),
    (deny_of(permission_at_least="Write"), deny_of(permission_at_least="ReadOnly"), TIGHTENS),
    (deny_of(permission_at_least="Write"), deny_of(permission_at_least="Execute"), LOOSENS),
    (deny_of(permission_at_most="Write"), deny_of(permission_at_most="Execute"), TIGHTENS),
    (deny_of(permission_at_most="Write"), deny_of(permission_at_least="Write"), None),
    (deny_of(hints={"read_only": True}), deny_of(hints={"read_only": False}), None),
    (deny(), deny(**{"except": {"name": "a"}}), LOOSENS),
    (deny(**{"except": {"name": "a"}}), deny(**{"except": {"name": ["a", "b"]}}), LOOSENS),
    (deny(**{"except": {}}), deny(**{"except": {"name": "a"}}), TIGHTENS),
    (deny(when={"agent": "a"}), deny(), TIGHTENS),
    (deny(when={"agent": "a"}), deny(when={"channel": "a"}), None),
    (deny(on=["call"]), deny(), TIGHTENS),
    (deny(on=["call"]), deny(on=["catalog"]), None),
    (deny(), {"effect": "require_approval"}, LOOSENS),
    (deny_of(name="a"), {"effect": "require_approval"}, None),
    ({"effect": "hide"}, deny(), TIGHTENS),
    ({"effect": "hide"}, {"effect": "require_approval"}, None),
    ({"effect": "allow"}, {"effect": "auto_approve"}, None),
    ({"effect": "allow"}, deny_of(name="a"), TIGHTENS),
    ({"effect": "allow", "match": {"name": "a"}}, {"effect": "allow"}, LOOSENS),
    (deny(reason="old"), deny(reason="new"), None),
    ({"mode": "off", "match": {"name": "*"}}, {"mode": "on", "match": {"name": "*"}}, LOOSENS),
    ({"mode": "off", "match": {"name": "*"}}, {"mode": "ask", "match": {"name": "*"}}, None),
    ({"mode": "off", "match": {"name": "*"}}, {"mode": "on", "match": {"name": "a"}}, None),
]


@pytest.mark.parametrize(("before", "after", "grade"), CHANGED)
def test_a_changed_rule_is_graded_where_its_text_proves_it(before, after, grade):
    ordered = "mode" in before
    old, new = (layer(rule, **({} if ordered else {"default": "deny"})) for rule in (before, after))
    assert grade_rule(new, old.rules[0], new.rules[0]) is grade
    assert grade_rule(old, new.rules[0], old.rules[0]) is reverse(grade)


@pytest.mark.parametrize(
    ("effect", "grade"),
    [
        ("deny", TIGHTENS),
        ("hide", TIGHTENS),
        ("require_approval", TIGHTENS),
        ("allow", LOOSENS),
        ("auto_approve", LOOSENS),
    ],
)
def test_a_rule_that_came_or_went_is_graded_by_its_effect(effect, grade):
    new = layer({"effect": effect}, default="deny")
    assert grade_rule(new, None, new.rules[0]) is grade
    assert grade_rule(new, new.rules[0], None) is reverse(grade)


def test_what_enforces_nothing_is_not_graded():
    rule = layer(deny()).rules[0]
    for quiet in (layer(observe=True), layer(enabled=False)):
        assert grade_rule(quiet, None, rule) is None
        assert grade_layer(quiet, None) is None
    observing = layer(deny(), **OBSERVE)
    assert grade_rule(observing, None, observing.rules[0]) is None
    assert grade_rule(observing, observing.rules[0], rule) is TIGHTENS


WAIVES = {"effect": "auto_approve"}
WAIVING = {"scope": "agent", "may_waive_approval": True}
LAYERS = [
    (layer(deny()), layer(deny(), default="deny"), TIGHTENS),
    (layer(), layer(fail_safe=True), TIGHTENS),
    (layer(may_waive_approval=False), layer(), LOOSENS),
    (layer(fail_safe=True), layer(default="deny"), None),
    (layer(), layer(description="words"), None),
    (layer(), layer(observe=True), None),
    (layer(deny()), layer(observe=True), LOOSENS),
    (layer(default="deny"), None, LOOSENS),
    (layer(WAIVES), layer(WAIVES, observe=True), None),
    (layer(WAIVES, **OBSERVE), layer(enabled=False), None),
    (layer(WAIVES, **OBSERVE, default="deny"), layer(enabled=False), LOOSENS),
    (layer(scope="agent", target="a"), layer(scope="agent", target=["a", "b"]), TIGHTENS),
    (layer(scope="agent", target="a"), layer(scope="channel", target="a"), None),
    (layer(WAIVES, scope="agent", target="a"), layer(WAIVES, scope="agent", target=["a"]), None),
    (layer(WAIVES, scope="agent", target="a"), layer(scope="agent", target=[]), LOOSENS),
    (layer(WAIVES, **WAIVING, target="a"), layer(**WAIVING, target=[]), None),
    (layer(), layer(valid_until="2030-01-01T00:00:00Z"), LOOSENS),
    (layer(valid_from="2030-01-01T00:00:00Z"), layer(), TIGHTENS),
    (layer({"mode": "off", "match": {"name": "*"}}), layer(deny()), None),
    (layer({"mode": "off", "match": {"name": "*"}}), None, None),
]


@pytest.mark.parametrize(("before", "after", "grade"), LAYERS)
def test_a_layer_is_graded_where_its_kind_proves_it(before, after, grade):
    assert grade_layer(before, after) is grade
    assert grade_layer(after, before) is reverse(grade)
