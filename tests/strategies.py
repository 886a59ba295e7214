"""Hypothesis strategies for policies and calls: wire documents over small pools that collide.

Hypothesis draws a few numbers below 2^24, and plain Python grows a document from them. So a case
costs a handful of draws instead of some hundred, and thousands of cases a law stay affordable.
Shrinking still works: a rule is one number, so rules fall away one by one, and the smaller a
number is, the sooner its `Choices` tire and take the simplest way.
"""

import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from toolpolicy.engine.decision import Decision
from toolpolicy.engine.documents import parse_policy
from toolpolicy.engine.evaluate import evaluate
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.values import ABSENT, Policy, Subject
from toolpolicy.engine.words import Category, Effect, Exposure, Hint, Permission, SideEffect

Json = dict[str, Any]
Item = TypeVar("Item")

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
# Before or at NOW, and after it: an instant is compared, not its text.
PAST = ("2026-02-01T00:00:00Z", "2026-03-01T12:00:00Z", "2026-03-01T13:00:00+01:00")
FUTURE = ("2027-01-01T00:00:00Z", "2026-03-01T12:00:00.000001Z", "2026-03-01T12:00:00-00:01")

STRICT, ORDERED = "deny_overrides", "last_match"
SURFACES = ("call", "catalog", "search")
TEXTS = ("a", "b", "ab", "B", "a_b", "")
NAMES = TEXTS[:-1]
GLOBS = ("*", "a", "a*", "*b", "?", "b", "A?", "", "a?b", "!a", "a,b")
ITEMS = ("*", "a", "!a", "a,b", "a*", "*b", "!b, *", "b", ",", "!*b", "%61", "!", "A", "+", "%zz")
MODES = ("on", "ask", "off", "auto", " ON ")
POINTERS = ("/p", "p", "/q", "/q/p", "/q/0", "/l", "/l/1", "/l/01", "/l/-", "", "/p/p", "/n")
VALUE_GLOBS = ("*", "a", "a*", "b", "true", "1", "1.5", "?", "")
SCALARS: tuple[Any, ...] = ("a", "b", 1, True, 1.5, "", False)
LISTS: tuple[Any, ...] = ([], ["a"], ["b", "a"], ["b", 1], ["a", None], [["a"]])
VALUES: tuple[Any, ...] = (*SCALARS, *LISTS, None, {}, {"p": "a"})
SELECTORS = ("name", "group", "verb", "parent", "method", "scope", "family", "tags")
# `arg` and what can be unknown stand several times: there the subtle laws live.
STRICT_FIELDS = (
    *("name", "arg", "hints", "category", "permission_at_least", "arg", "side_effects", "tags"),
    *("family", "arg", "group", "exposure", "permission_at_most", "verb", "parent", "method"),
    *("scope", "arg", "hints"),
)


class Choices:
    """A seeded source of choices that tires: in the end each choice is the first one, or No."""

    def __init__(self, seed: int, *, salt: int = 0, stamina: int = 2) -> None:
        # Hypothesis likes to repeat a number: `salt` grows another thing from it at each place.
        self._random = random.Random(seed * 64 + salt)  # noqa: S311  (test data, no secret)
        self._left = seed.bit_length() * stamina

    def number(self, below: int) -> int:
        """Take a number from 0 to below - 1."""
        self._left -= 1
        return int(self._random.random() * below) if self._left >= 0 else 0

    def pick(self, pool: Sequence[Item]) -> Item:
        """Take one of `pool`, whose first is the simplest."""
        return pool[self.number(len(pool))]

    def maybe(self, chance: float = 0.5) -> bool:
        """Say yes in `chance` of the cases."""
        self._left -= 1
        return self._left >= 0 and self._random.random() < chance

    def some(self, pool: Sequence[Item], most: int) -> list[Item]:
        """Take up to `most` of `pool`, repetitions included."""
        return [self.pick(pool) for _ in range(self.number(most + 1))]

    def members(self, *options: tuple[str, float, Callable[[], Any]]) -> Json:
        """Grow an object of optional members, each given as (name, chance, how it grows)."""
        return {name: grow() for name, chance, grow in options if self.maybe(chance)}


