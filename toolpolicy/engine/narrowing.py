"""Whether a change of one rule only narrows, by construction: no call is tried for it.

What is proven holds for every tool, call and context. Not proven does not mean that it widens.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from toolpolicy.engine.values import (
    AnySideEffect,
    AnyTagIs,
    ArgumentIs,
    Condition,
    HintIs,
    Layer,
    OneOf,
    OrderedRule,
    PermissionIs,
    Rule,
    StrictLayer,
    TextIs,
    When,
)
from toolpolicy.engine.words import Default, Effect, Mode

AnyRule = Rule | OrderedRule


def changes_nothing(layer: Layer, before: AnyRule | None, after: AnyRule | None) -> bool:
    """Tell whether it is certain that no answer changes; None stands for no rule."""
    old, new = in_force(layer, before), in_force(layer, after)
    if old is None or new is None:
        return old is new
    return _judged(old) == _judged(new)


def only_narrows(layer: Layer, before: AnyRule | None, after: AnyRule | None) -> bool:
    """Tell whether it is certain that nothing is admitted, shown or waived that was not before."""
    if changes_nothing(layer, before, after):
        return True
    old, new = in_force(layer, before), in_force(layer, after)
    if isinstance(old, OrderedRule) or isinstance(new, OrderedRule):
        return _only_turns_off(layer, old, new)
    return _loses_nothing(old, new) and _gains_nothing(old, new)


def in_force(layer: Layer, rule: AnyRule | None) -> AnyRule | None:
    """Return the rule, None where it can change no answer of its layer."""
    if rule is None or not rule.settings.enabled or rule.settings.observe:
        return None
    if not layer.settings.enabled or layer.settings.observe:
        return None
    if isinstance(rule, OrderedRule):
        return None if rule.mode is Mode.AUTO else rule
    admits_anyway = isinstance(layer, StrictLayer) and layer.default is Default.ALLOW
    idle = (
        (rule.effect is Effect.ALLOW and admits_anyway)
        or (rule.effect is Effect.AUTO_APPROVE and not layer.settings.may_waive_approval)
        or (rule.exception is not None and not rule.exception)
    )
    return None if idle else rule


def _judged(rule: AnyRule) -> tuple[object, ...]:
    """Return what of a rule decides: neither its name nor its reason."""
    common = (rule.match, rule.when, rule.settings.expires_at)
    if isinstance(rule, OrderedRule):
        return rule.mode, *common
    return rule.effect, frozenset(rule.on), rule.exception, *common


def _only_turns_off(layer: Layer, old: AnyRule | None, new: AnyRule | None) -> bool:
    """Tell it of a list, where the last match wins and what an edit uncovers below is not proven.

    Only `on` that becomes `off` in the same place is certain, and only where both count for the
    approval (SPEC section 4): otherwise the `off` can cover an `ask` that the `on` let through.
    """
    return (
        isinstance(old, OrderedRule)
        and isinstance(new, OrderedRule)
        and layer.settings.may_waive_approval
        and (old.mode, new.mode) == (Mode.ON, Mode.OFF)
        and _judged(replace(old, mode=Mode.OFF)) == _judged(new)
    )


def _loses_nothing(old: Rule | None, new: Rule | None) -> bool:
    """Tell whether every restriction of the old rule stands in the new one."""
    if old is None or not old.effect.restricts:
        return True
    stronger = new is not None and new.effect in (old.effect, Effect.DENY)
    return stronger and new is not None and _covers(new, old)


def _gains_nothing(old: Rule | None, new: Rule | None) -> bool:
    """Tell whether whatever the new rule permits, the old one permitted."""
    if new is None or new.effect.restricts:
        return True
    return old is not None and old.effect is new.effect and _covers(old, new)


def _covers(wide: Rule, narrow: Rule) -> bool:
    """Tell whether the wide rule fires wherever the narrow one does."""
    surfaces = not wide.on or (bool(narrow.on) and set(narrow.on) <= set(wide.on))
    carved = wide.exception is None or (
        narrow.exception is not None and _implies(wide.exception, narrow.exception)
    )
    return (
        surfaces
        and carved
        and _implies(narrow.match, wide.match)
        and _when_implies(narrow.when, wide.when)
        and _outlasts(wide, narrow)
    )


def _outlasts(wide: AnyRule, narrow: AnyRule) -> bool:
    end, other = wide.settings.expires_at, narrow.settings.expires_at
    return end is None or (other is not None and other <= end)


def _when_implies(strong: When, weak: When) -> bool:
    held = dict(strong)
    return all(key in held and set(held[key]) <= set(patterns) for key, patterns in weak)


def _implies(strong: Sequence[Condition], weak: Sequence[Condition]) -> bool:
    """Tell whether all of the weak conditions hold wherever all of the strong ones do."""
    return all(any(_one_implies(one, other) for one in strong) for other in weak)


def _one_implies(strong: Condition, weak: Condition) -> bool:
    match strong, weak:
        case (TextIs(field, some), TextIs(other, more)) | (OneOf(field, some), OneOf(other, more)):
            return field == other and _within(some, more)
        case (AnyTagIs(some), AnyTagIs(more)) | (AnySideEffect(some), AnySideEffect(more)):
            return _within(some, more)
        case ArgumentIs(pointer, some), ArgumentIs(other, more):
            return pointer == other and _within(some, more)
        case PermissionIs(level, higher), PermissionIs(bound, or_higher) if higher is or_higher:
            return level.rank >= bound.rank if higher else level.rank <= bound.rank
        case _:
            return isinstance(strong, HintIs) and strong == weak


def _within(some: Collection[str], more: Collection[str]) -> bool:
    return set(some) <= set(more)
