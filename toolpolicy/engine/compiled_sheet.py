"""A layer's rules turned round: of each rule, which subjects of a fixed row satisfy it.

A set of subjects is an integer here, one bit a subject. So one pass over the rules of a layer says
of all subjects at once what fires, however many they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from toolpolicy.engine.compiled_layers import CompiledLayer, numbers_of
from toolpolicy.engine.values import Rule, StrictLayer, Subject
from toolpolicy.engine.words import Default, Effect, Scope, Surface

Fired = Mapping[Effect, int]
"""Of each effect, the subjects that a rule of it fires on."""


class _Line(NamedTuple):
    """A rule: its effect, its bit where context or clock say whether it stands, its subjects."""

    effect: Effect
    condition: int
    subjects: int


class Sheet:
    """One layer over a row of subjects, before one listing surface and before calls."""

    def __init__(self, layer: CompiledLayer, surface: Surface, subjects: Sequence[Subject]) -> None:
        self._compiled = layer
        self._everyone = (1 << len(subjects)) - 1
        self._listing: list[_Line] = []
        self._calls: list[_Line] = []
        self._unsettled: list[_Line] = []
        """What `_calls` leaves to arguments, and all rules of an ordered layer."""
        satisfied, carvable = turned(layer, subjects)
        for number, some in satisfied.items():
            rule = layer.layer.rules[number]
            if rule.settings.observe:
                continue
            condition = layer.conditional & 1 << number
            if isinstance(rule, Rule):
                line = _Line(rule.effect, condition, some)
                waits = bool(layer.waiting >> number & 1)
                self._add(rule, line, carvable.get(number, 0), surface, waits=waits)
            else:
                self._unsettled.append(_Line(Effect.ALLOW, condition, some))

    def _add(
        self, rule: Rule, line: _Line, carvable: int, surface: Surface, *, waits: bool
    ) -> None:
        on = rule.on or tuple(Surface)
        # On a listing an argument is met for `allow` alone, and carves nothing (SPEC §3).
        if surface in on and (not waits or rule.effect is Effect.ALLOW):
            self._listing.append(line)
        if Surface.CALL in on:
            left = line.subjects if waits else carvable
            self._calls.append(line._replace(subjects=line.subjects & ~left))
            if left:
                self._unsettled.append(line._replace(subjects=left))

    @property
    def waives(self) -> bool:
        """Whether its auto_approve counts."""
        return self._compiled.layer.settings.may_waive_approval

    def on_listing(self, standing: int) -> Fired:
        """Return what fires on the listing surface."""
        return _fired(self._listing, standing)

    def on_calls(self, standing: int) -> Fired:
        """Return what fires on every call."""
        return _fired(self._calls, standing)

    def refused(self, fired: Fired) -> int:
        """Return the subjects that the layer refuses where these rules fire."""
        layer = self._compiled.layer
        if isinstance(layer, StrictLayer) and layer.default is Default.DENY:
            return fired[Effect.DENY] | self._everyone & ~fired[Effect.ALLOW]
        return fired[Effect.DENY]

    def unsettled(self, standing: int) -> int:
        """Return the subjects of which the sets do not tell: arguments or an ordered list do."""
        layer = self._compiled.layer
        if not isinstance(layer, StrictLayer) and layer.settings.scope is Scope.CONFIG:
            return self._everyone
        some = 0
        for subjects in _fired(self._unsettled, standing).values():
            some |= subjects
        return some


def turned(
    layer: CompiledLayer, subjects: Sequence[Subject]
) -> tuple[dict[int, int], dict[int, int]]:
    """Return the subjects that satisfy each rule, and those that arguments can carve out of it."""
    satisfied: dict[int, int] = {}
    carvable: dict[int, int] = {}
    for number, subject in enumerate(subjects):
        bit = 1 << number
        found, carved = layer.find(subject)
        for rule in numbers_of(found):
            satisfied[rule] = satisfied.get(rule, 0) | bit
        for rule in numbers_of(carved):
            carvable[rule] = carvable.get(rule, 0) | bit
    return satisfied, carvable


def _fired(lines: Iterable[_Line], standing: int) -> Fired:
    fired = dict.fromkeys(Effect, 0)
    for effect, condition, subjects in lines:
        if condition & standing == condition:
            fired[effect] |= subjects
    return fired