def words(kind: type[Any]) -> list[str]:
    return [str(word) for word in kind]


# --- what is judged -------------------------------------------------------------------------------


def subject(choices: Choices) -> Json:
    """Grow a subject; each attribute may be unknown."""
    texts = [(name, 0.5, lambda: choices.pick(TEXTS)) for name in SELECTORS[1:-1]]
    return {
        "name": choices.pick(NAMES),
        **choices.members(
            *texts,
            ("tags", 0.5, lambda: choices.some(TEXTS, 2)),
            ("category", 0.6, lambda: choices.pick(words(Category))),
            ("exposure", 0.6, lambda: choices.pick(words(Exposure))),
            ("permission", 0.6, lambda: choices.pick(words(Permission))),
            ("side_effects", 0.6, lambda: {f: choices.maybe(0.4) for f in words(SideEffect)}),
            ("hints", 0.7, lambda: {h: choices.maybe() for h in words(Hint) if choices.maybe()}),
            ("default_permission", 0.5, lambda: choices.pick(MODES)),
        ),
    }


def arguments(choices: Choices) -> Any:
    """Grow the arguments of a call, or none at all."""
    if choices.maybe(0.15):
        return choices.pick((ABSENT, *VALUES))
    return choices.members(
        ("p", 0.8, lambda: choices.pick(VALUES)),
        ("q", 0.8, lambda: choices.pick(VALUES)),
        ("l", 0.5, lambda: choices.some(SCALARS, 3)),
    )


def context(choices: Choices) -> Json:
    """Grow a context."""
    return choices.members(
        *((key, 0.7, lambda: choices.pick(TEXTS)) for key in ("agent", "channel", "session", "k")),
        ("sandbox_mode", 0.3, lambda: choices.pick(("full", "read_only"))),
    )


# --- rules ----------------------------------------------------------------------------------------


def patterns(choices: Choices, pool: Sequence[str]) -> str | list[str]:
    """Grow patterns in one of their two wire forms."""
    return choices.some(pool, 2) if choices.maybe(0.2) else choices.pick(pool)


def when(choices: Choices, pool: Sequence[str]) -> Json:
    """Grow context conditions."""
    return {choices.pick(("k", "agent", "sandbox_mode")): patterns(choices, pool)}


def argument_condition(choices: Choices) -> Json:
    """Grow a condition on an argument."""
    return {"pointer": choices.pick(POINTERS), "value": patterns(choices, VALUE_GLOBS)}


CONDITIONS: dict[str, Callable[[Choices], Any]] = {
    **dict.fromkeys(SELECTORS, lambda choices: patterns(choices, GLOBS)),
    "arg": argument_condition,
    "hints": lambda choices: {choices.pick(words(Hint)): choices.maybe() for _ in "12"},
    "side_effects": lambda choices: choices.some(words(SideEffect), 3),
    "category": lambda choices: choices.some(words(Category), 2),
    "exposure": lambda choices: choices.some(words(Exposure), 2),
    "permission_at_least": lambda choices: choices.pick(words(Permission)),
    "permission_at_most": lambda choices: choices.pick(words(Permission)),
}


def matcher(choices: Choices) -> Json:
    """Grow a matcher; the empty one matches all."""
    return {name: CONDITIONS[name](choices) for name in choices.some(STRICT_FIELDS, 2)}


def strict_rule(choices: Choices) -> Json:
    """Grow a rule of a strict layer."""
    return {
        "effect": choices.pick(words(Effect)),
        "match": matcher(choices),
        **choices.members(
            ("except", 0.3, lambda: matcher(choices)),
            ("on", 0.25, lambda: choices.some(SURFACES, 2)),
            ("when", 0.2, lambda: when(choices, GLOBS)),
        ),
    }


