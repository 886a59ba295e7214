"""A rule said aloud: the one place that turns a rule into words, for lists, traces and records.

A sentence is a verb and parts, so that a page can mark keys and patterns; `str()` gives the plain
text with patterns in backticks. Long pattern lists are cut, the rule itself is elsewhere in full.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from toolpolicy.engine.faults import printable
from toolpolicy.engine.matchitems import trim
from toolpolicy.engine.values import (
    AnySideEffect,
    AnyTagIs,
    ArgumentIs,
    Condition,
    HintIs,
    OneOf,
    OrderedCondition,
    OrderedRule,
    Patterns,
    PermissionIs,
    Rule,
    Selector,
    TextIs,
    When,
)
from toolpolicy.engine.words import Effect, Hint, Mode, Surface

MOST_ITEMS: Final = 8
LONGEST_ITEM: Final = 120

VERBS: Final[dict[Effect | Mode, str]] = {
    Effect.ALLOW: "Allow",
    Effect.DENY: "Deny",
    Effect.HIDE: "Hide",
    Effect.REQUIRE_APPROVAL: "Require approval for",
    Effect.AUTO_APPROVE: "Auto-approve",
    Mode.ON: "Switch on",
    Mode.ASK: "Ask before calling",
    Mode.OFF: "Switch off",
    Mode.AUTO: "Say nothing about",
}
# What a tool that declares a hint says of itself: (true, false).
SAYS: Final[dict[Hint, tuple[str, str]]] = {
    Hint.READ_ONLY: ("only read", "do more than read"),
    Hint.DESTRUCTIVE: ("are destructive", "are not destructive"),
    Hint.IDEMPOTENT: ("may be repeated", "may not be repeated"),
    Hint.OPEN_WORLD: ("reach outside", "do not reach outside"),
    Hint.NEEDS_APPROVAL: ("need approval", "need no approval"),
    Hint.CACHEABLE_APPROVAL: ("need approval only once", "need approval every time"),
}
_LEADS: Final = {
    "name": "named",
    "family": "of family",
    "tags": "tagged",
    "category": "of category",
    "exposure": "with exposure",
    "group": "in group",
    "parent": "with parent",
    "verb": "with verb",
    "method": "with method",
    "scope": "with scope",
}
_MORE: Final = re.compile(r"\d+ more")


class PartKind(StrEnum):
    """How a part of a sentence is set."""

    TEXT = "text"
    KEY = "key"
    CODE = "code"


class Place(StrEnum):
    """Where a part stands: among the words of its sentence, or in a list of them."""

    WORDS = "words"
    ITEM = "item"
    JOINT = "joint"


@dataclass(frozen=True, slots=True)
class Part:
    """Some words of a sentence; of a pattern or name (CODE) every character can be printed."""

    kind: PartKind
    text: str
    place: Place = field(default=Place.WORDS, compare=False)

    def __str__(self) -> str:
        return f"`{self.text}`" if self.kind is PartKind.CODE else self.text


Parts = tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A rule in words: what it does (`effect`, `verb`), and to what (`parts`)."""

    effect: Effect | Mode
    verb: str
    parts: Parts

    def __str__(self) -> str:
        return f"{self.verb} {plain(self.parts)}"

    @property
    def is_cut(self) -> bool:
        """Whether a list or a pattern is longer than it is said."""
        items = (part for part in self.parts if part.place is Place.ITEM)
        return any(part.text.endswith("…") or _MORE.fullmatch(str(part)) for part in items)


def sentence(rule: Rule | OrderedRule) -> Sentence:
    """Say a rule. An observing one says what it would do; switches and ends are not said."""
    effect: Effect | Mode = rule.effect if isinstance(rule, Rule) else rule.mode
    verb = VERBS[effect]
    if rule.settings.observe:
        verb = f"Would {verb[0].lower()}{verb[1:]}"
    return Sentence(effect=effect, verb=verb, parts=tuple(_rule(rule)))


def plain(parts: Sequence[Part]) -> str:
    """Return parts as plain text."""
    return "".join(map(str, parts))


def _text(text: str) -> Part:
    return Part(PartKind.TEXT, text)


def _key(text: str) -> Part:
    return Part(PartKind.KEY, printable(text))


