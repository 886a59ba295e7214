"""Ordered layers and their rules, wire ⇄ values (SPEC §4; vectors O2–O8)."""

from typing import Any

from toolpolicy.engine.faults import shown
from toolpolicy.engine.globs import ascii_lower
from toolpolicy.engine.matchitems import is_blank, trim
from toolpolicy.engine.reading import Reader, present
from toolpolicy.engine.strict_wire import read_labels, read_when, write_patterns
from toolpolicy.engine.values import HintIs, OrderedCondition, OrderedLayer, OrderedRule, Selector
from toolpolicy.engine.words import Hint, Mode

SELECTORS = ("name", "group", "parent", "verb", "method", "scope", "family", "tags")
HINTS = {"readOnly": Hint.READ_ONLY, "destructive": Hint.DESTRUCTIVE, "idempotent": Hint.IDEMPOTENT}
RULE_MEMBERS = ("id", "match", "mode", "reason", "when")
LAYER_MEMBERS = ("name", "rules")
_WIRE_HINTS = {hint: name for name, hint in HINTS.items()}


def parse_mode(text: str) -> Mode | None:
    """Read a mode: trimmed, ASCII case ignored; None when it is none of the four."""
    word = ascii_lower(trim(text))
    return Mode(word) if word in Mode.__members__.values() else None


def read_mode(reader: Reader, value: Any, at: str) -> Mode | None:
    """Read a mode, noting what is none."""
    mode = parse_mode(value) if isinstance(value, str) else None
    if mode is None:
        said = "a mode is needed" if value is None else f"{shown(value)} is not a mode"
        reader.fault(at, f"{said}; known are on, ask, off, auto", "bad_mode")
    return mode


def read_layer(reader: Reader, value: Any, at: str) -> OrderedLayer:
    """Read a layer `{name?, rules?}` of ordered rules."""
    members = reader.members(value, at, LAYER_MEMBERS)
    name = reader.text(members["name"], f"{at}/name") if present(members, "name") else None
    rules = members.get("rules", [])
    read = reader.items(rules, f"{at}/rules", lambda item, where: read_rule(reader, item, where))
    return OrderedLayer(name=name, rules=read)


def read_rule(reader: Reader, value: Any, at: str) -> OrderedRule | None:
    """Read one rule; None when its match or mode cannot be read."""
    members = reader.members(value, at, RULE_MEMBERS)
    if not isinstance(value, dict):
        return None
    match = read_match(reader, members.get("match", {}), f"{at}/match")
    mode = read_mode(reader, members.get("mode"), f"{at}/mode")
    when = read_when(reader, members["when"], f"{at}/when") if "when" in members else ()
    rule_id, reason = read_labels(reader, members, at)
    if mode is None or not match:
        return None
    return OrderedRule(match=match, mode=mode, when=when, id=rule_id, reason=reason)


def read_match(reader: Reader, value: Any, at: str) -> tuple[OrderedCondition, ...]:
    """Read selectors and hints; one that constrains nothing is a fault (code `empty_match`)."""
    noted = reader.found.count
    members = reader.members(value, at, (*SELECTORS, *HINTS))
    found: list[OrderedCondition] = []
    for name in SELECTORS:
        if present(members, name):
            patterns = reader.patterns(members[name], f"{at}/{name}")
            if not is_blank(patterns):
                found.append(Selector(name, patterns))
    for name, hint in HINTS.items():
        if present(members, name):
            wanted = reader.boolean(members[name], f"{at}/{name}")
            found += [] if wanted is None else [HintIs(hint, wanted)]
    if not found and reader.found.count == noted:
        message = 'the match constrains nothing; a catch-all is written {"name": "*"}'
        reader.fault(at, message, "empty_match")
    return tuple(found)


def write_layer(layer: OrderedLayer) -> dict[str, Any]:
    """Write a layer of ordered rules."""
    name = {} if layer.name is None else {"name": layer.name}
    return {**name, "rules": [write_rule(rule) for rule in layer.rules]}


def write_rule(rule: OrderedRule) -> dict[str, Any]:
    """Write one ordered rule."""
    out: dict[str, Any] = {"match": write_match(rule.match), "mode": str(rule.mode)}
    if rule.id is not None:
        out["id"] = rule.id
    if rule.when:
        out["when"] = {key: write_patterns(patterns) for key, patterns in rule.when}
    if rule.reason is not None:
        out["reason"] = rule.reason
    return out


def write_match(conditions: tuple[OrderedCondition, ...]) -> dict[str, Any]:
    """Write selectors and hints."""
    out: dict[str, Any] = {}
    for condition in conditions:
        match condition:
            case Selector(field, patterns):
                out[field] = write_patterns(patterns)
            case _:
                out[_WIRE_HINTS[condition.hint]] = condition.value
    return out
