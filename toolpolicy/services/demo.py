"""The demo: one invented company's tools and rules, put in through the services that anybody uses.

The data is in `toolpolicy/demo/`. Names and hints of the MCP servers' tools are those that the
servers publish; everything else is made up.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.db import transaction

from toolpolicy.models import PolicyVersion, Tool, ToolFamily
from toolpolicy.services import policies, registry
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.baseline import BASELINE_NAMES

DATA: Final = Path(__file__).resolve().parent.parent / "demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoReport:
    """What loading the demo added: names of families, counts of their tools, names of layers."""

    families: Mapping[str, int]
    layers: tuple[str, ...]
    version: PolicyVersion | None


def is_loaded() -> bool:
    """Tell whether any part of the demo is there."""
    families, layers = _there()
    return not families.isdisjoint(_families()) or not layers.isdisjoint(_layers())


def others() -> tuple[str, ...]:
    """Name the families and layers that are there and belong neither to the demo nor baseline."""
    families, layers = _there()
    own = (families - _families().keys()) | (layers - _layers().keys() - BASELINE_NAMES)
    return tuple(sorted(own))


@transaction.atomic
def load(*, actor: Actor, origin: Origin = NOWHERE) -> DemoReport:
    """Add what is missing of the demo, the layers as one version; change nothing that is there."""
    there, known = _there()
    families = {
        name: _load_family(family, actor, origin)
        for name, family in _families().items()
        if name not in there
    }
    summary = "loaded the demo's layers"
    entries = list(_layers().values())
    saved = policies.add_layers(actor=actor, layers=entries, summary=summary, origin=origin)
    return DemoReport(
        families=families,
        layers=tuple(name for name in _layers() if name not in known),
        version=saved.version,
    )


def _load_family(family: Mapping[str, Any], actor: Actor, origin: Origin) -> int:
    """Register one family and return how many tools it has."""
    name = family["values"]["name"]
    registry.create_family(actor=actor, values=family["values"], origin=origin)
    if "mcp" in family:
        document = _data(family["mcp"])
        registry.import_tools(actor=actor, family=name, document=document, origin=origin)
    for tool in family.get("tools", []):
        registry.declare_tool(actor=actor, family=name, origin=origin, **tool)
    for tool, laid in family.get("laid", {}).items():
        version = registry.find_tool(name, tool).version
        registry.update_tool(
            actor=actor, family=name, name=tool, version=version, laid=laid, origin=origin
        )
    return Tool.objects.filter(family__name=name).count()


def _there() -> tuple[set[str], set[str]]:
    """Return the names of the families and of the layers that are there."""
    families = set(ToolFamily.objects.values_list("name", flat=True))
    layers = {entry["policy"]["name"] for entry in policies.working_document()["layers"]}
    return families, layers


def _families() -> dict[str, dict[str, Any]]:
    return {family["values"]["name"]: family for family in _data("registry")["families"]}


def _layers() -> dict[str, dict[str, Any]]:
    return {entry["policy"]["name"]: entry for entry in _data("policy")["layers"]}


def _data(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