def ordered_rule(choices: Choices) -> Json:
    """Grow a rule of an ordered layer; its match always constrains something."""
    match: Json = {name: patterns(choices, ITEMS) for name in choices.some(SELECTORS, 2)}
    hints = ("readOnly", "destructive", "idempotent")
    match |= choices.members(*((name, 0.2, choices.maybe) for name in hints))
    if [] in match.values() or not match:
        match["name"] = choices.pick(("*", "a*", "!b"))
    return {
        "match": match,
        "mode": choices.pick(MODES),
        **choices.members(("when", 0.2, lambda: when(choices, ITEMS))),
    }


def rule_settings(choices: Choices) -> Json:
    """Grow what stands beside a rule; mostly nothing."""
    return choices.members(
        ("observe", 0.2, lambda: True),
        ("enabled", 0.1, lambda: False),
        ("expires_at", 0.15, lambda: choices.pick(PAST + FUTURE)),
        ("examples", 0.1, lambda: [choices.pick(VALUES)]),
        ("approval", 0.1, lambda: {"remember": choices.pick(SCALARS)}),
    )


# --- layers and documents -------------------------------------------------------------------------


def layer_settings(choices: Choices, combining: str) -> Json:
    """Grow the settings of a layer; mostly none."""
    return choices.members(
        ("may_waive_approval", 0.4, choices.maybe),
        ("fail_safe", 0.5 if combining == STRICT else 0, lambda: choices.maybe(0.8)),
        ("observe", 0.15, lambda: True),
        ("enabled", 0.07, lambda: False),
        ("valid_from", 0.12, lambda: choices.pick((*PAST[:2], FUTURE[1]))),
        ("valid_until", 0.12, lambda: choices.pick((FUTURE[0], "2026-03-01T12:00:00.5Z"))),
        ("description", 0.1, lambda: choices.pick(TEXTS)),
    )


def layer(choices: Choices, name: str, combining: str) -> Json:
    """Grow a layer that has no rules yet."""
    scope = choices.pick(("config", "config", "agent", "channel", "session"))
    target = {"target": choices.pick(("*", ["a*", "b"], "?", "a", []))}
    strict = ("default", 0.6 if combining == STRICT else 0, lambda: choices.pick(("allow", "deny")))
    return {
        "scope": scope,
        **({} if scope == "config" else target),
        "position": choices.number(3),
        "combining": combining,
        "settings": layer_settings(choices, combining),
        "policy": {"name": name, **choices.members(strict), "rules": []},
    }


def add_rule(choices: Choices, to: Json) -> None:
    """Grow one more rule in a layer, mostly with an id, and then perhaps with settings."""
    rules = to["policy"]["rules"]
    rule = strict_rule(choices) if to["combining"] == STRICT else ordered_rule(choices)
    if not choices.maybe(0.1):
        rule["id"] = f"r{len(rules)}"
        if beside := rule_settings(choices):
            to["settings"].setdefault("rules", {})[rule["id"]] = beside
    rules.append(rule | choices.members(("reason", 0.2, lambda: choices.pick(TEXTS))))


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


def document(seed: int, rules: Sequence[int], combinings: Sequence[str]) -> tuple[Json, int]:
    """Grow a policy document from one number for its layers and one for each rule."""
    choices = Choices(seed, stamina=4)
    layers = [
        layer(choices, choices.pick("nNmé") + str(place), choices.pick(combinings))
        for place in range(1 + choices.number(4))
    ]
    for salt, rule_seed in enumerate(rules):
        grown = Choices(rule_seed, salt=salt)
        add_rule(grown, grown.pick(layers))
    return {"format": "toolpolicy/1", "layers": layers}, choices.number(840)


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


def documents(choices: Choices) -> Json:
    """Grow a policy document by itself."""
    rules = [choices.number(2**24) for _ in range(choices.number(8))]
    return document(choices.number(2**24), rules, (STRICT, ORDERED))[0]


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
