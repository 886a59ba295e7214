"""First policies to choose from: one layer each, to be read, changed and deleted like any other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolpolicy.engine.faults import shown
from toolpolicy.models import Layer
from toolpolicy.services import policies
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.baseline import BASELINE_NAMES
from toolpolicy.services.errors import NotFound

_ONLY_READS: Final = {"hints": {"read_only": True}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """A first policy: what it is called and does, in words, and its entry of a policy document."""

    name: str
    title: str
    says: str
    tone: str
    entry: Mapping[str, Any]


def _starter(
    name: str, title: str, says: str, tone: str, *rules: dict[str, Any], **policy: str
) -> Starter:
    settings = {"fail_safe": True, "description": says, "observe": tone == "observe"}
    entry = {
        "scope": "config",
        "combining": "deny_overrides",
        "settings": settings,
        "policy": {"name": title, "default": "allow", **policy, "rules": list(rules)},
    }
    return Starter(name=name, title=title, says=says, tone=tone, entry=entry)


STARTERS: Final[Mapping[str, Starter]] = {
    starter.name: starter
    for starter in (
        _starter(
            "observe",
            "Observe everything",
            "Stops nothing by itself. Records what stricter rules would have done, so that you"
            " can read it before you enforce it. Best for an app that already runs.",
            "observe",
            {
                "id": "would-ask-before-writing",
                "effect": "require_approval",
                "match": {},
                "except": _ONLY_READS,
                "reason": "the tool does not say that it only reads",
            },
        ),
        _starter(
            "ask",
            "Ask before writing",
            "Reading is free. Whatever does not say that it only reads waits for a person.",
            "ask",
            {
                "id": "ask-before-writing",
                "effect": "require_approval",
                "match": {},
                "except": _ONLY_READS,
                "reason": "the tool does not say that it only reads",
            },
        ),
        _starter(
            "read-only",
            "Read only",
            "Tools that say they only read are allowed. Everything else is refused, the unknown"
            " too.",
            "deny",
            {
                "id": "only-reads",
                "effect": "allow",
                "match": _ONLY_READS,
                "reason": "the tool says that it only reads",
            },
            default="deny",
        ),
    )
}


def wanted() -> bool:
    """Tell whether there is no layer yet but those of the baseline. One query."""
    return not Layer.objects.exclude(name__in=BASELINE_NAMES).exists()


def add(*, actor: Actor, name: str, origin: Origin = NOWHERE) -> policies.Saved:
    """Make a first policy live, unless its layer is there already. Raise NotFound."""
    if name not in STARTERS:
        raise NotFound(f"first policy {shown(name)}")
    starter = STARTERS[name]
    summary = f"started with {shown(starter.title)}"
    return policies.add_layers(
        actor=actor, layers=[dict(starter.entry)], summary=summary, origin=origin
    )
