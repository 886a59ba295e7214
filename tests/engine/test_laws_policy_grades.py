"""A change that is said to tighten never loosens an answer, and the other way round.

The worlds are small and every question in them is asked, so that a change rarely goes unnoticed.
"""

import copy
from itertools import product
from typing import Any, Final

from tests.engine.changes import never_wider, set_on, set_on_rule, with_rules
from tests.growing import NOW, Choices
from tests.strategies import SEEDS, law
from toolpolicy.engine.decision import Decision
from toolpolicy.engine.documents import parse_policy
from toolpolicy.engine.evaluate import evaluate
from toolpolicy.engine.policy_grades import Direction, grade_layer, grade_rule
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.values import Policy
from toolpolicy.engine.words import SideEffect, Surface

Json = dict[str, Any]
LOOSENS, TIGHTENS = Direction.LOOSENS, Direction.TIGHTENS

NAMES: tuple[Any, ...] = ("a", "b", ["a", "b"], "*", [])
LEVELS: Final = ("ReadOnly", "Write", "Execute")
MATCHERS: Final = {
    "name": NAMES,
    "tags": ("a", ["a", "b"]),
    "category": (["system"], ["system", "skill"]),
    "permission_at_least": LEVELS,
    "permission_at_most": LEVELS,
    "side_effects": (["payment"], ["payment", "network"]),
    "hints": ({"read_only": True}, {"read_only": False}),
    "arg": ({"pointer": "/p", "value": "x"}, {"pointer": "/p", "value": ["x", "y"]}),
}
STARTS: Final = ("1999-01-01T00:00:00Z", "2000-01-01T00:00:00Z", "2080-01-01T00:00:00Z")
ENDS: Final = ("2081-01-01T00:00:00Z", "2090-01-01T00:00:00Z")
EFFECTS: Final = ("deny", "allow", "require_approval", "auto_approve", "hide")
ON: Final = (["call"], ["catalog"], ["call", "catalog"])
BARE: Final = ({"name": "a"}, {"name": "b", "tags": ["a"]})
TOLD: Final = tuple(
    {
        "name": name,
        "tags": ["b"],
        "category": "skill",
        "permission": level,
        "side_effects": {str(flag): flag is SideEffect.NETWORK for flag in SideEffect},
        "hints": {"read_only": level == "ReadOnly"},
    }
    for name, level in product("ab", LEVELS)
)
CONTEXTS: tuple[dict[str, str], ...] = ({}, {"agent": "a"}, {"agent": "b", "channel": "a"})
ARGUMENTS: tuple[Any, ...] = ({"p": "x"}, {"p": "y"}, {"p": "z"}, {}, {"p": ["x"]})
QUESTIONS: Final = [
    *product(map(parse_subject, (*BARE, *TOLD)), CONTEXTS, (Surface.CALL,), ARGUMENTS),
    *product(map(parse_subject, (*BARE, *TOLD)), CONTEXTS, (Surface.CATALOG,), (None,)),
]


def matcher(choices: Choices) -> Json:
    names = {choices.pick(list(MATCHERS)) for _ in range(1 + choices.number(2))}
    return {name: choices.pick(MATCHERS[name]) for name in sorted(names)}


def rule(choices: Choices) -> Json:
    return {
        "effect": choices.pick(EFFECTS),
        **choices.members(
            ("match", 0.5, lambda: matcher(choices)),
            ("except", 0.3, lambda: matcher(choices)),
            ("when", 0.2, lambda: {"agent": choices.pick(NAMES)}),
            ("on", 0.3, lambda: choices.pick(ON)),
        ),
    }


def layer(choices: Choices, name: str, most: int) -> Json:
    rules = [{"match": {}, **rule(choices)} for _ in range(choices.number(most + 1))]
    scope = choices.pick(("config", "config", "agent"))
    return {
        "scope": scope,
        **({} if scope == "config" else {"target": choices.pick(NAMES)}),
        "position": 0,
        "combining": "deny_overrides",
        "settings": settings(choices),
        "policy": {
            "name": name,
            "default": choices.pick(("allow", "deny")),
            "rules": [{**one, "id": f"r{number}"} for number, one in enumerate(rules)],
        },
    }


def settings(choices: Choices) -> Json:
    return choices.members(
        ("fail_safe", 0.4, lambda: True),
        ("may_waive_approval", 0.3, lambda: False),
        ("observe", 0.15, lambda: True),
        ("enabled", 0.15, lambda: False),
        ("valid_from", 0.15, lambda: choices.pick(STARTS)),
        ("valid_until", 0.1, lambda: choices.pick(ENDS)),
    )


