"""What a decision costs in calls and an index in bytes, which no noise can touch.

`make bench` measures the same workload in time, beside a peer.
"""

from datetime import UTC, datetime
from functools import partial

import pytest

from tests.bench.counters import bytes_of_index, calls_made
from tests.bench.workload import SCOPES, Workload, workload
from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.compiled_listing import CompiledListing, Row
from toolpolicy.engine.documents import FORMAT, parse_policy
from toolpolicy.engine.evaluate import Judged
from toolpolicy.engine.lint.check import lint
from toolpolicy.engine.lint.known import Question
from toolpolicy.engine.registry import Entry, Registry, ToolState
from toolpolicy.engine.values import Policy
from toolpolicy.engine.words import Surface

KILOBYTE = 1_024
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def calls_of_the_dearest_decision(load: Workload) -> int:
    compiled = CompiledPolicy(load.policy)
    compiled.pin(load.tools)

    def decide(at):
        tool, context, args = load.calls[at]
        compiled.evaluate(tool, context, Surface.CALL, args)

    costs = []
    for at in range(len(load.calls)):
        decide(at)
        decide(at)
        costs.append(calls_made(partial(decide, at)))
    return max(costs)


@pytest.mark.parametrize(("layers", "calls"), [(1, 20), (4, 22)])
@pytest.mark.parametrize("rules", [10, 100, 1_000, 10_000])
def test_what_is_asked_again_costs_the_same_at_any_number_of_rules(layers, calls, rules):
    load = workload(rules, layers=SCOPES[:layers])
    assert calls_of_the_dearest_decision(load) <= calls


@pytest.mark.parametrize("rules", [100, 1_000, 10_000])
def test_an_index_takes_less_than_a_kilobyte_a_rule(rules):
    assert bytes_of_index(workload(rules).policy) <= rules * KILOBYTE


def test_listing_again_makes_as_many_calls_for_a_thousand_tools_as_for_one():
    load = workload(1_000, calls=False)
    compiled = CompiledPolicy(load.policy)
    context = load.calls[0].context
    costs = []
    for tools in (load.tools[:1], load.tools):
        rows = [Row(Judged(tool)) for tool in tools]
        listing = CompiledListing(compiled, Surface.CATALOG, rows)
        listing.answers(context, None)
        costs.append(calls_made(partial(listing.answers, context, None)))
    assert costs[0] == costs[1]


def test_some_tools_of_what_was_listed_cost_as_many_calls_as_one_of_them():
    load = workload(1_000, calls=False)
    rows = [Row(Judged(tool)) for tool in load.tools]
    listing = CompiledListing(CompiledPolicy(load.policy), Surface.CATALOG, rows)
    context, numbers = load.calls[0].context, range(0, len(rows), 3)
    one_by_one = listing.some(numbers, context, None)
    assert one_by_one == list(listing.answers(context, None))[::3]
    assert listing.some(numbers, context, None) == one_by_one
    costs = [calls_made(partial(listing.some, some, context, None)) for some in ([7], numbers)]
    assert costs[0] == costs[1]


def registered(load: Workload, tools: int = 200) -> Registry:
    entries = (
        Entry(subject=tool, family=tool.family or "", state=ToolState.ACTIVE, declaration="")
        for tool in load.tools[:tools]
    )
    return Registry(entries)


def calls_of_lint(policy: Policy, registry: Registry) -> int:
    question = Question(policy=policy, registry=registry, now=NOW)
    lint(question)
    return calls_made(partial(lint, question))


@pytest.mark.parametrize("layers", [1, 4])
def test_lint_makes_a_hundred_times_the_calls_of_a_compile_at_most(layers):
    load = workload(200, layers=SCOPES[:layers])
    compiling = calls_made(partial(CompiledPolicy, load.policy))
    assert calls_of_lint(load.policy, registered(load)) <= 100 * compiling


# Shapes in which every rule meets every other one.
MEETING = {
    "all the same": lambda _: {"effect": "deny", "match": {}},
    "each in another context": lambda n: {"effect": "allow", "when": {"channel": f"c{n}"}},
    "contexts by what they contain": lambda n: {"effect": "deny", "when": {"k": f"*x{n}*"}},
    "longer and longer lists": lambda n: {
        "effect": "deny",
        "when": {"k": [f"v{item}" for item in range(n % 20)]},
    },
    "each for another argument": lambda n: {
        "effect": "deny",
        "match": {"arg": {"pointer": f"/p{n}", "value": "x"}},
    },
    "one after the other in a list": lambda _: {"mode": "off", "match": {"name": "*"}},
    "a list by contexts": lambda n: {"mode": "on", "match": {"name": "*"}, "when": {"k": f"x{n}"}},
}


@pytest.mark.parametrize("shape", MEETING)
def test_lint_grows_with_the_rules_and_not_with_their_pairs(shape):
    registry = registered(workload(1), tools=5)
    costs = []
    for rules in (60, 240):
        made = [MEETING[shape](number) for number in range(rules)]
        combining = "last_match" if "mode" in made[0] else "deny_overrides"
        layer = {"scope": "config", "position": 0, "combining": combining}
        document = {"format": FORMAT, "layers": [{**layer, "policy": {"name": "l", "rules": made}}]}
        costs.append(calls_of_lint(parse_policy(document), registry))
    # Four times the rules; by pairs it would be sixteen times the calls.
    assert costs[1] <= 8 * costs[0]
