"""One registered tool's row: found, and stored with the snapshot and the record of the change."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolpolicy.engine.faults import Fault, Faults, shown
from toolpolicy.models import PolicyState, Tool, ToolFamily
from toolpolicy.services import masking
from toolpolicy.services._publishing import Author
from toolpolicy.services._registry_records import Change, settle
from toolpolicy.services.errors import NotFound, Stale
from toolpolicy.services.registry_store import entry_of


@dataclass(frozen=True, slots=True)
class Write:
    """A write under way: the locked state, who writes, and what is done."""

    state: PolicyState
    author: Author
    change: Change


def about(action: str, done: str, tool: Tool) -> Change:
    """Return what is done to a tool, in words for the record."""
    summary = f"{done} the tool {shown(f'{tool.family.name}/{tool.name}')}"
    return Change(action=action, summary=summary, family=tool.family.name, tool=tool.name)


def find(family: str, name: str) -> Tool:
    """Return a tool with its declarations. Raises `NotFound`."""
    tools = Tool.objects.select_related("family", "current", "reviewed")
    tool = tools.filter(family__name=family, name=name).first()
    if tool is None:
        raise NotFound(f"tool {shown(f'{family}/{name}')}")
    return tool


def expect_version(row: Tool | ToolFamily, version: int) -> None:
    """Raise `Stale` unless the row is at the version that its editor saw."""
    if row.version != version:
        raise Stale(version, row.version)


def save(
    tool: Tool,
    before: Mapping[str, Any] | None,
    write: Write,
    said: Mapping[str, Any] | None = None,
    *,
    always: bool = False,
) -> Tool:
    """Store a tool and, when it is judged otherwise from now on, the snapshot and a record.

    `before` is what a snapshot said of it; `said` is what the record tells beside before and after.
    `always` leaves a record even where no decision changes. What leaves a record makes the tool one
    version newer.
    """
    after = entry_of(tool)
    news = always or after != before
    if news and before is not None:
        tool.version += 1
    tool.full_clean()
    tool.save()
    if news:
        told = {"before": before, "after": after, **(said or {})}
        if after.get("masking") != (before or {}).get("masking"):
            told["masking"] = masking.write_snapshot(write.state)
        settle(write.state, write.author, write.change, told)
    return tool


def faults_under(member: str, read: Callable[[], object]) -> list[Fault]:
    """Return what the engine finds wrong with one member, with pointers from above it."""
    try:
        read()
    except Faults as refused:
        return [one.moved(f"/{member}{one.pointer}") for one in refused.faults]
    return []
