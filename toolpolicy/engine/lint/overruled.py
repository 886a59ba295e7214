"""Rules of the ordered list that never decide, and group baselines that verb defaults overrule."""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property, reduce
from operator import or_
from typing import Final, NamedTuple

from toolpolicy.engine.faults import shown
from toolpolicy.engine.lint.conditions import Box
from toolpolicy.engine.lint.covering import (
    Coverer,
    Covering,
    Groups,
    Reach,
    choose,
    covers,
    given_by,
    likeness,
    ways,
)
from toolpolicy.engine.lint.findings import Finding, FindingCode
from toolpolicy.engine.lint.known import Known
from toolpolicy.engine.lint.overlaps import told
from toolpolicy.engine.lint.placed import Firing, Placed
from toolpolicy.engine.values import OrderedRule, Selector
from toolpolicy.engine.words import Effect, Mode, Surface

_STRICTNESS: Final[dict[Mode | None, int]] = {Mode.ON: 0, Mode.ASK: 1, Mode.OFF: 2}


def check_overruled(known: Known) -> Iterator[Finding]:
    """Find ordered rules that later ones, or strict denies, leave nothing to decide."""
    later = _Later(known)
    for placed in reversed(list(known.ordered)):
        if mode_of(placed) is Mode.AUTO or not placed.rows:
            continue
        found = later.baseline(placed) or later.overruled(placed)
        if found is not None:
            yield found
        later.add(placed)


def mode_of(placed: Placed) -> Mode | None:
    """Return the mode of an ordered rule."""
    return placed.rule.mode if isinstance(placed.rule, OrderedRule) else None


class _Default(NamedTuple):
    """A rule on a verb alone, with the rows that rules after it match, by their modes."""

    placed: Placed
    later: dict[Mode | None, int]


class _Later:
    """The rules behind the one that is looked at."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._groups = Groups(Counter(asks for placed in known.ordered for asks in placed.box))
        self._verbs: list[_Default] = []
        self._matched: dict[Mode | None, int] = dict.fromkeys(_STRICTNESS, 0)

    def add(self, placed: Placed) -> None:
        """Take in a rule: the next one to be looked at stands before it."""
        # What does not settle the approval leaves that to the rules before it.
        if mode_of(placed) is Mode.ASK or placed.waives:
            like = likeness(placed, Firing(placed.rows))
            self._groups.add(like, placed, placed.rows)
        if _selects(placed, "verb") and not (_selects(placed, "name") or _selects(placed, "group")):
            self._verbs.append(_Default(placed, dict(self._matched)))
        self._matched[mode_of(placed)] |= placed.rows

    @cached_property
    def _denials(self) -> Covering:
        return Covering(self._known)

    # --- never decides ---------------------------------------------------------------------------

    def overruled(self, placed: Placed) -> Finding | None:
        """Return the finding that a rule never decides."""
        for boxes in ways(placed.box):
            found = [self._covering(placed, box) for box in boxes]
            by = {id(one): one for some in found if some is not None for one in some}
            if None not in found:
                others = list(by.values())
                return told(self._known, _code(placed, others), placed, others)
        return None

    def _covering(self, placed: Placed, box: Box) -> list[Coverer] | None:
        """Return rules that leave nothing to a rule in some contexts; None if it may decide."""
        given = given_by(self._known, Reach(Surface.CALL, Firing(placed.rows), box))
        groups = [
            group
            for group in self._groups.within(given)
            if group.once & placed.rows and covers(group.like, placed, self._known.now)
        ]
        covered = placed.rows & reduce(or_, (group.once for group in groups), 0)
        usable = (member for group in groups for member in group.members)
        chosen = choose(usable, covered) or [] if covered else []
        denied = self._denied(placed, box, placed.rows & ~covered)
        return None if denied is None else [*chosen, *denied]

    def _denied(self, placed: Placed, box: Box, rows: int) -> list[Coverer] | None:
        """Return strict denies that refuse these rows on every surface; None if they may not."""
        if not rows:
            return []
        reaches = [
            Reach(surface, Firing(rows & asked), box)
            for surface, asked in self._known.asked.items()
            if rows & asked
        ]
        if any(self._denials.left(placed, reach, (Effect.DENY,)) for reach in reaches):
            return None
        return self._denials.coverers(placed, reaches, (Effect.DENY,))

    # --- baselines -------------------------------------------------------------------------------

    def baseline(self, placed: Placed) -> Finding | None:
        """Return the finding that a verb default loosens what a rule says of a group."""
        if not _selects(placed, "group") or _selects(placed, "name"):
            return None
        over = [(one.placed, rows) for one in self._verbs if (rows := self._loosened(placed, one))]
        if not over:
            return None
        by, rows = over[0]
        tools = self._known.names(rows)
        where = "" if by.place == placed.place else f" of the layer {shown(by.layer.name or '')}"
        return placed.said(
            FindingCode.BASELINE_OVERRULED,
            f"`{mode_of(placed)}` for the group is overruled by the verb default"
            f" {shown(by.name)}{where}, which says `{mode_of(by)}` of {shown(tools[0])}",
            by=[one.wire() for one, _ in over[:20]],
            tools=tools,
        )

    def _loosened(self, placed: Placed, default: _Default) -> int:
        """Return the rows that a verb default surely loosens, with nothing after it as strict."""
        by, strictness = default.placed, _STRICTNESS[mode_of(placed)]
        loosens = _STRICTNESS[mode_of(by)] < strictness
        rows = placed.rows & by.rows
        for mode, later in default.later.items():
            if _STRICTNESS[mode] >= strictness:
                rows &= ~later
        if not loosens or not rows or (by.observes and not placed.observes):
            return 0
        held = by.box <= self._known.implied.by(placed.box)
        sure = held and placed.span.within(by.span, self._known.now)
        return rows if sure else 0


def _selects(placed: Placed, field: str) -> bool:
    conditions = placed.rule.match
    return any(isinstance(one, Selector) and one.field == field for one in conditions)


def _code(placed: Placed, by: list[Coverer]) -> FindingCode:
    """Name what it is that rules leave nothing to another."""
    ordered = [one for one in by if isinstance(one, Placed) and mode_of(one) is not None]
    if len(ordered) < len(by):
        return FindingCode.SHADOWED
    modes = {mode_of(one) for one in ordered}
    if modes == {mode_of(placed)}:
        return FindingCode.REDUNDANT
    one = ordered[0]
    alike = (one.place, one.rows, one.box) == (placed.place, placed.rows, placed.box)
    if len(by) == 1 and alike and {Mode.ON, Mode.OFF} == modes | {mode_of(placed)}:
        return FindingCode.CONTRADICTORY
    return FindingCode.ALWAYS_OVERRULED
