"""The form of a rule as a test fills it in."""

from typing import Any

from tests.admin.pages import address
from toolpolicy.models import Layer, Rule

NEW: dict[str, Any] = {
    "effect": "deny",
    "surfaces": ["call"],
    "match__name": "*delete*, *drop*",
    "except__family": "memory",
    "when__0__key": "channel",
    "when__0__value": "telegram-*",
    "reason": "no deletes from a chat",
    "rule_id": "no-chat-deletes",
    "enabled": "on",
    "examples": "",
    "approval__0__key": "group",
    "approval__0__value": "finance",
}


def add(layer: Layer) -> str:
    return f"{address('rule', 'add')}?layer={layer.pk}"


def change(rule: Rule) -> str:
    return address("rule", "change", rule.pk)


def sent(layer: Layer, **changes: Any) -> dict[str, Any]:
    return {**NEW, "seen_version": layer.version, "_save": "1", **changes}
