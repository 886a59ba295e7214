"""A rule in its layer: the tools that it matches, and where, when and for which calls it fires."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from toolpolicy.engine.lint.conditions import Box, box_of
from toolpolicy.engine.lint.findings import Finding, FindingCode
from toolpolicy.engine.pointers import tokens
from toolpolicy.engine.values import ArgumentIs, Condition, Layer, OrderedRule, Rule
from toolpolicy.engine.words import Effect, Surface


class Span(NamedTuple):
    """From when until when something holds; None is ever."""

    start: datetime | None
    end: datetime | None

    def within(self, other: "Span", now: datetime) -> bool:
        """Tell whether, from now on, it lies in the other."""
        start = max(self.start or now, now)
        begins = other.start is None or other.start <= start
        return begins and (other.end is None or (self.end is not None and self.end <= other.end))


Arguments = frozenset[tuple[tuple[str, ...], tuple[str, ...], bool]]
"""Conditions on arguments: pointer, patterns, and whether doubt satisfies them."""
Carve = tuple[tuple[Condition, ...], bool]
"""An exception that waits for arguments, and whether doubt satisfies it."""


class Firing(NamedTuple):
    """Rows that a rule fires on, given its arguments and unless its exception carves them out."""

    rows: int
    arguments: Arguments = frozenset()
    carve: Carve | None = None


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A rule that is switched on, in its layer, with the rows whose attributes satisfy it."""

    place: int
    """That of its layer in the order of application."""
    layer: Layer
    rule: Rule | OrderedRule
    number: int
    waits: bool
    """Whether its match waits for arguments."""
    rows: int
    carvable: int

    @property
    def effect(self) -> Effect | None:
        """Its effect; None for an ordered one."""
        return self.rule.effect if isinstance(self.rule, Rule) else None

    @cached_property
    def box(self) -> Box:
        """The contexts in which it holds."""
        return box_of(self.layer, self.rule)

    @cached_property
    def span(self) -> Span:
        """The time in which it holds."""
        ends = [self.layer.settings.valid_until, self.rule.settings.expires_at]
        end = min((end for end in ends if end is not None), default=None)
        return Span(self.layer.settings.valid_from, end)

    @property
    def observes(self) -> bool:
        """Whether it changes nothing itself."""
        return self.layer.settings.observe or self.rule.settings.observe

    @property
    def waives(self) -> bool:
        """Whether it may spare the approval, or settle it."""
        return self.layer.settings.may_waive_approval

    @property
    def name(self) -> str:
        """The rule as messages name it."""
        return self.rule.id or f"#{self.number}"

    def said(self, found: FindingCode, message: str, **witness: Any) -> Finding:
        """Return a finding about it."""
        return Finding(
            code=found,
            message=message,
            layer=self.layer.name,
            rule=self.rule.id,
            number=self.number,
            witness=witness,
        )

    def wire(self) -> dict[str, Any]:
        """Return it as witnesses name it."""
        return {"layer": self.layer.name, "rule": self.rule.id, "number": self.number}

    def firing(self, surface: Surface, asked: int) -> list[Firing]:
        """Return what a strict rule fires on, of the rows asked, by what it waits for."""
        rows = self.rows & asked
        rule = self.rule
        if not rows or isinstance(rule, OrderedRule) or (rule.on and surface not in rule.on):
            return []
        if surface is not Surface.CALL:
            # On a listing an argument is met for `allow` alone, and carves nothing.
            return [Firing(rows)] if rule.effect is Effect.ALLOW or not self.waits else []
        fail_safe = self.layer.settings.fail_safe
        arguments = _arguments(rule.match, doubt=fail_safe and rule.effect.restricts)
        carve = (rule.exception or (), fail_safe and not rule.effect.restricts)
        found = [Firing(rows & ~self.carvable, arguments)]
        found.append(Firing(rows & self.carvable, arguments, carve))
        return [firing for firing in found if firing.rows]


def _arguments(conditions: Iterable[Condition], *, doubt: bool) -> Arguments:
    return frozenset(
        (tuple(tokens(one.pointer)), one.patterns, doubt)
        for one in conditions
        if isinstance(one, ArgumentIs)
    )
