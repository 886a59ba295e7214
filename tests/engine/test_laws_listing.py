"""Laws of listings (SPEC §5a).

- kept word: a call is never answered with a state that the listing of its tool ruled out
- exact: a rule is named as open exactly when flipping it alone changes the answer for some
  settling of the other open rules; so found by trying all of them
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tests.growing import LISTS, NOW, ORDERED, SCALARS, STRICT
from tests.strategies import Question, law, worlds
from toolpolicy.engine.catalog import CallState, call_state, list_subject
from toolpolicy.engine.decision import Decision
from toolpolicy.engine.evaluate import Judged, evaluate_call, fires
from toolpolicy.engine.matching import Case
from toolpolicy.engine.values import (
    ABSENT,
    ArgumentIs,
    Condition,
    Layer,
    Policy,
    Rule,
    StrictLayer,
)
from toolpolicy.engine.words import Approval, Surface

Place = tuple[int, int]
Answers = dict[tuple[bool, ...], CallState]
MOST_OPEN = 5


def state_of(decision: Decision) -> CallState:
    if not decision.callable:
        return CallState.REFUSED
    return CallState.NEEDS_APPROVAL if decision.needs_approval else CallState.ALLOWED


@law(world=worlds())
def test_no_call_is_answered_with_a_state_that_the_listing_ruled_out(world):
    tried = [question.args for question in world.questions]
    tried += [ABSENT, None, {"p": SCALARS[world.number % 7], "q": LISTS[world.number % 6]}]
    for question in world.questions:
        for surface in (Surface.CATALOG, Surface.SEARCH):
            entry = list_subject(world.policy, question.tool, question.context, surface, now=NOW)
            decision = question.judge(world.policy, surface=surface)
            assert entry.withheld == (None if decision.visible else decision.reason_code)
            assert bool(entry.open) == (entry.call is CallState.DEPENDS_ON_ARGUMENTS)
            if entry.call in (None, CallState.DEPENDS_ON_ARGUMENTS):
                continue
            for args in tried:
                call = question.judge(world.policy, surface="call", args=args)
                assert state_of(call) is entry.call


def static(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    return tuple(c for c in conditions if not isinstance(c, ArgumentIs))


def settlings(rule: Rule, case: Case, *, fail_safe: bool) -> list[Rule]:
    """Return what the arguments can make of a rule: one without any, or never and always."""
    never = replace(rule, settings=replace(rule.settings, enabled=False))
    always = replace(rule, match=static(rule.match), exception=None)
    if not fires(always, case, fail_safe=fail_safe):
        return [never]
    waits = static(rule.match) != rule.match
    if rule.exception is not None:
        known = static(rule.exception)
        if not fires(replace(always, exception=known), case, fail_safe=fail_safe):
            if known == rule.exception:
                return [never]
            waits = True
    return [never, always] if waits else [always]


def settled_policies(policy: Policy, ways: Mapping[Place, list[Rule]]) -> Iterator[Policy]:
    """Yield a policy for each combination of the ways in which its rules can turn out."""
    for chosen in itertools.product(*ways.values()):
        now = dict(zip(ways, chosen, strict=True))

        def settle(index: int, layer: Layer, now: dict[Place, Rule] = now) -> Layer:
            if not isinstance(layer, StrictLayer):
                return layer
            rules = (now.get((index, number), rule) for number, rule in enumerate(layer.rules))
            return replace(layer, rules=tuple(rules))

        yield Policy(layers=tuple(settle(*entry) for entry in enumerate(policy.layers)))


def ways_of(policy: Policy, question: Question) -> dict[Place, list[Rule]]:
    case = Case(subject=question.tool, context=question.context, surface=Surface.CALL)
    return {
        (index, number): settlings(rule, case, fail_safe=layer.settings.fail_safe)
        for index, layer in enumerate(policy.layers)
        if isinstance(layer, StrictLayer)
        for number, rule in enumerate(layer.rules)
    }


def deciding(ways: Mapping[Place, list[Rule]], found: Sequence[CallState]) -> set[Place]:
    """Return the places whose rule changes the answer for some settling of the others."""
    sizes = [range(len(way)) for way in ways.values()]
    by_settling = dict(zip(itertools.product(*sizes), found, strict=True))
    return {
        place
        for number, place in enumerate(ways)
        for settling, state in by_settling.items()
        if settling[number] == 1
        and by_settling[*settling[:number], 0, *settling[number + 1 :]] is not state
    }


@law(world=worlds(combinings=(STRICT, STRICT, STRICT, ORDERED), rules=8))
def test_the_open_rules_are_exactly_those_that_can_change_the_answer(world):
    names = [layer.name for layer in world.policy.layers]
    for question in world.questions:
        ways = ways_of(world.policy, question)
        if sum(len(way) > 1 for way in ways.values()) > MOST_OPEN:
            continue
        floor = list(Approval)[world.number % 3]
        judged = Judged(question.tool, ABSENT, floor)
        found = [
            state_of(evaluate_call(policy, [judged], question.context, now=NOW))
            for policy in settled_policies(world.policy, ways)
        ]
        state, named = call_state(world.policy, judged, question.context, now=NOW)
        expected = {(names[index], number) for index, number in deciding(ways, found)}
        assert {(rule.layer, rule.rule) for rule in named} == expected
        same = len(set(found)) == 1
        assert state is (found[0] if same else CallState.DEPENDS_ON_ARGUMENTS)
