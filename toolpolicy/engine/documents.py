"""Policy documents, wire ⇄ values (SPEC §10): `toolpolicy/1`, and the bare published layers."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from toolpolicy.engine import ordered_wire, strict_wire
from toolpolicy.engine.faults import join, shown
from toolpolicy.engine.reading import Reader, each, time_text
from toolpolicy.engine.strict_wire import write_patterns
from toolpolicy.engine.values import (
    BARE,
    PLAIN,
    Layer,
    LayerSettings,
    OrderedLayer,
    OrderedRule,
    Policy,
    Rule,
    RuleSettings,
    StrictLayer,
)
from toolpolicy.engine.words import Combining, Scope

AnyRule = TypeVar("AnyRule", Rule, OrderedRule)

FORMAT = "toolpolicy/1"
MAX_PATTERNS = 1_000
MAX_PATTERN_LENGTH = 1_024

DOCUMENT_MEMBERS = ("format", "layers")
ENVELOPE_MEMBERS = ("scope", "target", "position", "combining", "settings", "policy")
SETTINGS_MEMBERS = (
    *("enabled", "fail_safe", "may_waive_approval", "observe", "valid_from", "valid_until"),
    *("description", "rules"),
)
RULE_SETTINGS_MEMBERS = ("enabled", "observe", "expires_at", "examples", "approval")


def product_reader() -> Reader:
    """Return a reader with the product's bounds on pattern lists."""
    return Reader(max_patterns=MAX_PATTERNS, max_length=MAX_PATTERN_LENGTH)


def parse_policy(document: Any) -> Policy:
    """Parse a policy document. Raises `Faults` with every fault and its pointer."""
    return read_policy(product_reader(), document)


def read_policy(reader: Reader, document: Any) -> Policy:
    """Parse a policy document with the bounds of `reader`."""
    members = reader.members(document, "", DOCUMENT_MEMBERS)
    if not isinstance(document, dict):
        return reader.finish(Policy())
    if members.get("format") != FORMAT:
        reader.fault("/format", f"expected {shown(FORMAT)}, found {shown(members.get('format'))}")
    if "layers" not in members:
        reader.fault("", "a policy document needs `layers`", "missing")
    written = members.get("layers", [])
    layers: tuple[Layer, ...] = reader.items(
        written, "/layers", lambda item, at: read_envelope(reader, item, at)
    )
    names = each(each(written, "policy"), "name")
    reader.unique(names, "/layers", "policy/name")
    return reader.finish(Policy(layers=layers))


def dump_policy(policy: Policy) -> dict[str, Any]:
    """Write a policy document; settings at their defaults are left out."""
    return {"format": FORMAT, "layers": [write_envelope(layer) for layer in policy.layers]}


def parse_layers(document: Any) -> tuple[StrictLayer, ...]:
    """Parse the bare published form, a list of strict layers. Raises `Faults`."""
    reader = Reader()
    layers = reader.items(document, "", lambda item, at: strict_wire.read_layer(reader, item, at))
    return reader.finish(layers)


def dump_layers(layers: Iterable[StrictLayer]) -> list[dict[str, Any]]:
    """Write strict layers as published (vectors R23)."""
    return [strict_wire.write_layer(layer) for layer in layers]


def allow_deny_layer(allow: Sequence[str], deny: Sequence[str]) -> StrictLayer:
    """Return the published helper's layer: an allowlist sets default deny, stands first (R24)."""
    rules = [
        {"effect": effect, "match": {"name": list(names)}}
        for effect, names in (("allow", allow), ("deny", deny))
        if names
    ]
    return parse_layers([{"default": "deny" if allow else "allow", "rules": rules}])[0]


# --- the envelope --------------------------------------------------------------------------------


def read_envelope(reader: Reader, value: Any, at: str) -> Layer | None:
    """Read one layer with its place and settings; None when it cannot be read."""
    members = reader.members(value, at, ENVELOPE_MEMBERS)
    if not isinstance(value, dict):
        return None
    for name in ("scope", "position", "combining", "policy"):
        if name not in members:
            reader.fault(at, f"a layer needs `{name}`", "missing")
    combining = _word(reader, members, at, "combining", Combining)
    settings = _read_place(reader, members, at)
    wire = members.get("settings", {})
    settings, rules_wire = _read_settings(reader, wire, f"{at}/settings", settings)
    if combining is None or "policy" not in members:
        return None
    if combining is Combining.LAST_MATCH and isinstance(wire, dict) and "fail_safe" in wire:
        reader.fault(f"{at}/settings/fail_safe", "an ordered layer has no fail-safe reading")
    return _read_body(reader, combining, members["policy"], at, (settings, rules_wire))


def _word(reader: Reader, members: dict[str, Any], at: str, name: str, words: type[Any]) -> Any:
    return reader.word(members[name], f"{at}/{name}", words) if name in members else None


def _read_place(reader: Reader, members: dict[str, Any], at: str) -> LayerSettings:
    scope = _word(reader, members, at, "scope", Scope)
    target = reader.patterns(members["target"], f"{at}/target") if "target" in members else None
    if scope is Scope.CONFIG and "target" in members:
        reader.fault(f"{at}/target", "a config layer has no target: it always applies")
    if scope not in (None, Scope.CONFIG) and "target" not in members:
        reader.fault(
            at, f"a layer of scope `{scope}` needs a `target` (it may be empty)", "missing"
        )
    position = reader.integer(members["position"], f"{at}/position") if "position" in members else 0
    return LayerSettings(
        scope=scope or Scope.CONFIG,
        target=target,
        position=position or 0,
        may_waive_approval=scope is Scope.CONFIG,
    )


