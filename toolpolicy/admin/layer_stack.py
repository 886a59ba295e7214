"""The layers drawn as they apply: one section a scope, weakest first, each layer with its facts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Max, Min
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import finding_words
from toolpolicy.admin.charts import sparkline
from toolpolicy.admin.layer_words import applies_now, kind_of, otherwise_of, reach_of
from toolpolicy.admin.words import Words
from toolpolicy.models import Layer
from toolpolicy.models.choices import Scope
from toolpolicy.services import lint, policies, usage

# Scope: its name, and what it says.
SCOPES: Final[Mapping[str, tuple[Words, Words]]] = {
    Scope.CONFIG: (_("Config"), _("applies to every call")),
    Scope.AGENT: (_("Agent"), _("applies to the agents it names")),
    Scope.CHANNEL: (_("Channel"), _("applies where the call came from")),
    Scope.SESSION: (_("Session"), _("applies to single sessions")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A layer as its line says it; `end` names the directions in which it cannot be moved."""

    layer: Layer
    kind: SafeString
    reach: str
    otherwise: SafeString
    rules: int
    hits: int
    bars: SafeString
    applies: bool
    findings: SafeString
    end: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A scope and those of its layers that the list shows."""

    scope: str
    name: Words
    says: Words
    layers: list[Shown]


def stages(layers: Iterable[Layer], *, narrowed: bool) -> list[Stage]:
    """Return the scopes with their layers; a narrowed list leaves scopes without any out.

    A fixed number of queries, however many layers there are.
    """
    hits, spans, found = usage.layer_hits(), _spans(), lint.findings()
    held: dict[str, list[Shown]] = {scope: [] for scope in Scope.values}
    for layer in layers:
        warned = finding_words.summary(found.by_layer(layer.name))
        shown = _shown(layer, hits.get(layer.name, usage.NO_HITS), spans[layer.scope], warned)
        held[layer.scope].append(shown)
    return [
        Stage(scope=scope.value, name=name, says=says, layers=held[scope])
        for scope, (name, says) in ((scope, SCOPES[scope]) for scope in Scope)
        if held[scope] or not narrowed
    ]


def context(layers: Iterable[Layer], *, narrowed: bool) -> dict[str, Any]:
    """Return what the page of the stack shows."""
    live = policies.live()
    return {
        "stages": stages(layers, narrowed=narrowed),
        "days": usage.WEEK,
        "narrowed": narrowed,
        "policy_version": live.number if live else 0,
    }


def _spans() -> dict[str, tuple[int, int]]:
    """Return the first and the last position of each scope."""
    found = Layer.objects.order_by().values_list("scope").annotate(Min("position"), Max("position"))
    return {scope: (first, last) for scope, first, last in found}


def _shown(layer: Layer, days: usage.Days, span: tuple[int, int], findings: SafeString) -> Shown:
    ends = zip(("up", "down"), span, strict=True)
    return Shown(
        layer=layer,
        kind=kind_of(layer),
        reach=reach_of(layer),
        otherwise=otherwise_of(layer),
        rules=vars(layer)["rules_count"],
        hits=sum(days),
        bars=sparkline(days),
        applies=applies_now(layer),
        findings=findings,
        end=frozenset(direction for direction, position in ends if position == layer.position),
    )