def _code(text: str) -> Part:
    cut = text if len(text) <= LONGEST_ITEM else f"{text[: LONGEST_ITEM - 1]}…"
    return Part(PartKind.CODE, printable(cut))


def _rule(rule: Rule | OrderedRule) -> Iterator[Part]:
    yield from _tools("tools" if rule.match else "every tool", rule.match)
    if isinstance(rule, Rule):
        if rule.exception is not None:
            yield _text(", except ")
            yield from _tools("those" if rule.exception else "every tool", rule.exception)
        if rule.on and set(rule.on) != set(Surface):
            yield _text(", on ")
            yield from _listed([_key(surface) for surface in Surface if surface in rule.on], "and")
    yield from _when(rule.when)


def _when(when: When) -> Iterator[Part]:
    for number, (name, patterns) in enumerate(when):
        yield _text(" and " if number else ", when ")
        yield _key(name)
        yield _text(" is ")
        yield from _patterns(patterns)


def _tools(noun: str, conditions: Sequence[Condition | OrderedCondition]) -> Iterator[Part]:
    """Say which tools: what they are, then what they say of themselves, then their arguments."""
    yield _text(noun)
    hints = [condition for condition in conditions if isinstance(condition, HintIs)]
    arguments = [condition for condition in conditions if isinstance(condition, ArgumentIs)]
    for condition in conditions:
        yield from _condition(condition)
    if hints:
        yield _text(" that say they ")
        yield from _listed([_key(SAYS[said.hint][not said.value]) for said in hints], "and")
    for number, argument in enumerate(arguments):
        yield _text(" and argument " if number else " where argument ")
        yield _key(argument.pointer or "(all of them)")
        yield _text(" is ")
        yield from _patterns(argument.patterns)


def _condition(condition: Condition | OrderedCondition) -> Iterator[Part]:
    match condition:
        case TextIs(field, patterns):
            yield _text(f" {_LEADS[field]} ")
            yield from _patterns(patterns)
        case AnyTagIs(patterns):
            yield _text(" tagged ")
            yield from _patterns(patterns)
        case OneOf(field, values):
            yield _text(f" {_LEADS[field]} ")
            yield from _listed([_key(value) for value in values], "or")
        case PermissionIs(level, or_higher):
            yield _text(" with permission ")
            yield _key(level)
            yield _text(" or higher" if or_higher else " or lower")
        case AnySideEffect(flags):
            yield _text(" with side effect ")
            yield from _listed([_key(flag.replace("_", " ")) for flag in flags], "or")
        case Selector(field, patterns):
            yield _text(f" {_LEADS[field]} ")
            yield from _selected(patterns)
        case _:
            pass  # hints and arguments are said after these, by `_tools`


def _patterns(patterns: Patterns) -> Iterator[Part]:
    yield from _listed([_code(pattern) for pattern in patterns], "or")


def _selected(patterns: Patterns) -> Iterator[Part]:
    """Say match-items: the wanted ones, then the excluded ones."""
    pieces = [piece for text in patterns for part in text.split(",") if (piece := trim(part))]
    wanted = [_code(piece) for piece in pieces if not piece.startswith("!")]
    excluded = [_code(piece[1:]) for piece in pieces if piece.startswith("!")]
    if wanted or not excluded:
        yield from _listed(wanted, "or")
    else:
        yield _text("anything")
    if excluded:
        yield _text(" but not ")
        yield from _listed(excluded, "or")


def _listed(parts: Sequence[Part], joint: str) -> Iterator[Part]:
    """List parts as `a, b or c`. An empty list matches nothing, and says so."""
    if not parts:
        yield Part(PartKind.TEXT, "nothing", Place.ITEM)
    kept = parts if len(parts) <= MOST_ITEMS else parts[: MOST_ITEMS - 1]
    for number, part in enumerate(kept):
        if number:
            yield _joint(f" {joint} " if number == len(parts) - 1 else ", ")
        yield replace(part, place=Place.ITEM)
    if len(kept) < len(parts):
        yield _joint(f" {joint} ")
        yield Part(PartKind.TEXT, f"{len(parts) - len(kept)} more", Place.ITEM)


def _joint(text: str) -> Part:
    return Part(PartKind.TEXT, text, Place.JOINT)
