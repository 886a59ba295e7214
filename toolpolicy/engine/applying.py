"""Which layers and rules count for a case: scope, target, time, switches and context (SPEC §5)."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from toolpolicy.engine.globs import any_glob
from toolpolicy.engine.matchitems import match_items
from toolpolicy.engine.values import Layer, OrderedLayer, OrderedRule, Policy, Rule, RuleSettings
from toolpolicy.engine.words import Scope


def in_order(policy: Policy) -> list[tuple[int, Layer]]:
    """Return the layers as they apply, weakest first, each with its place in the document.

    By scope, then position, then name (code points); the order in the document does not matter.
    """

    def key(entry: tuple[int, Layer]) -> tuple[int, int, str]:
        layer = entry[1]
        return layer.settings.scope.rank, layer.settings.position, layer.name or ""

    return sorted(enumerate(policy.layers), key=key)


def why_not_applied(layer: Layer, context: Mapping[str, str], now: datetime | None) -> str | None:
    """Say why a layer does not apply: `disabled`, `not yet valid`, `no longer valid`, `target`."""
    place = layer.settings
    if not place.enabled:
        return "disabled"
    if place.valid_from is not None and check_clock(now) < place.valid_from:
        return "not yet valid"
    if place.valid_until is not None and check_clock(now) >= place.valid_until:
        return "no longer valid"
    if place.scope is not Scope.CONFIG:
        attribute = context.get(place.scope)
        if attribute is None or not any_glob(place.target or (), attribute):
            return "target"
    return None


def is_live(settings: RuleSettings, now: datetime | None) -> bool:
    """Tell whether a rule is switched on and has not expired (gone when now ≥ expires_at)."""
    if not settings.enabled:
        return False
    return settings.expires_at is None or check_clock(now) < settings.expires_at


def check_clock(now: datetime | None) -> datetime:
    """Return the time. Raise ValueError without one, which a policy with time bounds needs."""
    if now is None:
        msg = "this policy has time bounds: `now` must be given"
        raise ValueError(msg)
    return now


def needs_clock(policy: Policy) -> bool:
    """Tell whether any layer or rule has a time bound."""
    return any(
        layer.settings.valid_from is not None
        or layer.settings.valid_until is not None
        or any(rule.settings.expires_at is not None for rule in layer.rules)
        for layer in policy.layers
    )


def unmet_when(rule: Rule | OrderedRule, context: Mapping[str, str]) -> str | None:
    """Return the first key of `when` that is absent or does not match; None when all hold."""
    for key, patterns in rule.when:
        value = context.get(key)
        if value is None:
            return key
        ordered = isinstance(rule, OrderedRule)
        if not (match_items(value, patterns) if ordered else any_glob(patterns, value)):
            return key
    return None


def has_config_list(layers: Iterable[Layer]) -> bool:
    """Tell whether an ordered layer of scope config is among the applicable layers (SPEC §4)."""
    return any(isinstance(x, OrderedLayer) and x.settings.scope is Scope.CONFIG for x in layers)
