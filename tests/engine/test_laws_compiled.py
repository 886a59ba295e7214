"""Laws of the fast evaluator.

- It answers as the reference does: decisions with their cause, the rules that fired and what is
  observed, on every surface, of one subject and of several.
- It lists as the reference does: the state of a call, and the rules that wait for arguments.
- What it has seen before changes nothing.
"""

from datetime import timedelta
from itertools import cycle
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.growing import NOW
from tests.strategies import World, law, worlds
from toolpolicy.engine.catalog import list_subject
from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.compiled_listing import KEPT as KEPT_LISTED
from toolpolicy.engine.compiled_listing import CompiledListing, Row
from toolpolicy.engine.compiled_plan import KEPT
from toolpolicy.engine.documents import parse_layers
from toolpolicy.engine.evaluate import Judged, compile_policy, evaluate, judge
from toolpolicy.engine.globs import ascii_lower, glob_match
from toolpolicy.engine.indexes import LONGEST, REMEMBERED, TextIndex, remember
from toolpolicy.engine.matchitems import go_lower, match_items
from toolpolicy.engine.slots import ItemSlot
from toolpolicy.engine.values import ABSENT, Subject
from toolpolicy.engine.words import Approval, Surface

LATER = NOW + timedelta(days=600)
ARGUMENTS: tuple[Any, ...] = (ABSENT, None, {}, [], "text")


def targets(world: World) -> list[Judged]:
    return [
        Judged(question.tool, question.args, floor)
        for question, floor in zip(world.questions, [*Approval, Approval.DEFAULT], strict=False)
    ]


@law(world=worlds(rules=16))
def test_it_decides_as_the_reference_does(world):
    compiled = CompiledPolicy(world.policy)
    compiled.pin([question.tool for question in world.questions[::2]])
    for question in world.questions:
        for surface in Surface:
            for args in (question.args, *ARGUMENTS):
                asked = (question.tool, question.context, surface, args)
                slow = {now: evaluate(world.policy, *asked, now=now) for now in (NOW, LATER)}
                # Asked again, it may be answered from memory; at another time, it may not.
                for now in (NOW, LATER, NOW):
                    assert compiled.evaluate(*asked, now=now) == slow[now]


@law(world=worlds(rules=16))
def test_it_folds_several_subjects_as_the_reference_does(world):
    compiled = CompiledPolicy(world.policy)
    for question in world.questions:
        for count in (1, 2, 4):
            judged = targets(world)[:count]
            fast = compiled.judge(judged, question.context, Surface.CALL, NOW)
            assert fast == judge(world.policy, judged, question.context, Surface.CALL, NOW)


@law(world=worlds(rules=16))
def test_it_lists_as_the_reference_does(world):
    compiled = CompiledPolicy(world.policy)
    for question in world.questions:
        for surface in (Surface.CATALOG, Surface.SEARCH):
            for floor in (Approval.DEFAULT, Approval.REQUIRED):
                asked = (question.tool, question.context, surface)
                fast = compiled.list_subject(*asked, now=NOW, floor=floor)
                slow = list_subject(world.policy, *asked, now=NOW, floor=floor)
                assert (fast.withheld, fast.call) == (slow.withheld, slow.call)
                assert set(fast.open) == set(slow.open)


@law(world=worlds(rules=16))
def test_a_listing_lists_each_subject_whatever_was_asked_before(world):
    compiled = CompiledPolicy(world.policy)
    rows = [
        Row(Judged(question.tool, floor=floor), depends=depends)
        for question, floor, depends in zip(
            world.questions, cycle(Approval), cycle((False, True)), strict=False
        )
    ]
    listing = CompiledListing(compiled, Surface.CATALOG, rows)
    for _ in range(2):
        for question in world.questions:
            for now in (NOW, NOW - timedelta(days=60), LATER):
                asked = (question.context, Surface.CATALOG)
                slow = [
                    list_subject(
                        *(world.policy, row.judged.subject, *asked),
                        now=now,
                        depends=row.depends,
                        floor=row.judged.floor,
                    )
                    for row in rows
                ]
                fast = listing.answers(question.context, now)
                assert [(x.withheld, x.call, set(x.open)) for x in fast] == [
                    (x.withheld, x.call, set(x.open)) for x in slow
                ]


PATTERNS = st.text("ab*?%!, ", max_size=6)
TEXTS = st.text("abAB*? ", max_size=8)


@given(patterns=st.lists(PATTERNS, max_size=12), texts=st.lists(TEXTS, max_size=4))
def test_each_indexed_glob_matches_what_it_matches_alone(patterns, texts):
    index = TextIndex()
    for number, pattern in enumerate(patterns):
        index.add_glob(ascii_lower(pattern), 1 << number)
    for text in texts:
        alone = [glob_match(pattern, text) for pattern in patterns]
        found = index.find(ascii_lower(text))
        assert [bool(found >> number & 1) for number in range(len(patterns))] == alone


@given(patterns=st.lists(PATTERNS, max_size=3), text=TEXTS)
def test_an_indexed_selector_selects_what_match_items_selects(patterns, text):
    slot = ItemSlot(0)
    slot.add(1, tuple(patterns))
    assert bool(slot.satisfied(text)) == match_items(text, tuple(patterns))
    assert go_lower(text) == text.lower()


def test_a_memory_is_bounded_in_number_and_in_the_length_of_texts():
    seen: dict[str, int] = {}
    for number in range(3 * REMEMBERED):
        remember(seen, str(number), number)
        assert len(seen) <= REMEMBERED
    before = dict(seen)
    assert remember(seen, "x" * (LONGEST + 1), 7) == 7
    assert seen == before


def test_no_listing_remembers_more_answers_than_it_may():
    rules = [{"effect": "hide", "when": {"env": "e*"}}, {"effect": "deny", "when": {"x": "1"}}]
    policy = parse_layers([{"rules": rules}])
    compiled = CompiledPolicy(compile_policy(policy))
    rows = [Row(Judged(Subject(name="a")))] * KEPT_LISTED
    listing = CompiledListing(compiled, Surface.CATALOG, rows)
    for context in ({}, {"env": "e"}, {"x": "1"}, {"env": "e", "x": "1"}):
        assert len(listing.answers(context, None)) == KEPT_LISTED
        assert len(listing._seen) == 1


@law(world=worlds(rules=4))
def test_what_was_seen_before_changes_nothing(world):
    compiled = CompiledPolicy(world.policy)
    question = world.questions[0]
    first = question.judge(world.policy)
    for value in range(KEPT // 8):
        context = {**question.context, "env": str(value)}
        args = {"p": str(value), "q": value}
        compiled.evaluate(question.tool, context, Surface.CALL, args, now=NOW)
    surface = Surface(question.surface)
    again = compiled.evaluate(question.tool, question.context, surface, question.args, now=NOW)
    assert again == first
