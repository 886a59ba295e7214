"""Laws of lint, held against brute force over small worlds.

- A rule that is said never to match, or to be switched off, never fires on a registered tool.
- A rule that is said to change nothing changes nothing when it is taken out, and neither do all of
  them when they are taken out together.
- What is said to be kept from a listing and admitted on a call is so for the witness.
- A condition implied by another is met by whatever meets the other.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.growing import GLOBS, ITEMS, NOW, TEXTS, VALUES, Choices, arguments, subject
from tests.strategies import World, law, worlds
from toolpolicy.engine.catalog import CallState, call_state, list_subject
from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.decision import Decision, Verdict
from toolpolicy.engine.evaluate import Judged
from toolpolicy.engine.lint.check import lint
from toolpolicy.engine.lint.conditions import Asks, example, implies, parts
from toolpolicy.engine.lint.findings import Finding, FindingCode
from toolpolicy.engine.lint.known import Question
from toolpolicy.engine.privilege import PrivilegeRule
from toolpolicy.engine.registry import Entry, Registry, ToolState
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.values import ABSENT, Policy
from toolpolicy.engine.words import Approval, Exposure, Permission, ReasonCode, Surface

NEVER = {FindingCode.NEVER_MATCHES, FindingCode.SWITCHED_OFF, FindingCode.GROUP_EMPTY}
IDLE = {
    *NEVER,
    FindingCode.NOTHING_ON_SURFACES,
    FindingCode.SHADOWED,
    FindingCode.REDUNDANT,
    FindingCode.CONTRADICTORY,
    FindingCode.ALLOW_UNDER_ALLOW,
    FindingCode.ALWAYS_OVERRULED,
}
KEYS = ("agent", "channel", "session", "k", "sandbox_mode")
CONTEXTS = 40
SHOWN = {Surface.CATALOG: (Exposure.DIRECT,), Surface.SEARCH: (Exposure.DIRECT, Exposure.DEFERRED)}

Place = tuple[int, int]
Asked = tuple[Entry, dict[str, str], Surface, Any, datetime]
# Lint speaks of now and of all that is to come.
TIMES = [NOW + timedelta(seconds=after) for after in (0, 0.1, 1, 86_400 * 600)]


def entry(number: int, seed: int) -> Entry:
    """Grow a registered tool; the privilege of some depends on an argument."""
    choices = Choices(seed, salt=number, stamina=4)
    grown = parse_subject(subject(choices))
    privilege = PrivilegeRule(pointer="/p", patterns=("a*",), level=choices.pick(list(Permission)))
    return Entry(
        subject=grown,
        family=f"f{number}",
        state=ToolState.ACTIVE,
        declaration="",
        privilege=(privilege,) if choices.maybe(0.3) else (),
    )


def registry_of(world: World) -> Registry:
    return Registry(entry(n, world.number * 31 + n) for n in range(1 + world.number % 4))


def asked(world: World, registry: Registry) -> Iterator[Asked]:
    """Yield questions about every tool in many contexts, on each surface, with many arguments."""
    chance = random.Random(world.number)  # noqa: S311  (test data, no secret)
    contexts = [question.context for question in world.questions]
    for _ in range(CONTEXTS):
        some = chance.sample(KEYS, chance.randrange(len(KEYS) + 1))
        contexts.append({key: chance.choice((*TEXTS, "zz", "read_only")) for key in some})
    for entry in registry:
        for context in contexts:
            for surface in (Surface.CATALOG, Surface.SEARCH):
                if (entry.subject.exposure or Exposure.DIRECT) in SHOWN[surface]:
                    yield entry, context, surface, ABSENT, chance.choice(TIMES)
            tried = [{"p": chance.choice(VALUES), "q": chance.choice(VALUES)} for _ in range(3)]
            for args in (ABSENT, {}, *tried, arguments(Choices(chance.randrange(2**24)))):
                yield entry, context, Surface.CALL, args, chance.choice(TIMES)


def decide(policy: CompiledPolicy, asked: Asked) -> Decision:
    entry, context, surface, args, now = asked
    tool = entry.subject_of_call(args) if surface is Surface.CALL else entry.subject
    return policy.evaluate(tool, context, surface, args, now=now)


def said(verdict: Verdict) -> tuple[bool, bool, Approval | None]:
    """Return what a verdict comes to; nobody is asked about what is refused anyway."""
    return verdict.visible, verdict.callable, verdict.approval if verdict.callable else None


def answers(policy: Policy, questions: Iterable[Asked]) -> list[Any]:
    compiled = CompiledPolicy(policy)
    found = []
    for question in questions:
        decision = decide(compiled, question)
        needs = decision.callable and decision.needs_approval
        found.append((said(decision.verdict), needs, said(decision.observed or decision.verdict)))
    return found


def states(policy: Policy, questions: Iterable[Asked]) -> list[Any]:
    """Return what listings say."""
    compiled = CompiledPolicy(policy)
    found = []
    for entry, context, surface, _, now in questions:
        if surface is not Surface.CALL and not entry.privilege:
            listed = compiled.list_subject(entry.subject, context, surface, now=now)
            found.append((listed.listed, listed.call))
    return found


def without(policy: Policy, places: Iterable[Place]) -> Policy:
    """Return the policy without these rules."""
    gone = set(places)
    layers = []
    for index, layer in enumerate(policy.layers):
        kept = [rule for n, rule in enumerate(layer.rules) if (index, n) not in gone]
        layers.append(replace(layer, rules=tuple(kept)))  # type: ignore[arg-type]
    return Policy(layers=tuple(layers))


def places_of(policy: Policy, found: Iterable[Finding]) -> list[Place]:
    names = [layer.name for layer in policy.layers]
    return [(names.index(one.layer), one.number) for one in found if one.number is not None]


def linted(world: World, registry: Registry) -> tuple[Finding, ...]:
    return lint(Question(policy=world.policy, registry=registry, now=NOW))


@law(world=worlds(rules=12))
def test_what_never_matches_never_fires(world):
    registry = registry_of(world)
    never = places_of(world.policy, [f for f in linted(world, registry) if f.code in NEVER])
    if not never:
        return
    compiled = CompiledPolicy(world.policy)
    for question in asked(world, registry):
        assert not set(never) & set(decide(compiled, question).fired)


@law(world=worlds(rules=12))
def test_rules_that_change_nothing_can_be_taken_out_one_by_one_and_together(world):
    registry = registry_of(world)
    found = [f for f in linted(world, registry) if f.code in IDLE]
    if not found:
        return
    idle = places_of(world.policy, found)
    # Of a rule that asks for no value of an argument, a listing still says that arguments decide.
    quiet = places_of(world.policy, [f for f in found if f.witness.get("empty") != "arg"])
    questions = list(asked(world, registry))
    before, listed = answers(world.policy, questions), states(world.policy, questions)
    for places in (idle, *([place] for place in idle[:3])):
        assert answers(without(world.policy, places), questions) == before
    for places in (quiet, *([place] for place in quiet[:3])):
        assert states(without(world.policy, places), questions) == listed


@law(world=worlds(rules=8))
def test_what_is_unlisted_yet_callable_is_so_for_its_witness(world):
    registry = registry_of(world)
    entries = {f"{entry.family}/{entry.name}": entry for entry in registry}
    codes = {ReasonCode.RULE_DENIED, ReasonCode.LAYER_DEFAULT}
    for found in linted(world, registry):
        if found.code is not FindingCode.UNLISTED_YET_CALLABLE:
            continue
        entry, context = entries[found.witness["tool"]], found.witness["context"]
        surface = Surface(found.witness.get("surface", Surface.SEARCH))
        judged = Judged(entry.subject, floor=entry.floor)
        shown = [
            list_subject(world.policy, entry.subject, context, surface, now=now).withheld in codes
            and call_state(world.policy, judged, context, now=now)[0] is not CallState.REFUSED
            for now in TIMES
        ]
        assert any(shown)


PATTERNS = st.lists(st.sampled_from((*GLOBS, *ITEMS)) | st.text("ab*?!, ", max_size=4), max_size=3)


@given(
    one=PATTERNS, other=PATTERNS, items=st.booleans(), texts=st.lists(st.text("abAc", max_size=5))
)
def test_what_is_implied_is_met_by_whatever_meets_the_other(one, other, items, texts):
    mine, theirs = (Asks("k", tuple(patterns), items) for patterns in (one, other))
    tried = (*texts, *TEXTS, *one, *other, *(p.replace("*", "") for p in (*one, *other)))
    if implies(mine, theirs):
        assert all(theirs.holds(text) for text in tried if mine.holds(text))
    split_up = parts(frozenset({mine}))
    for text in tried:
        assert any(asks.holds(text) for box in split_up for asks in box) == mine.holds(text)
    shown = example(frozenset({mine}), {})
    assert shown is None or mine.holds(shown["k"])
