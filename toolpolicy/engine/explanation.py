"""A decision explained as data, and as one sentence each for the agent, a person and the admin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from toolpolicy.engine.decision import Decision
from toolpolicy.engine.evaluate import Judged, judge
from toolpolicy.engine.explain import (
    Decider,
    LayerTrace,
    RuleTrace,
    approval_decider,
    opening_decider,
    trace,
    values_met,
)
from toolpolicy.engine.faults import printable
from toolpolicy.engine.matching import Case
from toolpolicy.engine.messages import CAUSES, message
from toolpolicy.engine.strict_wire import write_patterns
from toolpolicy.engine.values import Policy
from toolpolicy.engine.words import Approval, Outcome, ReasonCode

_PERSON = {
    Outcome.DENY: "is denied",
    Outcome.NEEDS_APPROVAL: "needs approval",
    Outcome.ALLOW: "is allowed",
    Outcome.HIDE: "is hidden (a call is still possible)",
    Outcome.LIST: "is listed",
}
_BY = {
    "nothing": "no rule says otherwise",
    "declared": "the tool declares that it needs approval",
    "registry": "the tool is not as it was when it was reviewed, or is not registered",
    "tool_default": "nothing switches it on or off, so that the tool's own default counts",
}


@dataclass(frozen=True, slots=True)
class _Read:
    """One judged subject with its trace, and its approval by itself."""

    judged: Judged
    case: Case
    layers: tuple[LayerTrace, ...]
    approval: Approval


def explain(
    policy: Policy,
    targets: Sequence[Judged],
    context: Mapping[str, str],
    decision: Decision,
    *,
    now: datetime | None,
) -> dict[str, Any]:
    """Explain a decision of `evaluate` or `evaluate_call` (the same policy, targets and time).

    Returns JSON: `decider` {subject, tool, kind, layer?, scope?, rule?, index?}, `sentences`
    {agent, person, admin}, `subjects` [{tool, family, layers: [{layer, scope, combining, applies,
    rules}]}]. The rule that decides says which values it `met`.
    """
    surface = decision.surface
    alone = [decision]
    if len(targets) > 1:
        alone = [judge(policy, [judged], context, surface, now) for judged in targets]
    reads = []
    for judged, settled in zip(targets, alone, strict=True):
        case = Case(subject=judged.subject, context=context, surface=surface, args=judged.args)
        reads.append(_Read(judged, case, trace(policy, case, now=now), settled.approval))
    subject, decider = _decider(reads, decision)
    return {
        "decider": _write_decider(policy, reads[subject], subject, decider),
        "sentences": _sentences(policy, reads, subject, decider, decision),
        "subjects": [
            _write_subject(read, number, subject, decider) for number, read in enumerate(reads)
        ],
    }


def explain_stop(name: str, reason_code: ReasonCode, detail: str = "") -> dict[str, Any]:
    """Explain a refusal that came before any rule was read."""
    sentence = message(name, reason_code, None, detail)
    sentences = {
        "agent": sentence,
        "person": printable(f"`{name}` {_PERSON[Outcome.DENY]}: {CAUSES[reason_code]}."),
        "admin": printable(f"No rule was read. Decided by: {reason_code}, {CAUSES[reason_code]}."),
    }
    decider = {"subject": 0, "tool": name, "kind": str(reason_code)}
    return {"decider": decider, "sentences": sentences, "subjects": []}


def _decider(reads: Sequence[_Read], decision: Decision) -> tuple[int, Decider]:
    blocked = decision.blocked_by
    if blocked is not None:
        kind = "layer_default" if blocked.rule is None else "rule"
        return decision.about, Decider(kind, blocked.layer_index, blocked.rule)
    if decision.reason_code is ReasonCode.TOOL_DEFAULT_OFF:
        return decision.about, Decider("tool_default")
    if decision.needs_approval:
        return decision.about, _asks(reads[decision.about])
    for subject, read in enumerate(reads):
        waived = read.approval is Approval.WAIVED
        if waived and (waiving := approval_decider(read.layers, required=False)):
            return subject, waiving
    for subject, read in enumerate(reads):
        if opening := opening_decider(read.layers, read.judged.subject):
            return subject, opening
    return 0, Decider("nothing")


def _asks(read: _Read) -> Decider:
    """Return what asks for the approval that one subject needs."""
    if read.approval is not Approval.REQUIRED:
        return Decider("declared")
    asking = approval_decider(read.layers, required=True)
    if asking is not None:
        return asking
    floor = read.judged.floor is Approval.REQUIRED
    return Decider("registry" if floor else "tool_default")


# --- as data -------------------------------------------------------------------------------------


def _write_decider(policy: Policy, read: _Read, subject: int, decider: Decider) -> dict[str, Any]:
    out: dict[str, Any] = {
        "subject": subject,
        "tool": read.judged.subject.name,
        "kind": decider.kind,
    }
    if decider.layer_index is not None:
        layer = policy.layers[decider.layer_index]
        out.update(layer=layer.name, scope=str(layer.settings.scope))
        if decider.rule is not None:
            out.update(rule=layer.rules[decider.rule].id, index=decider.rule)
    return out


def _write_subject(read: _Read, number: int, subject: int, decider: Decider) -> dict[str, Any]:
    mine = decider if number == subject else None
    return {
        "tool": read.judged.subject.name,
        "family": read.judged.subject.family,
        "layers": [_write_layer(entry, mine, read.case) for entry in read.layers],
    }


def _write_layer(entry: LayerTrace, decider: Decider | None, case: Case) -> dict[str, Any]:
    place = entry.layer.settings
    here = decider is not None and decider.layer_index == entry.index
    out: dict[str, Any] = {
        "layer": entry.layer.name,
        "scope": str(place.scope),
        "combining": str(entry.combining),
        "applies": entry.because is None,
        "decider": here and decider is not None and decider.rule is None,
    }
    if place.observe:
        out["observing"] = True
    if entry.because is not None:
        out["because"] = entry.because
        if entry.because == "target":
            out.update(target=write_patterns(place.target or ()), actual=entry.actual)
        return out
    chosen = decider.rule if here and decider is not None else None
    out["rules"] = [_write_rule(step, decider=step.rule == chosen) for step in entry.rules]
    if chosen is not None:
        out["rules"][chosen]["met"] = values_met(entry.layer.rules[chosen], case)
    return out


def _write_rule(step: RuleTrace, *, decider: bool) -> dict[str, Any]:
    out: dict[str, Any] = {
        "index": step.rule,
        "rule": step.id,
        "effect": step.effect,
        "result": step.result,
        "decider": decider,
    }
    if step.field is not None:
        out.update(field=step.field, actual=step.actual)
    if step.unreadable:
        out["unreadable"] = list(step.unreadable)
    if step.observing:
        out["observing"] = True
    return out


# --- as sentences --------------------------------------------------------------------------------


def _sentences(
    policy: Policy, reads: Sequence[_Read], subject: int, decider: Decider, decision: Decision
) -> dict[str, str]:
    name = reads[subject].judged.subject.name
    cause = _cause(policy, decider)
    return {
        "agent": message(name, decision.reason_code, decision.blocked_by),
        "person": printable(f"`{name}` {_PERSON[decision.outcome]}: {cause}."),
        "admin": printable(f"{_counts(reads[subject])} Decided by: {cause}."),
    }


def _cause(policy: Policy, decider: Decider) -> str:
    if decider.layer_index is None:
        return _BY[decider.kind]
    layer = policy.layers[decider.layer_index]
    where = f"the {layer.settings.scope} layer `{layer.name}`"
    if decider.rule is None:
        return f"{where} refuses what no rule of it allows"
    rule = layer.rules[decider.rule]
    words = "the rule" if rule.id is None else f"the rule `{rule.id}`"
    reason = f", which says “{rule.reason}”" if rule.reason else ""
    return f"{words} (number {decider.rule + 1}) of {where}{reason}"


def _counts(read: _Read) -> str:
    """Say what was read for one subject, in numbers."""
    applied = [entry for entry in read.layers if entry.because is None]
    steps = [step for entry in applied for step in entry.rules]
    doubtful = sum(1 for step in steps if step.unreadable or step.result == "unreadable")
    found = f"{sum(1 for step in steps if step.result == 'matches')} of {len(steps)} rules match"
    unread = f", {doubtful} could not be read in full" if doubtful else ""
    return f"{len(applied)} of {len(read.layers)} layers apply, {found}{unread}."