def _read_settings(
    reader: Reader, value: Any, at: str, place: LayerSettings
) -> tuple[LayerSettings, Any]:
    members = reader.members(value, at, SETTINGS_MEMBERS)
    found: dict[str, Any] = {}
    for name in members:
        where = f"{at}/{name}"
        if name in ("valid_from", "valid_until"):
            found[name] = reader.time(members[name], where)
        elif name == "description":
            found[name] = reader.text(members[name], where) or ""
        elif name != "rules":
            found[name] = reader.boolean(members[name], where) is True
    start, end = found.get("valid_from"), found.get("valid_until")
    if reader.bounds_in_order and start is not None and end is not None and start >= end:
        reader.fault(f"{at}/valid_until", "`valid_until` must be later than `valid_from`")
    return replace(place, **found), members.get("rules", {})


def _read_body(
    reader: Reader, combining: Combining, policy: Any, at: str, settings: tuple[LayerSettings, Any]
) -> Layer:
    place, rules_wire = settings
    where = f"{at}/policy"
    layer: Layer
    if combining is Combining.LAST_MATCH:
        layer = ordered_wire.read_layer(reader, policy, where)
    else:
        layer = strict_wire.read_layer(reader, policy, where)
    if isinstance(policy, dict) and policy.get("name") in (None, ""):
        reader.fault(f"{where}/name", "a layer needs a `name` that is not empty", "missing")
    ids = each(policy.get("rules"), "id") if isinstance(policy, dict) else []
    reader.unique(ids, f"{where}/rules", "id")
    by_id = _read_rule_settings(reader, rules_wire, f"{at}/settings/rules", ids)
    if isinstance(layer, OrderedLayer):
        ordered = tuple(_with_settings(rule, by_id) for rule in layer.rules)
        return replace(layer, rules=ordered, settings=place)
    return replace(
        layer, rules=tuple(_with_settings(r, by_id) for r in layer.rules), settings=place
    )


def _with_settings(rule: AnyRule, by_id: dict[str, RuleSettings]) -> AnyRule:
    return rule if rule.id is None else replace(rule, settings=by_id.get(rule.id, PLAIN))


def _read_rule_settings(
    reader: Reader, value: Any, at: str, known: Sequence[Any]
) -> dict[str, RuleSettings]:
    if not reader.has_kind(value, dict, at):
        return {}
    found: dict[str, RuleSettings] = {}
    ids = {rule_id for rule_id in known if isinstance(rule_id, str)}
    for rule_id, settings in value.items():
        where = join(at, rule_id)
        if rule_id not in ids:
            reader.fault(where, f"no rule of this layer has the id {shown(rule_id)}")
        found[rule_id] = _read_one_rule_settings(reader, settings, where)
    return found


def _read_one_rule_settings(reader: Reader, value: Any, at: str) -> RuleSettings:
    members = reader.members(value, at, RULE_SETTINGS_MEMBERS)
    found: dict[str, Any] = {}
    for name, item in members.items():
        where = f"{at}/{name}"
        if name == "expires_at":
            found[name] = reader.time(item, where)
        elif name == "examples":
            found[name] = tuple(item) if reader.has_kind(item, list, where) else ()
        elif name == "approval":
            found[name] = item if reader.has_kind(item, dict, where) else None
        else:
            found[name] = reader.boolean(item, where) is True
    return replace(PLAIN, **found)


# --- values → wire -------------------------------------------------------------------------------


def write_envelope(layer: Layer) -> dict[str, Any]:
    """Write one layer with its place and settings."""
    place = layer.settings
    ordered = isinstance(layer, OrderedLayer)
    out: dict[str, Any] = {"scope": str(place.scope), "position": place.position}
    if place.target is not None:
        out["target"] = write_patterns(place.target)
    out["combining"] = str(Combining.LAST_MATCH if ordered else Combining.DENY_OVERRIDES)
    settings = _write_settings(layer)
    if settings:
        out["settings"] = settings
    out["policy"] = (
        ordered_wire.write_layer(layer)
        if isinstance(layer, OrderedLayer)
        else strict_wire.write_layer(layer)
    )
    return out


def _write_settings(layer: Layer) -> dict[str, Any]:
    place = layer.settings
    defaults = replace(BARE, may_waive_approval=place.scope is Scope.CONFIG)
    out: dict[str, Any] = {}
    for name in SETTINGS_MEMBERS[:-1]:
        value = getattr(place, name)
        if value != getattr(defaults, name):
            out[name] = time_text(value) if name.startswith("valid_") else value
    rules = {
        rule.id: _write_rule_settings(rule.settings)
        for rule in layer.rules
        if rule.id is not None and rule.settings != PLAIN
    }
    return {**out, **({"rules": rules} if rules else {})}


def _write_rule_settings(settings: RuleSettings) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name in RULE_SETTINGS_MEMBERS:
        value = getattr(settings, name)
        if value != getattr(PLAIN, name):
            out[name] = time_text(value) if name == "expires_at" else value
    if "examples" in out:
        out["examples"] = list(out["examples"])
    return out
