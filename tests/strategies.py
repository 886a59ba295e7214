"""Hypothesis strategies: policies with questions to them, the laws over them, and other documents.

Hypothesis draws a few numbers below 2^24, and plain Python grows a document from them. So a case
costs a handful of draws instead of some hundred, and thousands of cases a law stay affordable.
Shrinking still works: a rule is one number, so rules fall away one by one, and the smaller a
number is, the simpler is what grows from it.
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.growing import (
    NOW,
    ORDERED,
    STRICT,
    SURFACES,
    VALUES,
    Choices,
    Item,
    Json,
    arguments,
    context,
    document,
    subject,
)
from toolpolicy.engine.decision import Decision
from toolpolicy.engine.documents import parse_policy
from toolpolicy.engine.evaluate import evaluate
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.values import ABSENT, Policy, Subject


@dataclass(frozen=True)
class Question:
    """What is asked about one tool, in wire form."""

    subject: Json
    context: dict[str, str]
    surface: str
    args: Any

    @cached_property
    def tool(self) -> Subject:
        return parse_subject(self.subject)

    def judge(self, policy: Policy, **changed: Any) -> Decision:
        """Put this question to a policy; another surface, context or arguments may be given."""
        asked = {"surface": self.surface, "context": self.context, "args": self.args} | changed
        return evaluate(policy, self.tool, now=NOW, **asked)


@dataclass(frozen=True)
class World:
    """A policy document and some questions to it."""

    document: Json
    questions: tuple[Question, ...]
    number: int
    """For choosing a place inside the world: modulo what there is."""

    @property
    def layers(self) -> list[Json]:
        found: list[Json] = self.document["layers"]
        return found

    @cached_property
    def policy(self) -> Policy:
        return parse_policy(self.document)

    def under(self, layers: Sequence[Json]) -> Policy:
        """Return the policy of other layers in this document."""
        return parse_policy({**self.document, "layers": list(layers)})


def question(choices: Choices) -> Question:
    """Grow a question."""
    return Question(
        surface=choices.pick(SURFACES),
        subject=subject(choices),
        args=arguments(choices),
        context=context(choices),
    )


SEEDS = st.integers(0, 2**24 - 1)
QUESTIONS = 4


@st.composite
def worlds(
    draw: st.DrawFn, *, combinings: Sequence[str] = (STRICT, ORDERED, STRICT), rules: int = 10
) -> World:
    """Draw a policy of one to four layers with up to `rules` rules, and `QUESTIONS` questions."""
    seed, asked = draw(SEEDS), draw(SEEDS)
    grown = [draw(SEEDS) for _ in range(draw(st.integers(0, rules)))]
    written, chosen = document(seed, grown, combinings)
    asking = (question(Choices(asked, salt=n, stamina=4)) for n in range(QUESTIONS))
    return World(written, tuple(asking), chosen)


def several(grow: Callable[[Choices], Item]) -> st.SearchStrategy[list[Item]]:
    """Draw as many things of one kind as a world has questions."""
    return SEEDS.map(
        lambda seed: [grow(Choices(seed, salt=n, stamina=4)) for n in range(QUESTIONS)]
    )


Test = Callable[..., None]


def law(**drawn: st.SearchStrategy[Any]) -> Callable[[Test], Test]:
    """State a law over what holds `QUESTIONS` cases: a case is a policy and one question."""
    profile = settings.default
    assert profile is not None
    fewer = settings(max_examples=max(1, profile.max_examples // QUESTIONS))
    return lambda test: fewer(given(**drawn)(test))


# --- other documents ------------------------------------------------------------------------------

STRINGS = ("", "a", "b", "B", "é", "\U0001f600", "\u2028", '"', "\\", "/", "~", "\x7f", "\n")
NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2**53 + 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**30),
    *(0.0, -0.0, 1.0, 1.5, 1e15, 1e16, 123456789012345680.0, 1e-5, 1e-6, 5e-324, 1.7e308, 0.1),
)


def number(choices: Choices) -> int | float:
    """Grow a JSON number: an edge, or any double."""
    if choices.maybe(0.7):
        chosen: int | float = choices.pick(NUMBERS)
        return chosen
    bits = choices.number(2**52) ^ (choices.number(2**11) << 53)
    double: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return double if double - double == 0 else 0.0


def json_value(choices: Choices, depth: int = 3) -> Any:
    """Grow a JSON value."""
    kind = choices.number(6 if depth else 4)
    if kind < 2:
        return number(choices) if kind else choices.pick(STRINGS)
    if kind < 4:
        return choices.pick((None, True, False))
    if kind == 4:
        return [json_value(choices, depth - 1) for _ in range(choices.number(4))]
    return {choices.pick(STRINGS): json_value(choices, depth - 1) for _ in range(choices.number(4))}


def dispatcher(choices: Choices) -> Json:
    """Grow the declaration of a dispatcher."""
    return {
        "target": choices.pick(("/t", "t", ["/t"], "/t", ["/t", "/u"])),
        **choices.members(
            ("arguments", 0.8, lambda: "/x"),
            ("family", 0.4, lambda: "/f"),
            ("items", 0.25, lambda: choices.pick(("/l", "/l", "/l", ""))),
            ("target_required", 0.2, choices.maybe),
            ("known_targets_only", 0.3, choices.maybe),
        ),
    }


KEYS = ("x/a", "y/a", "x/b", "/c", "x/ab", "/e", "/f", "x/g", "/d")
TARGETS = ("b", "c", "ab", "e", "f", "g", "unknown", "a", "d", None)


def registry(choices: Choices) -> Json:
    """Grow a registry, mostly dispatchers; one name stands in two families."""
    return {key: dispatcher(choices) if key == "/d" or choices.maybe(0.7) else None for key in KEYS}


def indirect_call(choices: Choices, depth: int = 4) -> Any:
    """Grow arguments that name a target, with the target's own arguments inside."""
    if choices.maybe(0.03):
        return choices.pick((ABSENT, *VALUES))
    nested = 0.8 if depth else 0

    def deeper() -> Any:
        return indirect_call(choices, depth - 1)

    return choices.members(
        ("t", 0.85, lambda: choices.pick(TARGETS[: 6 + choices.number(5)])),
        ("u", 0.05, lambda: choices.pick(TARGETS)),
        ("f", 0.3, lambda: choices.pick(("x", "y", 1))),
        ("x", nested, deeper),
        ("l", nested / 2, lambda: [deeper() for _ in range(choices.number(4))]),
    )


@dataclass(frozen=True)
class Indirect:
    """A registry as the `unfold` vectors write it, and calls of its tool `d`, a dispatcher."""

    declarations: Json
    calls: tuple[Any, ...]


@st.composite
def indirects(draw: st.DrawFn) -> Indirect:
    """Draw a registry, and as many calls as a world has questions."""
    choices, asked = Choices(draw(SEEDS), stamina=4), draw(SEEDS)
    calls = (indirect_call(Choices(asked, salt=n, stamina=8)) for n in range(QUESTIONS))
    return Indirect(registry(choices), tuple(calls))
