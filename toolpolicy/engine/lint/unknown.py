"""Restricting rules that ask for what tools do not declare."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import and_

from toolpolicy.engine.compiled_layers import CompiledLayer, numbers_of
from toolpolicy.engine.compiled_sheet import turned
from toolpolicy.engine.faults import shown
from toolpolicy.engine.lint.findings import Finding, FindingCode
from toolpolicy.engine.lint.known import Known
from toolpolicy.engine.lint.placed import Placed
from toolpolicy.engine.lint.reach import empty_member
from toolpolicy.engine.lint.rows import bits
from toolpolicy.engine.matching import Case, Truth, read_condition, read_hint
from toolpolicy.engine.values import (
    AnySideEffect,
    ArgumentIs,
    HintIs,
    OneOf,
    OrderedLayer,
    OrderedRule,
    PermissionIs,
    Rule,
    StrictLayer,
    Subject,
)
from toolpolicy.engine.words import Mode, Surface

_Doubtful = tuple[Placed, int]


def check_unknown(known: Known) -> Iterator[Finding]:
    """Find restricting rules whose match hangs on something that a tool does not say."""
    for place, compiled in enumerate(known.layers):
        rules = [p for p in known.rules if p.place == place and not empty_member(p)]
        layer = compiled.layer
        if isinstance(layer, StrictLayer):
            doubtful = _strict(known, layer, rules)
        else:
            doubtful = _ordered(known, layer, rules)
        for placed, rows in doubtful:
            yield _told(known, placed, rows, meant=known.is_installed(placed))


def _strict(known: Known, layer: StrictLayer, rules: Sequence[Placed]) -> Iterator[_Doubtful]:
    """Yield rules with the rows that a fail-safe reading settles otherwise than a plain one."""
    asking = [(placed, placed.rule) for placed in rules if _asks(placed)]
    if not asking:
        return
    found = []
    for fail_safe in (True, False):
        only = tuple(rule for _, rule in asking if isinstance(rule, Rule))
        read = replace(layer, rules=only, settings=replace(layer.settings, fail_safe=fail_safe))
        found.append(turned(CompiledLayer(0, read), [row.subject for row in known.rows])[0])
    for number, (placed, _) in enumerate(asking):
        rows = found[0].get(number, 0) ^ found[1].get(number, 0)
        if rows:
            yield placed, rows


def _asks(placed: Placed) -> bool:
    rule = placed.rule
    if not isinstance(rule, Rule) or not rule.effect.restricts:
        return False
    kinds = HintIs | PermissionIs | OneOf | AnySideEffect
    return any(isinstance(condition, kinds) for condition in rule.match)


def _ordered(known: Known, layer: OrderedLayer, rules: Sequence[Placed]) -> Iterator[_Doubtful]:
    """Yield rules with the rows that they would match, or not, if hints were declared."""
    asking = []
    for placed in rules:
        rule = placed.rule
        if isinstance(rule, OrderedRule) and rule.mode in (Mode.OFF, Mode.ASK):
            hints = [one for one in rule.match if isinstance(one, HintIs)]
            rest = tuple(one for one in rule.match if not isinstance(one, HintIs))
            asking += [(placed, replace(rule, match=rest), hints)] if hints else []
    if not asking:
        return
    stripped = replace(layer, rules=tuple(rule for _, rule, _ in asking))
    found = turned(CompiledLayer(0, stripped), [row.subject for row in known.rows])[0]
    for number, (placed, _, hints) in enumerate(asking):
        rows = found.get(number, 0)
        open_to = reduce(and_, (_rows(known, hint, unknown=True) for hint in hints), rows)
        doubtful = open_to & ~reduce(and_, (_rows(known, h, unknown=False) for h in hints), rows)
        if doubtful:
            yield placed, doubtful


def _rows(known: Known, hint: HintIs, *, unknown: bool) -> int:
    """Return the rows that declare the hint so; with `unknown`, those that do not say as well."""
    told = (None, hint.value) if unknown else (hint.value,)
    return bits(row.subject.hint(hint.hint) in told for row in known.rows)


def _told(known: Known, placed: Placed, rows: int, *, meant: bool) -> Finding:
    strict = placed.layer.settings.fail_safe
    subject = known.rows[numbers_of(rows)[0]].subject
    fields = list(_unread(placed.rule, subject))
    tools = known.names(rows)
    count = len(known.names(rows, most=len(known.rows)))
    who = shown(tools[0]) if count == 1 else f"{shown(tools[0])} and {count - 1} more"
    does = "are taken as matched, to be safe" if strict else "are passed over"
    does = does.replace("are", "is", 1) if count == 1 else does
    found = placed.said(
        FindingCode.VALUE_UNKNOWN,
        f"it asks for {' and '.join(f'`{field}`' for field in fields)}, which is not declared:"
        f" {who} {does}",
        fields=fields,
        tools=tools,
        count=count,
    )
    return replace(found, lighter=strict or meant)


def _unread(rule: Rule | OrderedRule, subject: Subject) -> Iterator[str]:
    case = Case(subject=subject, context={}, surface=Surface.CALL)
    for condition in rule.match:
        if isinstance(condition, ArgumentIs):
            continue
        if isinstance(condition, HintIs):
            reading = read_hint(condition, subject)
        elif isinstance(rule, Rule):
            reading = read_condition(condition, case)  # type: ignore[arg-type]
        else:
            continue
        if reading.truth is Truth.UNREADABLE:
            yield reading.field
