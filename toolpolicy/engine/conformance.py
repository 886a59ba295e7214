"""The conformance face: one function a vector kind, input → dict like `expect` (see tests/vectors).

A refused input raises, or is returned as `{"error": true, ...}` where the kind says why.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from toolpolicy.engine import globs
from toolpolicy.engine import matchitems as items
from toolpolicy.engine.catalog import list_subject
from toolpolicy.engine.decision import BlockedBy, Decision, Verdict
from toolpolicy.engine.documents import (
    allow_deny_layer,
    dump_layers,
    parse_layers,
    parse_policy,
    read_policy,
)
from toolpolicy.engine.evaluate import compile_policy, evaluate, evaluate_call
from toolpolicy.engine.faults import Faults
from toolpolicy.engine.messages import refusal_text
from toolpolicy.engine.ordered import resolve_ordered
from toolpolicy.engine.ordered_wire import HINTS, parse_mode
from toolpolicy.engine.ordered_wire import read_rule as read_ordered_rule
from toolpolicy.engine.reading import Reader
from toolpolicy.engine.subjects import parse_context, parse_subject
from toolpolicy.engine.targets import Known, Refusal, parse_dispatcher
from toolpolicy.engine.targets import unfold as unfold_call
from toolpolicy.engine.values import ABSENT, Policy, StrictLayer, Subject
from toolpolicy.engine.words import Default, ReasonCode, Surface

Json = dict[str, Any]


def glob(case: Json) -> Json:
    """Kind `glob`: {pattern, text} → {match}."""
    return {"match": globs.glob_match(case["pattern"], case["text"])}


def matchitems(case: Json) -> Json:
    """Kind `matchitems`: {item, patterns} → {match}."""
    return {"match": items.match_items(case["item"], tuple(case["patterns"]))}


def modes(case: Json) -> Json:
    """Kind `modes`: {dialect, value} → {mode}."""
    return {"mode": parse_mode(case["value"])}


def rules_serialize(case: Json) -> Json:
    """Kind `rules_serialize`: {set} → {json}: the layers written back."""
    return {"json": dump_layers(parse_layers(case["set"]))}


def rules_allow_deny(case: Json) -> Json:
    """Kind `rules_allow_deny`: {allow, deny} → {layer}."""
    return {"layer": dump_layers([allow_deny_layer(case["allow"], case["deny"])])[0]}


def rules(case: Json) -> Json:
    """Kind `rules`: a published rule set judged for one subject, or for an indirect call."""
    layers = _construct(case["construction"], case["set"])
    policy = compile_policy(layers)
    subject = parse_subject(case["subject"], strict=False)
    context = parse_strings(case.get("context", {}))
    args = case.get("args", ABSENT)
    surface = Surface(case["surface"])
    if case.get("indirect") is None:
        decision = evaluate(policy, subject, context, surface, args)
    else:
        target = parse_subject(case["indirect"]["target"], strict=False)
        own = case["indirect"].get("arguments", args)
        decision = evaluate_call(policy, [(subject, args), (target, own)], context, now=None)
    return {
        "decision": _published(decision),
        "refusal": refusal_text(subject.name, decision.blocked_by),
        "admits": decision.admits,
        "permissive": all(_is_permissive(layer) for layer in layers),
        "layers": len(layers),
    }


rules_quirks = rules


def parse_strings(value: Any) -> Mapping[str, str]:
    """Read a context of the published design: strings only, no reserved words."""
    reader = Reader()
    if reader.has_kind(value, dict, ""):
        for key, text in value.items():
            reader.text(text, f"/{key}")
    return reader.finish(value)


def _is_permissive(layer: StrictLayer) -> bool:
    return layer.default is Default.ALLOW and not layer.rules


def _construct(construction: str, document: Any) -> tuple[StrictLayer, ...]:
    """Build the set; push, extend and from drop layers that say nothing (R7)."""
    if construction in ("single", "from"):
        document = [document]
    layers = parse_layers(document)
    if construction in ("raw", "single"):
        return layers
    return tuple(layer for layer in layers if not _is_permissive(layer))


def _published(decision: Decision) -> Json:
    blocked = decision.blocked_by
    return {
        "visible": decision.visible,
        "callable": decision.callable,
        "approval": str(decision.approval),
        "blocked_by": None
        if blocked is None
        else {
            "layer": blocked.layer_index,
            "layer_name": blocked.layer,
            "rule": blocked.rule,
            "id": blocked.id,
            "reason": blocked.reason,
        },
    }


def ordered(case: Json) -> Json:
    """Kind `ordered`: captain's policy resolved for one tool; bad ones are named, not raised."""
    parsed = []
    for number, wire in enumerate(case["rules"]):
        reader = Reader()
        rule = read_ordered_rule(reader, wire, "")
        if rule is None or reader.faults:
            return {"error": True, "rule": number, "reason": reader.faults[0].code}
        parsed.append(rule)
    default = case.get("default") or None
    mode = None if default is None else parse_mode(default)
    if default is not None and mode is None:
        return {"error": True, "reason": "bad_default"}
    answer = resolve_ordered(parsed, _captain_tool(case["tool"]), mode)
    found = {"mode": answer.mode, "source": answer.source, "effective": answer.effective}
    return found if answer.rule is None else {**found, "rule": answer.rule}


