"""Which rules fire wherever another one does: sets of tools, for groups of rules alike otherwise.

Rules of one effect on one surface that hold in the same contexts, at the same time and for the same
arguments are one group. So a rule is held against groups, of which there are few, and only where
they cover it against single rules, to name some that do.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
from typing import Any, NamedTuple

from toolpolicy.engine.lint.conditions import Asks, Box, parts, target_of
from toolpolicy.engine.lint.known import Known
from toolpolicy.engine.lint.placed import Arguments, Carve, Firing, Placed, Span
from toolpolicy.engine.values import Layer, Rule, StrictLayer
from toolpolicy.engine.words import Default, Effect, Mode, Surface


class Refusal(NamedTuple):
    """The default of a layer, which covers as a rule does."""

    layer: Layer

    def wire(self) -> dict[str, Any]:
        """Return it as witnesses name it."""
        return {"layer": self.layer.name, "default": "deny"}


Coverer = Placed | Refusal


Requirement = Asks | tuple[Any, ...]
"""A condition on the context or on arguments, or an exception."""


class Likeness(NamedTuple):
    """What the rules of a group have in common."""

    word: Effect | Mode | None
    """None for the default of a layer."""
    place: int
    box: Box
    span: Span
    observes: bool
    arguments: Arguments = frozenset()
    carve: Carve | None = None

    @property
    def requirements(self) -> frozenset[Requirement]:
        """What has to be given wherever a rule fires, so that these do as well."""
        carve = () if self.carve is None else (self.carve,)
        return frozenset((*self.box, *self.arguments, *carve))


@dataclass(slots=True)
class Group:
    """Rules alike: the rows that one of them, or more than one, fires on."""

    like: Likeness
    once: int = 0
    twice: int = 0
    members: list[tuple[Coverer, int]] = field(default_factory=list)

    def add(self, coverer: Coverer, rows: int) -> None:
        """Take in one more."""
        self.twice |= self.once & rows
        self.once |= rows
        self.members.append((coverer, rows))


class Groups:
    """Groups, found by what they require: each stands under the rarest of its requirements."""

    def __init__(self, rarity: Mapping[Requirement, int]) -> None:
        self._rarity = rarity
        self._groups: dict[Likeness, Group] = {}
        self._under: dict[Requirement | None, list[tuple[frozenset[Requirement], Group]]] = {}

    def add(self, like: Likeness, coverer: Coverer, rows: int) -> None:
        """Take in a coverer."""
        group = self._groups.get(like)
        if group is None:
            group = self._groups[like] = Group(like)
            needs = like.requirements
            rarest = min(needs, key=lambda one: (self._rarity.get(one, 0), repr(one)), default=None)
            self._under.setdefault(rarest, []).append((needs, group))
        group.add(coverer, rows)

    def within(self, given: frozenset[Requirement]) -> Iterator[Group]:
        """Yield the groups whose requirements are all given."""
        # Sorted: the same rules are named in every process.
        for one in (None, *sorted(given, key=repr)):
            for needs, group in self._under.get(one, ()):
                if needs <= given:
                    yield group


class Reach(NamedTuple):
    """Part of where a rule fires: rows, and one box of contexts."""

    surface: Surface
    firing: Firing
    box: Box


class Covering:
    """The groups of the strict rules of a policy, by effect and surface."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self.dropped: set[int] = set()
        """Rules that were found to change nothing: they cover no other."""
        found = [
            (placed, surface, firing)
            for placed in known.strict
            if placed.effect is not Effect.AUTO_APPROVE or placed.waives
            for surface in Surface
            for firing in known.firing(placed, surface)
        ]
        rarity: Counter[Requirement] = Counter()
        for placed, _, firing in found:
            rarity.update(likeness(placed, firing).requirements)
        self._groups = {key: Groups(rarity) for key in product((*Effect, None), Surface)}
        for placed, surface, firing in found:
            like = likeness(placed, firing)
            self._groups[placed.effect, surface].add(like, placed, firing.rows)
        self._add_defaults(found)

    def _add_defaults(self, found: Iterable[tuple[Placed, Surface, Firing]]) -> None:
        """Take in the layers that refuse by default, for what no allow of theirs ever fires on."""
        allowed: Counter[tuple[int, Surface]] = Counter()
        for placed, surface, firing in found:
            if placed.effect is Effect.ALLOW:
                allowed[placed.place, surface] |= firing.rows
        for place, compiled in enumerate(self._known.layers):
            layer = compiled.layer
            if not isinstance(layer, StrictLayer) or layer.default is not Default.DENY:
                continue
            span = Span(layer.settings.valid_from, layer.settings.valid_until)
            like = Likeness(None, place, target_of(layer), span, layer.settings.observe)
            refusal = Refusal(layer)
            for surface, asked in self._known.asked.items():
                rows = asked & ~allowed[place, surface]
                self._groups[None, surface].add(like, refusal, rows)

    def _against(self, placed: Placed, reach: Reach, effects: Iterable[Effect]) -> Iterator[Group]:
        """Yield the groups that fire wherever a rule does, by an effect or by a default."""
        given = given_by(self._known, reach)
        for effect in (*effects, None):
            for group in self._groups[effect, reach.surface].within(given):
                # An allow only spares from the default of its own layer.
                mine = effect is not Effect.ALLOW or group.like.place == placed.place
                if mine and covers(group.like, placed, self._known.now):
                    yield group

    def left(self, placed: Placed, reach: Reach, effects: Sequence[Effect]) -> int:
        """Return the rows of a reach that no other rule of these effects surely fires on."""
        left = reach.firing.rows
        own = likeness(placed, reach.firing)
        for group in self._against(placed, reach, effects):
            left &= ~(group.twice if group.like == own else group.once)
            if not left:
                break
        return left

    def coverers(
        self, placed: Placed, reaches: Iterable[Reach], effects: Sequence[Effect]
    ) -> list[Coverer] | None:
        """Return rules that fire wherever this one does, none of them dropped; None for none."""
        chosen: dict[int, Coverer] = {}
        for reach in reaches:
            usable = (
                (member, rows)
                for group in self._against(placed, reach, effects)
                for member, rows in group.members
                if member is not placed and id(member) not in self.dropped
            )
            found = choose(usable, reach.firing.rows)
            if found is None:
                return None
            chosen.update((id(one), one) for one in found)
        return list(chosen.values())


