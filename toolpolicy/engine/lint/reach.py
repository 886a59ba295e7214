"""Rules that reach nothing: no registered tool, or none where they count."""

from collections.abc import Iterator
from typing import Final

from toolpolicy.engine.faults import shown
from toolpolicy.engine.lint.findings import Finding, FindingCode
from toolpolicy.engine.lint.known import Known
from toolpolicy.engine.lint.nearest import Nearest
from toolpolicy.engine.lint.placed import Placed
from toolpolicy.engine.lint.rows import LISTINGS
from toolpolicy.engine.matchitems import match_items, split
from toolpolicy.engine.values import (
    AnySideEffect,
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
)
from toolpolicy.engine.words import Effect, Mode, Surface

_ANYTHING: Final = ("*",)


def check_reach(known: Known) -> Iterator[Finding]:
    """Find rules that are switched off by what they hold, and those that reach nothing."""
    for compiled in known.policy.layers:
        if compiled.layer.settings.target == ():
            yield Finding(
                code=FindingCode.SWITCHED_OFF,
                layer=compiled.layer.name,
                message="the target is an empty list: the layer never applies",
                witness={"empty": "target"},
            )
    near = _Near(known)
    for placed in known.rules:
        empty = empty_member(placed)
        if empty:
            yield placed.said(
                FindingCode.SWITCHED_OFF, f"{empty[1]}: the rule never fires", empty=empty[0]
            )
        elif known.rows and not _says_nothing(placed) and not known.is_installed(placed):
            yield from _reaching(known, placed, near)


def _says_nothing(placed: Placed) -> bool:
    return isinstance(placed.rule, OrderedRule) and placed.rule.mode is Mode.AUTO


# --- switched off --------------------------------------------------------------------------------


def empty_member(placed: Placed) -> tuple[str, str] | None:
    """Return the member that keeps a rule from ever firing, and what is wrong with it."""
    rule = placed.rule
    for key, patterns in rule.when:
        if _selects_nothing(patterns, items=isinstance(rule, OrderedRule)):
            return f"when/{key}", f"the list of `when` {shown(key)} is empty"
    if isinstance(rule, Rule) and rule.exception == ():
        return "except", "`except` is `{}`, which carves out everything"
    if isinstance(rule, OrderedRule):
        fields = (_empty_selector(condition) for condition in rule.match)
    else:
        doubt = placed.layer.settings.fail_safe and rule.effect.restricts
        fields = (_empty_field(condition, rule, doubt=doubt) for condition in rule.match)
    field = next(filter(None, fields), None)
    return (field, f"the list of `{field}` is empty") if field else None


def _empty_selector(condition: OrderedCondition) -> str:
    if isinstance(condition, Selector) and _selects_nothing(condition.patterns, items=True):
        return condition.field
    return ""


def _selects_nothing(patterns: Patterns, *, items: bool) -> bool:
    """Tell whether a list is empty, or holds nothing that could be matched."""
    return (not patterns) is not items and not (items and split(patterns))


def _empty_field(condition: Condition, rule: Rule, *, doubt: bool) -> str:
    """Return the field of a condition that nothing satisfies; in doubt an unknown value does."""
    match condition:
        case HintIs() | PermissionIs():
            return ""
        case OneOf(field, values):
            return field if not values and not doubt else ""
        case AnySideEffect(flags):
            return "side_effects" if not flags and not doubt else ""
        case ArgumentIs(_, patterns):
            # On a listing the argument of an `allow` is taken as given.
            listed = rule.effect is Effect.ALLOW and rule.on != (Surface.CALL,)
            return "arg" if not patterns and not doubt and not listed else ""
        case TextIs(field, patterns):
            return field if not patterns else ""
        case _:
            return "tags" if not condition.patterns else ""


# --- matches nothing -----------------------------------------------------------------------------


class _Near:
    """The nearest registered name or group, looked up when it is asked for."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._indexes: dict[str, Nearest] = {}

    def find(self, field: str, patterns: Patterns) -> str | None:
        """Return the registered value of a field that is nearest to one of the patterns."""
        if field not in self._indexes:
            values = (getattr(row.subject, field) for row in self._known.rows)
            self._indexes[field] = Nearest(value for value in values if value)
        found = (self._indexes[field].find(pattern) for pattern in patterns[:20])
        return next((name for name in found if name), None)


def _reaching(known: Known, placed: Placed, near: _Near) -> Iterator[Finding]:
    if not placed.rows:
        yield _never(known, placed, near)
        return
    rule = placed.rule
    if isinstance(rule, OrderedRule):
        return
    firing = {s: known.firing(placed, s) for s in rule.on or tuple(Surface)}
    if rule.effect is Effect.HIDE and not any(firing.get(s) for s in LISTINGS):
        yield _nothing(known, placed, "a `hide` takes tools out of listings, and on none of them")
    elif not any(firing.values()):
        yield _nothing(known, placed, "arguments are not known on its surfaces, and so")
    elif Surface.CALL not in firing and not any(
        placed.rows & known.shown[surface] for surface in firing
    ):
        yield _nothing(known, placed, "by their exposure its tools do not stand there, and there")


def _nothing(known: Known, placed: Placed, why: str) -> Finding:
    on = [str(surface) for surface in (placed.rule.on if isinstance(placed.rule, Rule) else ())]
    return placed.said(
        FindingCode.NOTHING_ON_SURFACES,
        f"{why} the rule does nothing",
        surfaces=on or [str(surface) for surface in Surface],
        tools=known.names(placed.rows),
    )


def _never(known: Known, placed: Placed, near: _Near) -> Finding:
    texts = {
        condition.field: condition.patterns
        for condition in placed.rule.match
        if isinstance(condition, TextIs | Selector) and condition.field != "tags"
    }
    group = texts.get("group")
    if isinstance(placed.rule, OrderedRule) and group and not _has_member(known, group):
        return _no_member(placed, group, near)
    name = texts.get("name", _ANYTHING)
    found = near.find("name", name) if name != _ANYTHING else None
    count = len(known.question.registry)
    tools = "the one registered tool" if count == 1 else f"any of the {count:,} registered tools"
    return placed.said(
        FindingCode.NEVER_MATCHES,
        f"it does not match {tools}{_meant(found)}",
        nearest=found,
        patterns={field: list(some) for field, some in texts.items()},
    )


def _no_member(placed: Placed, group: Patterns, near: _Near) -> Finding:
    found = near.find("group", group)
    return placed.said(
        FindingCode.GROUP_EMPTY,
        f"no registered tool is in the group {_listed(group)}{_meant(found)}",
        group=list(group),
        nearest=found,
    )


def _has_member(known: Known, patterns: Patterns) -> bool:
    return any(match_items(row.subject.group or "", patterns) for row in known.rows)


def _listed(patterns: Patterns) -> str:
    return ", ".join(shown(pattern) for pattern in patterns[:3])


def _meant(found: str | None) -> str:
    return f"; did you mean {shown(found)}?" if found else ""
