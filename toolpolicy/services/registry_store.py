"""The registry's snapshot: written with every change of a tool or family, read by its digest."""

import json
from collections.abc import Iterable
from typing import Any, Final
from weakref import WeakValueDictionary

from django.db.models import QuerySet

from toolpolicy.engine import canonical
from toolpolicy.engine.registry import FORMAT, Entry, Registry, read_registry
from toolpolicy.models import Document, PolicyState, Tool, ToolDeclaration
from toolpolicy.services.errors import Lost
from toolpolicy.services.made_once import made_once
from toolpolicy.services.stored_texts import checked, made_of

# The live registry, the one before it, and a few that replays ask for.
KEPT = 8
# Declarations are asked for by digest up to here, and beyond that all at once.
FEW: Final = 500
# Members of an entry, and where a row of tools holds them.
COLUMNS: Final = {
    "family": "family__name",
    "name": "name",
    "state": "state",
    "trusted": "family__trusted",
    "declaration": "current_id",
    "dispatcher": "dispatcher",
    "privilege": "privilege",
    "overrides": "overrides",
}
# Tools by what a snapshot says of them: registries one change apart share all but one.
_entries: Final[WeakValueDictionary[str, Entry]] = WeakValueDictionary()


def entry_of(tool: Tool) -> dict[str, Any]:
    """Return what a record of a change says of one tool: as a snapshot does, and its masking."""
    family = tool.family
    said = (tool.current_id, tool.dispatcher, tool.privilege, tool.overrides)
    entry = _entry((family.name, tool.name, tool.state, family.trusted, *said))
    return {**entry, "masking": tool.masking} if tool.masking else entry


def _entry(row: Iterable[Any]) -> dict[str, Any]:
    """Return the entry with the values of `COLUMNS`; what is not laid over is left out."""
    entry = dict(zip(COLUMNS, row, strict=True))
    entry["overrides"] = entry["overrides"] or None
    return {name: value for name, value in entry.items() if value is not None}


def lock_state() -> PolicyState:
    """Return the state row, locked: registry writes and publications happen one after another."""
    return PolicyState.objects.select_for_update().get(pk=1)


def write_snapshot(state: PolicyState) -> dict[str, str]:
    """Make what the tables hold now the live registry; return the digests before and after.

    Four statements, whatever the number of tools.
    """
    rows = Tool.objects.order_by().values_list(*COLUMNS.values())
    # Sorted here and not by the database, whose collation differs from one to the next.
    entries = sorted(map(_entry, rows), key=lambda entry: (entry["family"], entry["name"]))
    text = canonical.dumps({"format": FORMAT, "tools": entries})
    digests = {"before": state.registry_digest, "after": canonical.digest(text)}
    if digests["after"] != digests["before"]:
        document = Document(digest=digests["after"], text=text)
        Document.objects.bulk_create([document], ignore_conflicts=True)
        state.registry_digest = digests["after"]
        state.save(update_fields=["registry_digest"])
    return digests


@made_once(KEPT)
def load(digest: str) -> Registry:
    """Return the registry with this digest; "" is the empty one, before anything was registered.

    Content-addressed, so a cached one is never out of date; tools that a cached one holds as well
    are not read again. Unless cached, at most three queries. Raises `Lost` and `Altered`.
    """
    return made_of("registry", digest, FORMAT, _listed_in) if digest else Registry()


def _listed_in(document: Any) -> Registry:
    tools = {json.dumps(tool): tool for tool in document["tools"]}
    found = {key: entry for key in tools if (entry := _entries.get(key)) is not None}
    new = {key: tool for key, tool in tools.items() if key not in found}
    declared = _declarations({tool["declaration"] for tool in new.values()})
    # Snapshots and registries have one order.
    found |= zip(new, read_registry({"tools": new.values()}, declared), strict=True)
    _entries.update(found)
    return Registry(found.values())


def _declarations(named: set[str]) -> dict[str, Any]:
    """Return declarations by digest: up to two queries, none for none. Raises as `load`."""
    if not named:
        return {}
    texts = _texts(Tool.objects.values_list("current_id", "current__text"), "current_id", named)
    if not named <= texts.keys():
        # A registry of the past: some of its declarations are no longer anybody's current one.
        texts = _texts(ToolDeclaration.objects.values_list("digest", "text"), "digest", named)
    if lost := named - texts.keys():
        raise Lost(f"declaration `{min(lost)}`")
    return {name: json.loads(checked("declaration", name, texts[name])) for name in named}


def _texts(rows: QuerySet[Any, Any], key: str, named: set[str]) -> dict[str, str]:
    """Return (key, text) rows as a mapping: those named, or all when more than a few are."""
    return dict(rows.filter(**{f"{key}__in": named}) if len(named) <= FEW else rows)


def live() -> Registry:
    """Return the registry that decisions are judged by now: one query more than `load`."""
    return load(PolicyState.objects.get(pk=1).registry_digest)