def given_by(known: Known, reach: Reach) -> frozenset[Requirement]:
    """Return whatever is given where a rule fires."""
    firing = reach.firing
    carve = () if firing.carve is None else (firing.carve,)
    return frozenset((*known.implied.by(reach.box), *firing.arguments, *carve))


def covers(like: Likeness, placed: Placed, now: datetime) -> bool:
    """Tell whether rules alike count whenever this one does."""
    return (placed.observes or not like.observes) and placed.span.within(like.span, now)


def choose(usable: Iterable[tuple[Coverer, int]], rows: int) -> list[Coverer] | None:
    """Return few of the usable that cover the rows: one where one does; None if they do not."""
    chosen: list[Coverer] = []
    left = rows
    for member, some in usable:
        if not rows & ~some:
            return [member]
        if some & left:
            chosen.append(member)
            left &= ~some
    return None if left else chosen


def likeness(placed: Placed, firing: Firing) -> Likeness:
    """Return what a rule has in common with others of its group."""
    rule = placed.rule
    word = rule.effect if isinstance(rule, Rule) else rule.mode
    place, box, span = placed.place, placed.box, placed.span
    return Likeness(word, place, box, span, placed.observes, firing.arguments, firing.carve)


def reaches(
    known: Known, placed: Placed, surfaces: Iterable[Surface], boxes: Iterable[Box]
) -> list[Reach]:
    """Return where a rule fires within these boxes: covering each reach covers it there."""
    return [
        Reach(surface, firing, box)
        for surface in surfaces
        for firing in known.firing(placed, surface)
        for box in boxes
    ]


def ways(box: Box) -> list[list[Box]]:
    """Return in which boxes one may be covered: as a whole, or value by value."""
    split_up = parts(box)
    return [[box], split_up] if len(split_up) > 1 else [[box]]
