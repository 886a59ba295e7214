"""Reading one condition against one subject and its arguments: one small predicate a kind of field.

A predicate says YES, NO, or why it cannot say; `settle` turns that into matched or not, by the
direction of the rule (SPEC §3, fail_safe). The reading keeps the field and the actual value, so
that a decision can be explained completely.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from toolpolicy.engine.canonical import number_text
from toolpolicy.engine.globs import any_glob
from toolpolicy.engine.matchitems import excludes, match_items
from toolpolicy.engine.pointers import Missing, resolve
from toolpolicy.engine.values import (
    ABSENT,
    AnySideEffect,
    AnyTagIs,
    ArgumentIs,
    AttributeCondition,
    Condition,
    HintIs,
    OneOf,
    Patterns,
    PermissionIs,
    Selector,
    Subject,
    TextIs,
)
from toolpolicy.engine.words import Effect, Permission, SideEffect, Surface


class Truth(Enum):
    """What a condition says by itself, before the direction of its rule settles it."""

    YES = "yes"
    NO = "no"
    UNREADABLE = "unreadable"
    """An unknown attribute, or an argument that cannot be read."""
    ELEMENT = "element"
    """An element of an array argument matches."""
    OPEN = "open"
    """An argument condition where there are no arguments yet: on a listing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One condition read: its truth, the field, and the actual value (None where there is none)."""

    truth: Truth
    field: str
    actual: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a policy is read against: one subject with its arguments, in a context, on a surface."""

    subject: Subject
    context: Mapping[str, str]
    surface: Surface
    args: Any = ABSENT


def _said(*, matched: bool) -> Truth:
    return Truth.YES if matched else Truth.NO


def read_condition(condition: Condition, case: Case) -> Reading:
    """Read one condition of a strict rule."""
    if isinstance(condition, ArgumentIs):
        return _read_argument(condition, case)
    return _read_attribute(condition, case.subject)


def _read_attribute(condition: AttributeCondition, subject: Subject) -> Reading:
    match condition:
        case TextIs(field, patterns):
            return _read_text(field, getattr(subject, field), patterns)
        case AnyTagIs(patterns):
            return _read_tag_globs(patterns, subject.tags)
        case OneOf(field, values):
            value = getattr(subject, field)
            return _known(field, value, matched=value in values)
        case PermissionIs():
            return _read_permission(condition, subject.permission)
        case AnySideEffect(flags):
            return _read_side_effects(flags, subject.side_effects)
        case _:
            return read_hint(condition, subject)


def _read_tag_globs(patterns: Patterns, tags: tuple[str, ...]) -> Reading:
    hit = any(any_glob(patterns, tag) for tag in tags)
    return Reading(_said(matched=hit), "tags", list(tags))


def _read_permission(condition: PermissionIs, held: Permission | None) -> Reading:
    if held is None:
        return Reading(Truth.UNREADABLE, "permission")
    gap = held.rank - condition.level.rank
    return Reading(_said(matched=gap >= 0 if condition.or_higher else gap <= 0), "permission", held)


def _read_side_effects(
    flags: tuple[SideEffect, ...], held: frozenset[SideEffect] | None
) -> Reading:
    if held is None:
        return Reading(Truth.UNREADABLE, "side_effects")
    return Reading(_said(matched=not held.isdisjoint(flags)), "side_effects", sorted(held))


def _read_text(field: str, value: str | None, patterns: Patterns) -> Reading:
    # Absent means "has none": a definite no, never unreadable.
    return Reading(_said(matched=value is not None and any_glob(patterns, value)), field, value)


def _known(field: str, value: Any, *, matched: bool) -> Reading:
    truth = Truth.UNREADABLE if value is None else _said(matched=matched)
    return Reading(truth, field, value)


def read_hint(condition: HintIs, subject: Subject) -> Reading:
    """Read one hint; an undeclared one satisfies neither true nor false."""
    declared = subject.hint(condition.hint)
    return _known(f"hints.{condition.hint}", declared, matched=declared == condition.value)


def _read_argument(condition: ArgumentIs, case: Case) -> Reading:
    field = f"arg {condition.pointer or '(whole)'}"
    if case.surface is not Surface.CALL:
        return Reading(Truth.OPEN, field)
    if case.args is ABSENT:
        return Reading(Truth.UNREADABLE, field, ABSENT)
    found = resolve(condition.pointer, case.args)
    if found is Missing.ABSENT or (not isinstance(found, Missing) and found.value is None):
        return Reading(Truth.NO, field)
    if isinstance(found, Missing):
        return Reading(Truth.UNREADABLE, field, found)
    truth = value_truth(found.value, lambda text: any_glob(condition.patterns, text))
    return Reading(truth, field, found.value)


def value_truth(value: Any, hits: Callable[[str], bool]) -> Truth:
    """Say what an argument's value (not null) says to a condition that `hits` its texts."""
    text = scalar_text(value)
    if text is not None:
        return _said(matched=hits(text))
    if not isinstance(value, list) or not value:
        return Truth.UNREADABLE
    texts = [scalar_text(item) for item in value]
    if any(item is None for item in texts):
        return Truth.UNREADABLE
    hit = any(hits(item) for item in texts if item is not None)
    return Truth.ELEMENT if hit else Truth.NO


def scalar_text(value: Any) -> str | None:
    """Return the text by which a scalar argument matches; None for what is none (R16)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    return None


def read_selector(condition: Selector, subject: Subject) -> Reading:
    """Read one selector of an ordered rule; an absent text is the empty one (SPEC §4)."""
    if condition.field == "tags":
        return _read_tags(condition.patterns, subject.tags)
    value = getattr(subject, condition.field)
    matched = match_items(value or "", condition.patterns)
    return Reading(_said(matched=matched), condition.field, value)


def _read_tags(patterns: Patterns, tags: tuple[str, ...]) -> Reading:
    items = tags or ("",)
    hit = not any(excludes(tag, patterns) for tag in items) and any(
        match_items(tag, patterns) for tag in items
    )
    return Reading(_said(matched=hit), "tags", list(tags))


def settle(truth: Truth, effect: Effect, *, inside_except: bool, fail_safe: bool) -> bool:
    """Say whether a condition counts as matched.

    In doubt the strict direction wins: matched in a restricting rule, unmatched in a permitting
    one, the other way round inside `except`. Without fail_safe nothing doubtful matches, save an
    open argument condition of an `allow` (published).
    """
    match truth:
        case Truth.YES:
            return True
        case Truth.NO:
            return False
        case Truth.OPEN:
            return effect is Effect.ALLOW and not inside_except
        case _:
            return fail_safe and effect.restricts is not inside_except