def changed_rule(choices: Choices, old: Json) -> Json:
    """Return the rule with one or two parts of it wider, narrower or simply other."""
    new, fresh = copy.deepcopy(old), rule(choices)
    for _ in range(1 + choices.number(2)):
        part = choices.pick(("match", "except", "when", "on", "effect"))
        inner = new.get(part)
        if isinstance(inner, dict) and inner and choices.maybe():
            key = choices.pick(list(inner))
            if choices.maybe():
                inner.pop(key)
            else:
                inner[key] = choices.pick(NAMES if part == "when" else MATCHERS[key])
        elif part in fresh:
            kept = inner if isinstance(inner, dict) and choices.maybe() else {}
            new[part] = {**fresh[part], **kept} if kept else fresh[part]
        elif part not in ("match", "effect"):
            new.pop(part, None)
    return new


def after_one_change(choices: Choices, old: Json) -> Json:
    """Return the layer with a rule added, removed, switched or changed."""
    rules = old["policy"]["rules"]
    act = choices.number(8) if rules else 0
    at = choices.number(len(rules)) if rules else 0
    if act == 0:
        return with_rules(old, [*rules, {"match": {}, **rule(choices), "id": "fresh"}])
    if act == 1:
        return with_rules(old, [*rules[:at], *rules[at + 1 :]])
    if act == 2:
        return set_on_rule(old, rules[at]["id"], observe=choices.maybe())
    if act == 3:
        return set_on_rule(old, rules[at]["id"], expires_at=choices.pick((*STARTS, *ENDS)))
    changed = changed_rule(choices, rules[at])
    return with_rules(old, [*rules[:at], changed, *rules[at + 1 :]])


def policy_of(*layers: Json) -> Policy:
    return parse_policy({"format": "toolpolicy/1", "layers": list(layers)})


def no_looser(new: Decision, old: Decision) -> bool:
    """Tell whether one decision shows, admits and spares an approval no more than another."""
    return never_wider(new, old) and (not new.callable or new.needs_approval >= old.needs_approval)


def assert_holds(grade: Direction | None, before: Policy, after: Policy) -> None:
    """Check what was said of a change on every question."""
    if grade is None:
        return
    for subject, context, surface, args in QUESTIONS:
        old, new = (
            evaluate(policy, subject, context, surface, args, now=NOW) for policy in (before, after)
        )
        assert no_looser(new, old) if grade is TIGHTENS else no_looser(old, new)


def many(seed: int) -> list[Choices]:
    return [Choices(seed, salt=number, stamina=50) for number in range(3)]


@law(seed=SEEDS)
def test_a_grade_of_a_rule_is_true_of_every_answer(seed):
    for choices in many(seed):
        check_a_rule(choices)


def check_a_rule(choices: Choices) -> None:
    old, other = layer(choices, "one", 2), layer(choices, "other", 1)
    new = after_one_change(choices, old)
    before, after = policy_of(old, other), policy_of(new, other)
    rules, others = ({one.id: one for one in policy.layers[0].rules} for policy in (before, after))
    for name in {**rules, **others}:
        if rules.get(name) != others.get(name):
            grade = grade_rule(after.layers[0], rules.get(name), others.get(name))
            assert_holds(grade, before, after)


@law(seed=SEEDS)
def test_a_grade_of_a_layer_is_true_of_every_answer(seed):
    for choices in many(seed):
        check_a_layer(choices)


def check_a_layer(choices: Choices) -> None:
    old, other = layer(choices, "one", 2), layer(choices, "other", 1)
    fresh = settings(choices)
    kept = {name: value for name, value in old["settings"].items() if choices.maybe(0.8)}
    new = set_on({**old, "settings": kept}, **{n: fresh[n] for n in fresh if choices.maybe()})
    if choices.maybe(0.3):
        new = {**new, "policy": {**new["policy"], "default": choices.pick(("allow", "deny"))}}
    if "target" in new:
        new["target"] = choices.pick(NAMES)
    before, after = policy_of(old, other), policy_of(new, other)
    assert_holds(grade_layer(before.layers[0], after.layers[0]), before, after)


@law(seed=SEEDS)
def test_a_grade_of_a_layer_that_came_or_went_is_true_of_every_answer(seed):
    for choices in many(seed):
        old, other = layer(choices, "one", 2), layer(choices, "other", 1)
        before, after = policy_of(old, other), policy_of(other)
        grade = grade_layer(before.layers[0], None)
        assert_holds(grade, before, after)
        assert (
            grade_layer(None, before.layers[0])
            is {LOOSENS: TIGHTENS, TIGHTENS: LOOSENS, None: None}[grade]
        )
