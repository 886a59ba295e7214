"""The values that the engine works on: frozen and slotted; their words stand in `words`."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Final

from toolpolicy.engine.words import (
    Category,
    Default,
    Effect,
    Exposure,
    Hint,
    Mode,
    Permission,
    Scope,
    SideEffect,
    Surface,
)

Patterns = tuple[str, ...]


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
"""No arguments document at all, which is not the same as `null`."""


# --- conditions: one small class a kind of field -------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextIs:
    """Globs over one text attribute: name, family, group, parent, verb, method or scope."""

    field: str
    patterns: Patterns


@dataclass(frozen=True, slots=True)
class AnyTagIs:
    """Globs over the tags: any tag by any pattern."""

    patterns: Patterns


@dataclass(frozen=True, slots=True)
class OneOf:
    """The declared category or exposure is one of these."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PermissionIs:
    """The declared permission is this level, or higher (`or_higher`), or lower."""

    level: Permission
    or_higher: bool


@dataclass(frozen=True, slots=True)
class AnySideEffect:
    """Any of these side effects is declared true."""

    flags: tuple[SideEffect, ...]


@dataclass(frozen=True, slots=True)
class HintIs:
    """A declared hint has this value."""

    hint: Hint
    value: bool


@dataclass(frozen=True, slots=True)
class ArgumentIs:
    """Globs over one argument of the call, found by pointer."""

    pointer: str
    patterns: Patterns


AttributeCondition = TextIs | AnyTagIs | OneOf | PermissionIs | AnySideEffect | HintIs
Condition = AttributeCondition | ArgumentIs


@dataclass(frozen=True, slots=True)
class Selector:
    """Match-items over one attribute, in a rule of an ordered layer."""

    field: str
    patterns: Patterns


OrderedCondition = Selector | HintIs

When = tuple[tuple[str, Patterns], ...]
"""Context keys that must be present and match, in key order."""


# --- rules and layers ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSettings:
    """What stands beside a published rule: switches, end, examples, approval options."""

    enabled: bool = True
    observe: bool = False
    expires_at: datetime | None = None
    examples: tuple[Any, ...] = field(default=(), hash=False)
    approval: dict[str, Any] | None = field(default=None, hash=False)


PLAIN: Final = RuleSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule of a strict layer; `exception` None means that nothing is carved out."""

    effect: Effect
    on: tuple[Surface, ...] = ()
    match: tuple[Condition, ...] = ()
    exception: tuple[Condition, ...] | None = None
    when: When = ()
    id: str | None = None
    reason: str | None = None
    settings: RuleSettings = PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedRule:
    """A rule of an ordered layer."""

    match: tuple[OrderedCondition, ...]
    mode: Mode
    when: When = ()
    id: str | None = None
    reason: str | None = None
    settings: RuleSettings = PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerSettings:
    """A layer's place and switches. `target` is None for config and globs for every other scope."""

    scope: Scope = Scope.CONFIG
    target: Patterns | None = None
    position: int = 0
    enabled: bool = True
    fail_safe: bool = False
    may_waive_approval: bool = True
    observe: bool = False
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    description: str = ""


BARE: Final = LayerSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictLayer:
    """A layer of combining `deny_overrides`: order inside never changes the outcome."""

    name: str | None = None
    default: Default = Default.ALLOW
    rules: tuple[Rule, ...] = ()
    settings: LayerSettings = BARE


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedLayer:
    """A layer of combining `last_match`: the last matching rule with an opinion decides."""

    name: str | None = None
    rules: tuple[OrderedRule, ...] = ()
    settings: LayerSettings = BARE


Layer = StrictLayer | OrderedLayer


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Layers in the order in which they were written."""

    layers: tuple[Layer, ...] = ()


# --- what is judged -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A tool as it declares itself (SPEC §1). None = unknown, or "has none" for the texts."""

    name: str
    family: str | None = None
    tags: tuple[str, ...] = ()
    category: Category | None = None
    exposure: Exposure | None = None
    permission: Permission | None = None
    side_effects: frozenset[SideEffect] | None = None
    group: str | None = None
    parent: str | None = None
    verb: str | None = None
    method: str | None = None
    scope: str | None = None
    hints: tuple[tuple[Hint, bool], ...] = ()
    default_permission: Mode | None = None
    title: str | None = None
    description: str | None = None
    input_schema: Any = field(default=None, hash=False)

    def hint(self, hint: Hint) -> bool | None:
        """Return the declared value of `hint`, None when unknown."""
        return dict(self.hints).get(hint)
