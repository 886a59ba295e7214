"""Why a decision is what it is: each layer and rule read again, with the values that it met.

The trace is made from the same readings as the decision (`matching`, `applying`, `ordered`), rule
by rule instead of until the first no, so that every rule says whether it matched, which field did
not and what was there instead, or what could not be read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from toolpolicy.engine.applying import in_order, is_live, unmet_when, why_not_applied
from toolpolicy.engine.faults import quantity
from toolpolicy.engine.matching import (
    Case,
    Reading,
    Truth,
    read_condition,
    read_hint,
    read_selector,
    settle,
)
from toolpolicy.engine.ordered import Matched, list_says, settles_approval
from toolpolicy.engine.pointers import Missing
from toolpolicy.engine.values import (
    ABSENT,
    Condition,
    HintIs,
    Layer,
    OrderedCondition,
    OrderedLayer,
    OrderedRule,
    Policy,
    Rule,
    StrictLayer,
    Subject,
)
from toolpolicy.engine.words import Approval, Combining, Default, Effect, Mode

LONGEST_VALUE = 200
LONGEST_LIST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTrace:
    """One rule read against one case.

    `result` is `matches`, `no_match`, `unreadable`, `waits_for_arguments`, `switched_off` or
    `expired`; `field` and `actual` say where it failed and what was there. `unreadable` names the
    fields that could not be read and were settled in the strict direction.
    """

    rule: int
    id: str | None
    effect: str
    result: str
    field: str | None = None
    actual: Any = None
    unreadable: tuple[str, ...] = ()
    observing: bool = False

    @property
    def fired(self) -> bool:
        """Whether the rule matched and has an opinion."""
        return self.result == "matches" and self.effect != Mode.AUTO

    @property
    def decides(self) -> bool:
        """Whether the decision heard it: it fired, and is enforced."""
        return self.fired and not self.observing


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTrace:
    """One layer read against one case; `because` says why it does not apply, None when it does."""

    index: int
    layer: Layer
    because: str | None
    actual: str | None = None
    rules: tuple[RuleTrace, ...] = ()

    @property
    def combining(self) -> Combining:
        """How its rules combine."""
        ordered = isinstance(self.layer, OrderedLayer)
        return Combining.LAST_MATCH if ordered else Combining.DENY_OVERRIDES


def trace(policy: Policy, case: Case, *, now: datetime | None) -> tuple[LayerTrace, ...]:
    """Read every layer and rule against a case: strict layers first, then the ordered list."""
    entries = in_order(policy)
    strict = [entry for entry in entries if isinstance(entry[1], StrictLayer)]
    ordered = [entry for entry in entries if isinstance(entry[1], OrderedLayer)]
    return tuple(_trace_layer(index, layer, case, now) for index, layer in (*strict, *ordered))


def _trace_layer(index: int, layer: Layer, case: Case, now: datetime | None) -> LayerTrace:
    because = why_not_applied(layer, case.context, now)
    if because is not None:
        actual = case.context.get(layer.settings.scope) if because == "target" else None
        return LayerTrace(index=index, layer=layer, because=because, actual=actual)
    rules = tuple(_trace_rule(layer, number, case, now) for number in range(len(layer.rules)))
    return LayerTrace(index=index, layer=layer, because=None, rules=rules)


def _trace_rule(layer: Layer, number: int, case: Case, now: datetime | None) -> RuleTrace:
    rule = layer.rules[number]
    result, reading, unreadable = _result(layer, rule, case, now)
    return RuleTrace(
        rule=number,
        id=rule.id,
        effect=str(rule.effect if isinstance(rule, Rule) else rule.mode),
        result=result,
        field=reading.field if reading else None,
        actual=shown_value(reading.actual) if reading else None,
        unreadable=unreadable,
        observing=layer.settings.observe or rule.settings.observe,
    )


_Result = tuple[str, Reading | None, tuple[str, ...]]


def _result(layer: Layer, rule: Rule | OrderedRule, case: Case, now: datetime | None) -> _Result:
    if not is_live(rule.settings, now):
        return ("expired" if rule.settings.enabled else "switched_off"), None, ()
    if isinstance(rule, Rule) and rule.on and case.surface not in rule.on:
        return "no_match", Reading(Truth.NO, "on", str(case.surface)), ()
    key = unmet_when(rule, case.context)
    if key is not None:
        return "no_match", Reading(Truth.NO, f"when {key}", case.context.get(key)), ()
    if isinstance(rule, OrderedRule):
        return _ordered_result(rule, case)
    return _strict_result(rule, case, fail_safe=layer.settings.fail_safe)


def _ordered_result(rule: OrderedRule, case: Case) -> _Result:
    for condition in rule.match:
        reading = _read_ordered(condition, case)
        if reading.truth is not Truth.YES:
            unknown = isinstance(condition, HintIs) and reading.truth is Truth.UNREADABLE
            return ("unreadable" if unknown else "no_match"), reading, ()
    return "matches", None, ()


def _strict_result(rule: Rule, case: Case, *, fail_safe: bool) -> _Result:
    def read(conditions: Sequence[Condition], *, inside: bool) -> Iterator[tuple[Reading, bool]]:
        for condition in conditions:
            reading = read_condition(condition, case)
            holds = settle(reading.truth, rule.effect, inside_except=inside, fail_safe=fail_safe)
            yield reading, holds

    met = list(read(rule.match, inside=False))
    failed = [reading for reading, holds in met if not holds]
    if failed:
        # One definite no decides, whatever else could not be read.
        worst = next((reading for reading in failed if reading.truth is Truth.NO), failed[0])
        return _FAILURES.get(worst.truth, "no_match"), worst, ()
    doubtful = tuple(reading.field for reading, _ in met if reading.truth is Truth.UNREADABLE)
    if rule.exception is not None:
        carved = list(read(rule.exception, inside=True))
        if all(holds for _, holds in carved):
            first = carved[0][0] if carved else Reading(Truth.YES, "everything")
            return "no_match", Reading(first.truth, f"except {first.field}", first.actual), ()
        doubtful += tuple(
            f"except {reading.field}" for reading, _ in carved if reading.truth is Truth.UNREADABLE
        )
    return "matches", None, doubtful


_FAILURES = {Truth.UNREADABLE: "unreadable", Truth.OPEN: "waits_for_arguments"}


def values_met(rule: Rule | OrderedRule, case: Case) -> list[dict[str, Any]]:
    """Return what the conditions of a rule met, each as JSON `{field, actual}`; `when` last."""
    if isinstance(rule, Rule):
        met = [read_condition(condition, case) for condition in rule.match]
    else:
        met = [_read_ordered(condition, case) for condition in rule.match]
    told = [{"field": reading.field, "actual": shown_value(reading.actual)} for reading in met]
    return told + [{"field": key, "actual": case.context.get(key)} for key, _ in rule.when]


def _read_ordered(condition: OrderedCondition, case: Case) -> Reading:
    if isinstance(condition, HintIs):
        return read_hint(condition, case.subject)
    return read_selector(condition, case.subject)


def shown_value(value: Any) -> Any:
    """Return an actual value as a trace shows it: JSON, long texts and lists cut."""
    if value is ABSENT:
        return "(no arguments)"
    if isinstance(value, Missing):
        return "(cannot be entered)"
    if isinstance(value, str):
        return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"
    if isinstance(value, list):
        return [shown_value(item) for item in value[:LONGEST_LIST]] + (
            ["…"] if len(value) > LONGEST_LIST else []
        )
    if isinstance(value, dict):
        return f"(an object with {quantity(len(value), 'member')})"
    return value


# --- who decided ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decider:
    """What settled the answer: a rule or a layer's default, or something beside the rules.

    `kind` is `rule`, `layer_default`, `tool_default`, `declared`, `registry` or `nothing`.
    """

    kind: str
    layer_index: int | None = None
    rule: int | None = None


def approval_decider(traces: Sequence[LayerTrace], *, required: bool) -> Decider | None:
    """Return the rule that asks for approval (`required`) or waives it, None when none does."""
    wanted = Effect.REQUIRE_APPROVAL if required else Effect.AUTO_APPROVE
    for entry in traces:
        if required or entry.layer.settings.may_waive_approval:
            for step in entry.rules:
                if step.decides and step.effect == wanted:
                    return Decider("rule", entry.index, step.rule)
    settling = settles_approval(_matched(traces))
    if settling is None or settling.mode is not (Mode.ASK if required else Mode.ON):
        return None
    return Decider("rule", settling.index, settling.rule)


def opening_decider(traces: Sequence[LayerTrace], subject: Subject) -> Decider | None:
    """Return a permitting rule without whose like the tool would be shut, or somebody be asked.

    It is the allow that opens the last layer that refuses by default, else an `on` that the list
    needs; None where no rule had to permit what is permitted.
    """
    found = None
    for entry in traces:
        if isinstance(entry.layer, StrictLayer) and entry.layer.default is Default.DENY:
            for step in entry.rules:
                if step.decides and step.effect == Effect.ALLOW:
                    found = Decider("rule", entry.index, step.rule)
                    break
    return found or _needed_on(traces, subject)


def _needed_on(traces: Sequence[LayerTrace], subject: Subject) -> Decider | None:
    matched = _matched(traces)
    layers = [
        entry.layer
        for entry in traces
        if isinstance(entry.layer, OrderedLayer)
        and entry.because is None
        and not entry.layer.settings.observe
    ]
    without = list_says([one for one in matched if one.mode is not Mode.ON], layers, subject)
    needed = None
    if without.refusal is not None:
        needed = matched[-1]
    elif without.approval is Approval.REQUIRED:
        needed = settles_approval(matched)
    return None if needed is None else Decider("rule", needed.index, needed.rule)


def _matched(traces: Sequence[LayerTrace]) -> list[Matched]:
    """Return the rules of the ordered list that the decision heard."""
    return [
        Matched(entry.index, entry.layer, step.rule)
        for entry in traces
        if isinstance(entry.layer, OrderedLayer)
        for step in entry.rules
        if step.decides
    ]
