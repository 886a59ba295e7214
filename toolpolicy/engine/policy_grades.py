"""Whether a change of a policy loosens or tightens it: said only where it is so by construction.

To tighten is to show, admit and waive nothing that was not before, whatever else the policy says;
to loosen is the reverse. Of rules `narrowing` knows it; of layers it follows from the laws of
strict ones. Where a list's order matters, little is said.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from toolpolicy.engine.narrowing import AnyRule, changes_nothing, in_force, only_narrows
from toolpolicy.engine.values import Layer, LayerSettings, OrderedLayer, Rule, StrictLayer
from toolpolicy.engine.words import Default, Effect, Scope

_EVER: Final = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class Direction(StrEnum):
    """Which way a change can move answers."""

    LOOSENS = "loosens"
    TIGHTENS = "tightens"


def grade_rule(layer: Layer, before: AnyRule | None, after: AnyRule | None) -> Direction | None:
    """Grade a rule of a layer that was added (`before` is None), removed or changed."""
    if changes_nothing(layer, before, after):
        return None
    if only_narrows(layer, before, after):
        return Direction.TIGHTENS
    return Direction.LOOSENS if only_narrows(layer, after, before) else None


def grade_layer(before: Layer | None, after: Layer | None) -> Direction | None:
    """Grade a layer that was added, removed or changed; rules are compared by `grade_rule`.

    A layer that is there on both sides is graded as if it had its old rules.
    """
    if any(isinstance(layer, OrderedLayer) for layer in (before, after)):
        return None
    old, new = _counting(before), _counting(after)
    if old is None or new is None:
        layer = new or old
        if layer is None or not _only_tightens(layer) or _says_nothing(layer):
            return None
        return Direction.TIGHTENS if old is None else Direction.LOOSENS
    found = set(_member_grades(old, new))
    return found.pop() if len(found) == 1 else None


def _member_grades(old: StrictLayer, new: StrictLayer) -> Iterator[Direction | None]:
    """Yield which way each member moves answers that differs; None for one of which none knows."""
    was, now = old.settings, new.settings
    switches = (
        (old.default is Default.DENY, new.default is Default.DENY),
        (was.fail_safe, now.fail_safe),
        (not was.may_waive_approval, not now.may_waive_approval),
    )
    for before, after in switches:
        if before != after:
            yield Direction.TIGHTENS if after else Direction.LOOSENS
    wider, narrower = _contains(now, was), _contains(was, now)
    if not (wider and narrower):
        known = wider or narrower
        way = Direction.TIGHTENS if wider else Direction.LOOSENS
        yield way if known and _only_tightens(old) and _only_tightens(new) else None


def _contains(wide: LayerSettings, narrow: LayerSettings) -> bool:
    """Tell whether a layer placed as `wide` surely applies wherever one placed as `narrow` does."""
    reaches = wide.scope is Scope.CONFIG or set(wide.target or ()) >= set(narrow.target or ())
    return (
        wide.scope is narrow.scope
        and reaches
        and (wide.valid_from or _EVER[0]) <= (narrow.valid_from or _EVER[0])
        and (wide.valid_until or _EVER[1]) >= (narrow.valid_until or _EVER[1])
    )


def _counting(layer: Layer | None) -> StrictLayer | None:
    """Return the layer where it enforces anything by strict rules."""
    if not isinstance(layer, StrictLayer) or layer.settings.observe:
        return None
    return layer if layer.settings.enabled else None


def _says_nothing(layer: StrictLayer) -> bool:
    """Tell whether the layer changes no answer: no rule of it does, and it lets pass."""
    return layer.default is Default.ALLOW and not any(_in_force(layer))


def _only_tightens(layer: StrictLayer) -> bool:
    """Tell whether the layer waives no approval: then it only ever takes away."""
    return not any(rule.effect is Effect.AUTO_APPROVE for rule in _in_force(layer))


def _in_force(layer: StrictLayer) -> Iterator[Rule]:
    return (rule for rule in layer.rules if in_force(layer, rule) is not None)
