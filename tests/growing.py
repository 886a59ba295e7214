"""Things grown from a number: tools, calls, rules, policies, over small pools that collide.

In wire form, by plain Python: a generator of cases draws a few numbers, and whole documents grow
from them. The smaller a number is, the sooner its `Choices` tire and take the simplest way.
"""

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from toolpolicy.engine.values import ABSENT
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


def documents(choices: Choices) -> Json:
    """Grow a policy document by itself."""
    rules = [choices.number(2**24) for _ in range(choices.number(8))]
    return document(choices.number(2**24), rules, (STRICT, ORDERED))[0]
