"""Laws of what is proven of an edit without trying a call, and of which tools a rule is about.

- An edit that only narrows shows, admits and waives nothing that was not before.
- An edit that changes nothing changes nothing.
- A rule reaches every tool that it fires on; adding it changes no answer about another.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from tests.engine.changes import never_wider
from tests.strategies import World, law, worlds
from toolpolicy.engine.decision import Decision
from toolpolicy.engine.documents import parse_layers
from toolpolicy.engine.narrowing import AnyRule, changes_nothing, only_narrows
from toolpolicy.engine.reach import reach
from toolpolicy.engine.values import Layer, OrderedRule, Policy, Rule, TextIs
from toolpolicy.engine.words import Effect, Mode, Surface


def edits(rule: AnyRule, number: int) -> Iterator[AnyRule]:
    """Yield the rule as editors change it."""
    yield replace(rule, when=rule.when[1:])
    yield replace(rule, settings=replace(rule.settings, enabled=not rule.settings.enabled))
    yield replace(rule, settings=replace(rule.settings, observe=False, expires_at=None))
    if isinstance(rule, OrderedRule):
        yield from (replace(rule, mode=mode) for mode in Mode)
        yield replace(rule, match=rule.match[-1:])
        return
    yield replace(rule, match=rule.match[1:])
    yield from (replace(rule, effect=effect) for effect in Effect)
    yield replace(rule, exception=None)
    yield replace(rule, exception=rule.match[:1])
    yield replace(rule, on=())
    yield replace(rule, on=(Surface.CALL,))
    yield replace(rule, match=tuple(with_one_more(part) for part in rule.match))
    yield replace(rule, match=(*rule.match, TextIs("name", ("a*", "b")[: 1 + number % 2])))


def with_one_more(condition: Any) -> Any:
    patterns = getattr(condition, "patterns", None)
    return condition if patterns is None else replace(condition, patterns=(*patterns, "b*"))


class Edit(NamedTuple):
    """A layer, a rule of it before and after (None: there is none), and the rule's place."""

    layer: Layer
    before: AnyRule | None
    after: AnyRule | None
    place: tuple[int, int]


def changed(world: World) -> Iterator[Edit]:
    places = [
        (n, m) for n, layer in enumerate(world.policy.layers) for m in range(len(layer.rules))
    ]
    if not places:
        return
    number, at = places[world.number % len(places)]
    layer = world.policy.layers[number]
    rule = layer.rules[at]
    pairs: list[tuple[AnyRule | None, AnyRule | None]] = [
        way for other in edits(rule, world.number) for way in ((rule, other), (other, rule))
    ]
    for before, after in (*pairs, (rule, None), (None, rule)):
        yield Edit(layer, before, after, (number, at))


def policy_with(policy: Policy, place: tuple[int, int], rule: AnyRule | None) -> Policy:
    number, at = place
    layer: Any = policy.layers[number]
    rules = (*layer.rules[:at], *([] if rule is None else [rule]), *layer.rules[at + 1 :])
    layers = list(policy.layers)
    layers[number] = replace(layer, rules=rules)
    return replace(policy, layers=tuple(layers))


@law(world=worlds())
def test_what_is_proven_to_narrow_never_widens_and_what_changes_nothing_changes_nothing(world):
    for edit in changed(world):
        judged = (edit.layer, edit.before, edit.after)
        if not only_narrows(*judged):
            continue
        nothing = changes_nothing(*judged)
        old = policy_with(world.policy, edit.place, edit.before)
        new = policy_with(world.policy, edit.place, edit.after)
        for question in world.questions:
            for surface in Surface:
                was = question.judge(old, surface=surface)
                now = question.judge(new, surface=surface)
                assert never_wider(now, was)
                if now.callable:
                    assert now.needs_approval >= was.needs_approval
                if nothing:
                    assert said(now) == said(was)


def said(decision: Decision) -> tuple[object, ...]:
    return decision.outcome, decision.visible, decision.approval, decision.needs_approval


@law(world=worlds())
def test_a_rule_fires_on_no_tool_that_it_does_not_reach(world):
    subjects = [question.tool for question in world.questions]
    for number, layer in enumerate(world.policy.layers):
        reached = [set(found) for found in reach(layer, subjects)]
        for at, question in enumerate(world.questions):
            for surface in Surface:
                fired = question.judge(world.policy, surface=surface).fired
                for rule in (rule for place, rule in fired if place == number):
                    assert at in reached[rule]


STRICT = {"name": "a", "rules": []}


