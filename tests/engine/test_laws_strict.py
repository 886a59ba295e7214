"""Laws of strict layers (SPEC §3).

- order: the order of the rules in a strict layer changes nothing but which of several rules with
  one effect is reported: the first by position
- narrowing: adding a strict layer never widens visible or callable, and never loses `required`
- required: what a strict layer requires stays required, whatever layer is added; a matching
  require_approval requires, whatever else the policy says
- deny: a matching deny in any enforced strict layer refuses, whatever else the policy says
"""

from tests.engine.changes import (
    always,
    never_wider,
    replaced,
    shuffled,
    strict_places,
    with_rules,
    without,
)
from tests.growing import STRICT
from tests.strategies import Question, World, law, worlds
from toolpolicy.engine.decision import BlockedBy
from toolpolicy.engine.values import Policy
from toolpolicy.engine.words import Approval, ReasonCode

SHOWN = ("visible", "callable", "approval", "reason_code", "needs_approval", "admits", "outcome")


@law(world=worlds())
def test_the_order_of_rules_in_a_strict_layer_is_immaterial(world):
    mixed = list(world.layers)
    for index in strict_places(mixed):
        rules = shuffled(mixed[index]["policy"]["rules"], world.number)
        mixed[index] = with_rules(mixed[index], rules)
    other = world.under(mixed)
    for question in world.questions:
        here, there = question.judge(world.policy), question.judge(other)
        assert [getattr(here, name) for name in SHOWN] == [getattr(there, name) for name in SHOWN]
        assert (here.blocked_by is None) == (there.blocked_by is None)
        if here.blocked_by and there.blocked_by:
            assert here.blocked_by.layer == there.blocked_by.layer


@law(world=worlds())
def test_the_reported_rule_is_the_first_of_its_kind_by_position(world):
    for question in world.questions:
        decision = question.judge(world.policy)
        by = decision.blocked_by
        if by is None or by.rule is None or decision.reason_code is ReasonCode.RULE_OFF:
            continue
        layer = world.layers[by.layer_index]
        before = with_rules(layer, layer["policy"]["rules"][: by.rule])
        cut = question.judge(world.under(replaced(world.layers, by.layer_index, before)))
        said = cut.blocked_by or BlockedBy(layer=None, layer_index=-1, scope=by.scope)
        assert (said.layer, cut.reason_code) != (by.layer, decision.reason_code)


@law(world=worlds())
def test_a_strict_layer_never_widens_and_never_loses_what_is_required(world):
    places = strict_places(world.layers)
    if not places:
        return
    fewer = world.under(without(world.layers, places[world.number % len(places)]))
    for question in world.questions:
        added, bare = question.judge(world.policy), question.judge(fewer)
        assert never_wider(added, bare)
        if bare.approval is Approval.REQUIRED:
            assert added.approval is Approval.REQUIRED
            assert added.needs_approval


@law(world=worlds())
def test_what_a_strict_layer_requires_stays_required_under_any_other_layer(world):
    strict = [layer for layer in world.layers if layer["combining"] == STRICT]
    alone = world.under(strict)
    for question in world.questions:
        if question.judge(alone).approval is Approval.REQUIRED:
            assert question.judge(world.policy).approval is Approval.REQUIRED


def with_one_more(world: World, question: Question, effect: str) -> Policy:
    """Return the policy with one more rule, which matches the question, in a layer that applies."""
    places = strict_places(world.layers) or [0]
    place = places[world.number % len(places)]
    plain = {
        "combining": STRICT,
        "settings": {},
        "position": 0,
        "policy": {"name": "n", "rules": []},
    }
    layer = always(world.layers[place] if world.layers[place]["combining"] == STRICT else plain)
    rules = layer["policy"]["rules"]
    at = world.number % (len(rules) + 1)
    match = {"name": question.subject["name"]} if world.number % 2 else {}
    matching = {"effect": effect, "match": match, "id": "more"}
    changed = with_rules(layer, [*rules[:at], matching, *rules[at:]])
    return world.under(replaced(world.layers, place, changed))


@law(world=worlds())
def test_a_matching_deny_beats_all(world):
    for question in world.questions:
        decision = question.judge(with_one_more(world, question, "deny"))
        assert (decision.visible, decision.callable, decision.admits) == (False, False, False)
        assert decision.reason_code in (ReasonCode.RULE_DENIED, ReasonCode.LAYER_DEFAULT)


@law(world=worlds())
def test_a_matching_require_approval_requires_whatever_else_matches(world):
    for question in world.questions:
        decision = question.judge(with_one_more(world, question, "require_approval"))
        assert (decision.approval, decision.needs_approval) == (Approval.REQUIRED, True)
