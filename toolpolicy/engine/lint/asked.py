"""What rules ask for that nobody says: arguments, context keys, targets, undeclared values."""

from collections.abc import Iterator
from itertools import islice

from toolpolicy.engine.compiled_layers import numbers_of
from toolpolicy.engine.faults import shown
from toolpolicy.engine.globs import any_glob
from toolpolicy.engine.lint.findings import Finding, FindingCode
from toolpolicy.engine.lint.known import Known
from toolpolicy.engine.lint.nearest import Nearest
from toolpolicy.engine.lint.placed import Placed
from toolpolicy.engine.lint.schemas import may_hold, pointers
from toolpolicy.engine.pointers import tokens
from toolpolicy.engine.values import ArgumentIs, Rule
from toolpolicy.engine.words import Scope, Surface


def check_asked(known: Known) -> Iterator[Finding]:
    """Find arguments that no schema names, and contexts that no caller ever sent."""
    yield from _targets(known)
    keys = None if known.seen_keys is None else Nearest(known.seen_keys)
    for placed in known.rules:
        if keys is not None and known.seen_keys is not None:
            for key, _ in placed.rule.when:
                if key not in known.seen_keys:
                    yield _unseen(placed, key, keys)
        if isinstance(placed.rule, Rule):
            yield from _arguments(known, placed, placed.rule)


def _unseen(placed: Placed, key: str, keys: Nearest) -> Finding:
    found = keys.find(key)
    meant = f"; did you mean {shown(found)}?" if found else ""
    return placed.said(
        FindingCode.WHEN_KEY_UNSEEN,
        f"no caller ever sent {shown(key)} in the context{meant}",
        key=key,
        nearest=found,
    )


def _targets(known: Known) -> Iterator[Finding]:
    for compiled in known.layers:
        layer = compiled.layer
        scope, target = layer.settings.scope, layer.settings.target
        values = known.seen_values.get(str(scope))
        if scope is Scope.CONFIG or not target or values is None:
            continue
        if any(any_glob(target, value) for value in values):
            continue
        near = Nearest(values)
        found = next(filter(None, map(near.find, target[:20])), None)
        meant = f"; did you mean {shown(found)}?" if found else ""
        listed = ", ".join(map(shown, target[:3]))
        yield Finding(
            code=FindingCode.TARGET_UNSEEN,
            layer=layer.name,
            message=f"no {scope} that a caller ever sent is {listed}{meant}",
            witness={"target": list(target), "nearest": found},
        )


def _arguments(known: Known, placed: Placed, rule: Rule) -> Iterator[Finding]:
    asked = known.asked[Surface.CALL]
    matched = (rule.match, placed.rows & asked), (rule.exception or (), placed.carvable & asked)
    for conditions, rows in matched:
        for condition in conditions:
            if isinstance(condition, ArgumentIs) and rows and not _named(known, rows, condition):
                yield _unnamed(known, placed, rows, condition.pointer)


def _named(known: Known, rows: int, condition: ArgumentIs) -> bool:
    names = tokens(condition.pointer)
    return any(may_hold(known.rows[n].subject.input_schema, names) for n in numbers_of(rows))


def _unnamed(known: Known, placed: Placed, rows: int, pointer: str) -> Finding:
    schemas = (known.rows[n].subject.input_schema for n in islice(numbers_of(rows), 20))
    offered = list(dict.fromkeys(one for schema in schemas for one in islice(pointers(schema), 50)))
    found = Nearest(offered).find(pointer)
    meant = f"; did you mean {shown(found)}?" if found else ""
    return placed.said(
        FindingCode.POINTER_UNKNOWN,
        f"no matched tool has an argument {shown(pointer)} in its schema{meant}",
        pointer=pointer,
        nearest=found,
        offered=offered[:20],
        tools=known.names(rows),
    )