def _captain_tool(tool: Json) -> Subject:
    hints = {
        HINTS[name]: value for name, value in (tool.get("hints") or {}).items() if name in HINTS
    }
    return parse_subject({**tool, "hints": {str(k): v for k, v in hints.items()}}, strict=False)


def _document(case: Json) -> Policy:
    return read_policy(Reader(bounds_in_order=False), case["document"])


def stack(case: Json) -> Json:
    """Kind `stack`: a policy document judged for one call or listing."""
    policy = _document(case)
    subject, context = parse_subject(case["subject"]), parse_context(case["context"])
    now = datetime.fromisoformat(case["now"])
    args = case.get("args", ABSENT)
    surface = Surface(case["surface"])
    if case.get("targets") is None:
        decision = evaluate(policy, subject, context, surface, args, now=now)
    else:
        targets = [(parse_subject(t["subject"]), t.get("args", args)) for t in case["targets"]]
        decision = evaluate_call(policy, [(subject, args), *targets], context, now=now)
    observed = decision.observed
    return {**_five(decision.verdict), "observed": None if observed is None else _five(observed)}


def _five(verdict: Verdict) -> Json:
    return {
        "visible": verdict.visible,
        "callable": verdict.callable,
        "approval": str(verdict.approval),
        "reason_code": str(verdict.reason_code),
        "blocked_by": _where(verdict.blocked_by),
    }


def _where(blocked: BlockedBy | None) -> Json | None:
    if blocked is None:
        return None
    return {
        "layer": blocked.layer,
        "scope": str(blocked.scope),
        "rule": blocked.rule,
        "id": blocked.id,
    }


def listing(case: Json) -> Json:
    """Kind `listing`: what a listing says of one tool, and what a call would meet."""
    entry = list_subject(
        _document(case),
        parse_subject(case["subject"]),
        parse_context(case["context"]),
        Surface(case["surface"]),
        now=datetime.fromisoformat(case["now"]),
    )
    return {
        "listed": entry.listed,
        "call": entry.call,
        "open": sorted([rule.layer, rule.rule] for rule in entry.open),
    }


class _Names:
    """The declarations of an `unfold` case as a look-up."""

    def __init__(self, declarations: Json) -> None:
        self.tools: dict[tuple[str | None, str], Known] = {}
        for key, wire in declarations.items():
            family, _, name = key.partition("/")
            dispatcher = None if wire is None else parse_dispatcher(wire)
            self.tools[family or None, name] = Known(family or None, name, dispatcher)

    def exact(self, family: str | None, name: str) -> Known | None:
        return self.tools.get((family, name))

    def bare(self, name: str) -> Known | Refusal | None:
        found = [known for known in self.tools.values() if known.name == name]
        if len(found) > 1:
            return Refusal(ReasonCode.TOOL_AMBIGUOUS, name)
        return found[0] if found else None


def unfold(case: Json) -> Json:
    """Kind `unfold`: the targets of a dispatcher's call, without the dispatcher itself."""
    names = _Names(case["declarations"])
    name, family = case["subject"]["name"], case["subject"].get("family")
    known = names.exact(family, name) if family else names.bare(name)
    if isinstance(known, Refusal):
        return {"reason_code": str(known.reason_code)}
    args = case.get("args", ABSENT)
    found = () if known is None else unfold_call(names, known, args, strict=False)
    if isinstance(found, Refusal):
        return {"reason_code": str(found.reason_code)}
    return {"targets": [[target.family, target.name, target.args] for target in found]}


def rejected(case: Any) -> Json:
    """Kind `rejected`: anything, read as a policy document."""
    try:
        parse_policy(case)
    except Faults as refused:
        return {"error": True, "where": refused.faults[0].pointer, "message": str(refused)}
    return {"error": False}