def rule_of(wire: dict[str, Any]) -> Rule:
    found = parse_layers([{"name": "a", "rules": [wire]}])[0].rules[0]
    assert isinstance(found, Rule)
    return found


DENY = {"effect": "deny", "match": {"name": "a*"}}
CASES: dict[str, tuple[dict[str, Any] | None, dict[str, Any] | None, bool]] = {
    "a new deny": (None, DENY, True),
    "a new approval": (None, {**DENY, "effect": "require_approval"}, True),
    "a deny removed": (DENY, None, False),
    "one pattern more": (DENY, {**DENY, "match": {"name": ["a*", "b*"]}}, True),
    "one pattern less": ({**DENY, "match": {"name": ["a*", "b*"]}}, DENY, False),
    "a condition more": (DENY, {**DENY, "match": {"name": "a*", "family": "x"}}, False),
    "a condition less": ({**DENY, "match": {"name": "a*", "tags": "x"}}, DENY, True),
    "an exception": (DENY, {**DENY, "except": {"tags": "x"}}, False),
    "an exception less": ({**DENY, "except": {"tags": "x"}}, DENY, True),
    "a wider exception": (
        {**DENY, "except": {"tags": "x"}},
        {**DENY, "except": {"tags": ["x", "y"]}},
        False,
    ),
    "fewer surfaces": (DENY, {**DENY, "on": ["call"]}, False),
    "every surface": ({**DENY, "on": ["call"]}, DENY, True),
    "a context more": (DENY, {**DENY, "when": {"channel": "x"}}, False),
    "a wider context": (
        {**DENY, "when": {"channel": "x"}},
        {**DENY, "when": {"channel": ["x", "y"]}},
        True,
    ),
    "approval becomes deny": ({**DENY, "effect": "require_approval"}, DENY, True),
    "deny becomes approval": (DENY, {**DENY, "effect": "require_approval"}, False),
    "a new waiver": (None, {**DENY, "effect": "auto_approve"}, False),
    "a waiver removed": ({**DENY, "effect": "auto_approve"}, None, True),
    "a waiver for fewer": (
        {"effect": "auto_approve", "match": {"side_effects": ["network", "payment"]}},
        {"effect": "auto_approve", "match": {"side_effects": ["network"]}},
        True,
    ),
    "a higher bound": (
        {"effect": "deny", "match": {"permission_at_least": "Write"}},
        {"effect": "deny", "match": {"permission_at_least": "Execute"}},
        False,
    ),
    "a lower bound": (
        {"effect": "deny", "match": {"permission_at_least": "Execute"}},
        {"effect": "deny", "match": {"permission_at_least": "Write"}},
        True,
    ),
    "a higher top": (
        {"effect": "deny", "match": {"permission_at_most": "Write"}},
        {"effect": "deny", "match": {"permission_at_most": "Execute"}},
        True,
    ),
    "another argument": (
        {"effect": "deny", "match": {"arg": {"pointer": "/a", "value": "x"}}},
        {"effect": "deny", "match": {"arg": {"pointer": "/b", "value": "x"}}},
        False,
    ),
    "more values of an argument": (
        {"effect": "deny", "match": {"arg": {"pointer": "/a", "value": "x"}}},
        {"effect": "deny", "match": {"arg": {"pointer": "/a", "value": ["x", "y"]}}},
        True,
    ),
    "another hint": (
        {"effect": "deny", "match": {"hints": {"destructive": True}}},
        {"effect": "deny", "match": {"hints": {"destructive": False}}},
        False,
    ),
    "another reason": (DENY, {**DENY, "reason": "because"}, True),
    "an allow where all is allowed": (None, {**DENY, "effect": "allow"}, True),
    "what excepts everything": (None, {**DENY, "except": {}}, True),
    "nothing": (None, None, True),
}


@pytest.mark.parametrize("name", CASES)
def test_an_edit_is_proven_to_narrow_or_it_is_not(name):
    before, after, narrows = CASES[name]
    layer = parse_layers([STRICT])[0]
    rules = [None if wire is None else rule_of(wire) for wire in (before, after)]
    assert only_narrows(layer, *rules) is narrows


def test_what_observes_or_is_off_changes_nothing():
    layer = parse_layers([STRICT])[0]
    rule = rule_of(DENY)
    assert changes_nothing(
        layer, None, replace(rule, settings=replace(rule.settings, observe=True))
    )
    off = replace(layer, settings=replace(layer.settings, enabled=False))
    assert changes_nothing(off, None, rule)
    assert not changes_nothing(layer, None, rule)
