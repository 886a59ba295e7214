"""What is known of the rules of one layer beside what they say, and the copy of a rule."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction

from toolpolicy.engine.documents import RULE_SETTINGS_MEMBERS
from toolpolicy.engine.reach import reach, with_rules
from toolpolicy.models import Rule
from toolpolicy.services import _policy_rows as rows
from toolpolicy.services import lint, live, policies, registry_store, usage
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.errors import NotFound, Stale
from toolpolicy.services.lint import Findings
from toolpolicy.services.usage import Hits

if TYPE_CHECKING:
    from toolpolicy.engine.narrowing import AnyRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Of the live rules of a layer: how many there are, which tools each is about, what it did."""

    count: int
    tools: Mapping[str, int]
    hits: Mapping[str, Hits]
    findings: Findings


def known(*, layer: str, rules: Collection[str], now: datetime) -> Known:
    """Return what is known of these rules of a layer, by their ids.

    Seven queries, and those of a policy and a registry that are not cached.
    """
    standing = live.read_live(now)
    policy, registry = live.policy_of(standing.policy), registry_store.load(standing.registry)
    place = next((one for one in policy.layers if one.name == layer), None)
    tools: dict[str, int] = {}
    if place is not None:
        held: Sequence[AnyRule] = place.rules
        asked = [one for one in held if one.id in rules]
        found = reach(with_rules(place, asked), [entry.subject for entry in registry])
        tools = {one.id or "": len(some) for one, some in zip(asked, found, strict=True)}
    return Known(
        count=0 if place is None else len(place.rules),
        tools=tools,
        hits=usage.rule_hits(layer),
        findings=lint.findings(now),
    )


def about_tool(*, layer: str, name: str, now: datetime) -> list[str]:
    """Return the ids of the rules of a layer that are about a registered tool of this name."""
    standing = live.read_live(now)
    policy, registry = live.policy_of(standing.policy), registry_store.load(standing.registry)
    place = next((one for one in policy.layers if one.name == layer), None)
    subjects = [entry.subject for entry in registry if entry.name == name]
    if place is None or not subjects:
        return []
    held: Sequence[AnyRule] = place.rules
    found = zip(held, reach(place, subjects), strict=True)
    return [one.id or "" for one, some in found if some]


@transaction.atomic
def duplicate(*, actor: Actor, rule: int, version: int, origin: Origin = NOWHERE) -> policies.Saved:
    """Put a copy of a rule right behind it, under a name of its own: no answer changes by it.

    `version` is that of the layer as seen. Raises `NotFound`, `Stale`, and as `create_rule` does.
    """
    row = Rule.objects.select_related("layer").filter(pk=rule).first()
    if row is None:
        raise NotFound(f"rule {rule}")
    if row.layer.version != version:
        raise Stale(version, row.layer.version)
    members = {wire: getattr(row, name) for name, wire in rows.RULE_MEMBERS.items()}
    values = {**members, **{name: getattr(row, name) for name in RULE_SETTINGS_MEMBERS}}
    del values["id"]
    place = {"position": row.position + 1}
    return policies.create_rule(
        actor=actor, origin=origin, layer=row.layer_id, values={**values, **place}
    )
