"""Layers and rules as rows, and as the entries of a policy document: exact inverses (SPEC §10)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from toolpolicy.engine.documents import FORMAT
from toolpolicy.engine.reading import time_text
from toolpolicy.models import Layer, Rule
from toolpolicy.models.choices import Combining, Scope

Wire = dict[str, Any]

# A rule's column to its member on the wire. An ordered rule has its effect as `mode`.
RULE_MEMBERS: Final = {
    "rule_id": "id",
    "effect": "effect",
    "surfaces": "on",
    "match": "match",
    "except_match": "except",
    "when": "when",
    "reason": "reason",
}


def load() -> list[tuple[Layer, list[Rule]]]:
    """Return every layer with its rules, in the order of application: two queries."""
    layers = {layer.pk: layer for layer in Layer.objects.in_order()}
    rules: dict[int, list[Rule]] = {pk: [] for pk in layers}
    for rule in Rule.objects.in_order():
        rule.layer = layers[rule.layer_id]  # spares a query for whoever follows the link
        rules[rule.layer_id].append(rule)
    return [(layer, rules[pk]) for pk, layer in layers.items()]


def document(entries: Iterable[Wire]) -> Wire:
    """Return the policy document of these entries."""
    return {"format": FORMAT, "layers": list(entries)}


def entry_of(layer: Layer, rules: Sequence[Rule]) -> Wire:
    """Return one layer with its rules as an entry; what stands at its default is left out."""
    entry: Wire = {
        "scope": layer.scope,
        "position": layer.position,
        "combining": layer.combining,
        "policy": _policy_of(layer, rules),
    }
    if layer.target is not None:
        entry["target"] = layer.target
    settings = _layer_settings(layer)
    by_id = {rule.rule_id: found for rule in rules if (found := _rule_settings(rule))}
    if by_id:
        settings["rules"] = by_id
    if settings:
        entry["settings"] = settings
    return entry


def _policy_of(layer: Layer, rules: Iterable[Rule]) -> Wire:
    strict = layer.combining == Combining.DENY_OVERRIDES
    default = {"default": layer.default} if strict else {}
    return {"name": layer.name, **default, "rules": [_rule_wire(r, strict=strict) for r in rules]}


def _rule_wire(rule: Rule, *, strict: bool) -> Wire:
    word = "effect" if strict else "mode"
    wire: Wire = {"id": rule.rule_id, word: rule.effect, "match": rule.match}
    if rule.surfaces:
        wire["on"] = rule.surfaces
    if rule.except_match is not None:
        wire["except"] = rule.except_match
    if rule.when:
        wire["when"] = rule.when
    if rule.reason:
        wire["reason"] = rule.reason
    return wire


def plain_layer(scope: str) -> Wire:
    """Return the settings of a layer that says nothing of them."""
    return {
        "enabled": True,
        "fail_safe": False,
        "may_waive_approval": scope == Scope.CONFIG,
        "observe": False,
        "valid_from": None,
        "valid_until": None,
        "description": "",
    }


def plain_rule() -> Wire:
    """Return the settings of a rule that says nothing of them."""
    return {
        "enabled": True,
        "observe": False,
        "expires_at": None,
        "examples": [],
        "approval": {},
    }


def _layer_settings(layer: Layer) -> Wire:
    return _unless_plain(layer, plain_layer(layer.scope))


def _rule_settings(rule: Rule) -> Wire:
    return _unless_plain(rule, plain_rule())


def _unless_plain(row: Layer | Rule, plain: Mapping[str, Any]) -> Wire:
    values = {name: getattr(row, name) for name in plain}
    return {
        name: time_text(value) if isinstance(value, datetime) else value
        for name, value in values.items()
        if value != plain[name]
    }


# --- document → rows -----------------------------------------------------------------------------


def layer_values(entry: Wire) -> dict[str, Any]:
    """Return the columns that `entry`, as the engine writes it, stands for."""
    settings, policy = entry.get("settings", {}), entry["policy"]
    return {
        "name": policy["name"],
        "scope": entry["scope"],
        "target": entry.get("target"),
        "combining": entry["combining"],
        "default": policy.get("default", ""),
        "position": entry["position"],
        "enabled": settings.get("enabled", True),
        "fail_safe": settings.get("fail_safe", False),
        "may_waive_approval": settings.get("may_waive_approval", entry["scope"] == Scope.CONFIG),
        "observe": settings.get("observe", False),
        "valid_from": _moment(settings.get("valid_from")),
        "valid_until": _moment(settings.get("valid_until")),
        "description": settings.get("description", ""),
    }


def rule_values(entry: Wire) -> list[dict[str, Any]]:
    """Return the columns of each rule of `entry`; the position is the index."""
    by_id = entry.get("settings", {}).get("rules", {})
    return [
        {
            "rule_id": rule["id"],
            "effect": rule.get("effect") or rule["mode"],
            "surfaces": rule.get("on", []),
            "match": rule["match"],
            "except_match": rule.get("except"),
            "when": rule.get("when", {}),
            "reason": rule.get("reason", ""),
            "position": position,
            **_settings_values(by_id.get(rule["id"], {})),
        }
        for position, rule in enumerate(entry["policy"]["rules"])
    ]


def _settings_values(settings: Wire) -> dict[str, Any]:
    return {
        "enabled": settings.get("enabled", True),
        "observe": settings.get("observe", False),
        "expires_at": _moment(settings.get("expires_at")),
        "examples": settings.get("examples", []),
        "approval": settings.get("approval") or {},
    }


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
