"""Rules and layers that are over, or will be soon."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from toolpolicy.engine.lint.findings import Finding, FindingCode
from toolpolicy.engine.lint.known import Known
from toolpolicy.engine.reading import time_text
from toolpolicy.engine.values import OrderedRule, Policy, Rule

SOON: Final = timedelta(days=14)


def check_expiry(known: Known) -> Iterator[Finding]:
    """Find what is over, and what ends within fourteen days."""
    for compiled in known.policy.layers:
        layer = compiled.layer
        end = layer.settings.valid_until
        found = _told(end, known.now)
        if end is not None and found:
            yield Finding(
                code=found,
                layer=layer.name,
                message=_words("the layer", found, end),
                witness={"valid_until": time_text(end)},
            )
        rules: Sequence[Rule | OrderedRule] = layer.rules
        for number, rule in enumerate(rules):
            end = rule.settings.expires_at
            found = _told(end, known.now)
            if end is not None and found and rule.settings.enabled:
                yield Finding(
                    code=found,
                    layer=layer.name,
                    rule=rule.id,
                    number=number,
                    message=_words("the rule", found, end),
                    witness={"expires_at": time_text(end)},
                )


def _told(end: datetime | None, now: datetime) -> FindingCode | None:
    if end is None or end - SOON > now:
        return None
    return FindingCode.EXPIRED if end <= now else FindingCode.EXPIRES_SOON


def _words(what: str, found: FindingCode, end: datetime) -> str:
    verb = "ended" if found is FindingCode.EXPIRED else "ends"
    return f"{what} {verb} at {time_text(end)}"


def stands_until(policy: Policy, now: datetime) -> datetime | None:
    """Return until when lint finds the same as now; None is for ever."""
    bounds = [
        bound
        for layer in policy.layers
        for start, end in (
            (layer.settings.valid_from, layer.settings.valid_until),
            *((None, rule.settings.expires_at) for rule in layer.rules),
        )
        for bound in (start, end, end and end - SOON)
        if bound is not None and bound > now
    ]
    return min(bounds, default=None)
