"""Where the baseline layers are no longer what they were when they were installed."""

from collections.abc import Iterator
from dataclasses import fields
from datetime import datetime

from toolpolicy.engine.faults import shown
from toolpolicy.engine.lint.findings import Finding, FindingCode
from toolpolicy.engine.lint.known import Known
from toolpolicy.engine.reading import time_text
from toolpolicy.engine.values import Layer, OrderedRule, Rule, StrictLayer

# Where it stands among the others, and what is said of it, is no departure.
_FREE = {"position", "description"}


def check_baseline(known: Known) -> Iterator[Finding]:
    """Find baseline layers that are missing or changed."""
    live = {layer.name: layer for layer in known.question.policy.layers}
    for installed in known.question.baseline:
        layer = live.get(installed.name)
        changes = ["the layer is missing"] if layer is None else list(_changes(installed, layer))
        if changes:
            yield Finding(
                code=FindingCode.BASELINE_CHANGED,
                layer=installed.name,
                message=f"the baseline is not as it was installed: {'; '.join(changes)}",
                witness={"changes": changes},
            )


def _changes(installed: Layer, layer: Layer) -> Iterator[str]:
    if not isinstance(layer, StrictLayer) or not isinstance(installed, StrictLayer):
        yield "its rules combine in another way"
        return
    if layer.default is not installed.default:
        yield f"its default is `{layer.default}`"
    for field in fields(layer.settings):
        value = getattr(layer.settings, field.name)
        if field.name not in _FREE and value != getattr(installed.settings, field.name):
            yield f"`{field.name}` is {_said(value)}"
    before = {rule.id: rule for rule in installed.rules}
    after = {rule.id: rule for rule in layer.rules}
    for rule_id in [*before, *(one for one in after if one not in before)]:
        word = _change(before.get(rule_id), after.get(rule_id))
        if word:
            yield f"the rule {shown(rule_id)} {word}"


def _change(before: Rule | OrderedRule | None, after: Rule | OrderedRule | None) -> str:
    if before == after:
        return ""
    if after is None:
        return "is missing"
    return "was added" if before is None else "was changed"


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, tuple):
        return ", ".join(map(shown, value)) or "an empty list"
    return shown(str(value))
