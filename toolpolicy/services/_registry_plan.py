"""What an import comes to, worked out before anything is written: by reading alone."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from toolpolicy.engine.declarations import (
    Declaration,
    changed_members,
    family_fault,
    prefix_fault,
)
from toolpolicy.engine.faults import Fault, Faults, shown
from toolpolicy.engine.grading import graded_changes, moved_names
from toolpolicy.engine.misspelt import Misspelt
from toolpolicy.models import Tool, ToolFamily
from toolpolicy.models.choices import FamilyKind, ToolState
from toolpolicy.services._registry_families import kind_fault, twin_fault
from toolpolicy.services._registry_formats import FORMS, ToolFormat
from toolpolicy.services._registry_grades import changes_since_review, state_after
from toolpolicy.services._registry_report import (
    ChangedTool,
    ImportReport,
    ImportWarned,
    MovedTool,
)
from toolpolicy.services._registry_warnings import name_warnings
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.registry_store import FEW
from toolpolicy.services.telling import Tell, counted


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """What is imported, and as what; None leaves a family's kind and prefix as they are."""

    family: str
    document: Any
    prefix: str | None = None
    kind: str | None = None
    form: ToolFormat = ToolFormat.MCP


class Held(NamedTuple):
    """What is known of a registered tool without its texts: its declaration's digest."""

    declaration: str
    vanished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A tool that declares something else now, and what the report says of it."""

    tool: Tool
    declaration: Declaration
    report: ChangedTool


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A new tool; `was` is the one that is gone and said the same under another name."""

    declaration: Declaration
    state: ToolState = ToolState.ACTIVE
    was: Tool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The rows that an import adds and touches. The family may be new, and is then not stored."""

    family: ToolFamily
    added: tuple[Added, ...]
    changed: tuple[Changed, ...]
    unchanged: tuple[str, ...]
    vanished: tuple[Tool, ...]
    returned: tuple[Tool, ...]
    warnings: tuple[ImportWarned, ...] = ()

    def report(self, *, dry_run: bool) -> ImportReport:
        """Return what the plan comes to."""
        return ImportReport(
            family=self.family.name,
            kind=self.family.kind,
            prefix=self.family.prefix,
            dry_run=dry_run,
            added=tuple((new.declaration.name, new.declaration.digest) for new in self.added),
            changed=tuple(change.report for change in self.changed),
            unchanged=self.unchanged,
            vanished=_names(self.vanished),
            returned=_names(self.returned),
            moved=tuple(
                MovedTool(name=new.declaration.name, was=new.was.name, state=new.state)
                for new in self.added
                if new.was
            ),
            warnings=self.warnings,
        )


def _names(tools: Iterable[Tool]) -> tuple[str, ...]:
    return tuple(tool.name for tool in tools)


def plan_import(request: ImportRequest, tell: Tell) -> Plan:
    """Work an import out: up to four queries. Raises `InvalidInput` with every fault."""
    tell("checking the list")
    families = {family.name: family for family in ToolFamily.objects.all()}
    stored = families.get(request.family)
    held = {} if stored is None else _held(stored)
    family = stored or ToolFamily(name=request.family, kind=FamilyKind.MCP_SERVER)
    faults = _place_faults(request, family, families, fixed=bool(held))
    family.kind = request.kind or family.kind
    family.prefix = family.prefix if request.prefix is None else request.prefix
    registered = list(Tool.objects.values_list("family__name", "name"))
    found = _read(request, family, (faults, [name for _, name in registered]))
    plan = _compare(family, held, found, tell)
    new = [one.declaration for one in plan.added]
    slips = (
        Misspelt(family.name, one.name, *slip)
        for one in (*new, *(one.declaration for one in plan.changed))
        for slip in one.slips
    )
    near = name_warnings(family, (one.name for one in new), registered)
    return replace(plan, warnings=(*slips, *near))


def _held(family: ToolFamily) -> dict[str, Held]:
    rows = family.tools.order_by("name").values_list("name", "current_id", "vanished_at")
    return {name: Held(digest, gone is not None) for name, digest, gone in rows}


def _rows(family: ToolFamily, names: set[str]) -> dict[str, Tool]:
    """Return tools of the family by name, with their declarations: one query, none for none."""
    if not names:
        return {}
    rows = family.tools.select_related("current", "reviewed").order_by("name")
    few = rows.filter(name__in=names) if len(names) <= FEW else rows
    return {tool.name: tool for tool in few if tool.name in names}


def _place_faults(
    request: ImportRequest, family: ToolFamily, families: Iterable[str], *, fixed: bool
) -> list[Fault]:
    """Say what is wrong with the family, prefix and kind asked for."""
    prefix, kind = request.prefix, request.kind
    faults = [
        ("/family", family_fault(request.family) or twin_fault(request.family, families)),
        ("/prefix", None if prefix is None else prefix_fault(prefix)),
        ("/kind", None if kind is None else kind_fault(kind)),
    ]
    # Tools are known by these names, and rules are written for them: neither moves under them.
    if fixed and prefix not in (None, family.prefix):
        message = f"the prefix of `{family.name}` is {shown(family.prefix)} since its first import"
        faults.append(("/prefix", message))
    if fixed and kind not in (None, family.kind):
        faults.append(("/kind", f"`{family.name}` is of the kind `{family.kind}`"))
    return [Fault(pointer, message) for pointer, message in faults if message]


def _read(
    request: ImportRequest, family: ToolFamily, place: tuple[list[Fault], list[str]]
) -> tuple[Declaration, ...]:
    """Read the list; add its faults to those of its place, and raise them together."""
    faults, others = place
    # With a bad prefix every name would be bad: the list is then read without one.
    prefix = family.prefix if prefix_fault(family.prefix) is None else ""
    try:
        read = FORMS[request.form].read
        found = read(request.document, family=family.name, prefix=prefix, registered=others)
    except Faults as refused:
        raise InvalidInput([*faults, *refused.faults]) from None
    if faults:
        raise InvalidInput(faults)
    return found


def _compare(
    family: ToolFamily, held: dict[str, Held], found: tuple[Declaration, ...], tell: Tell
) -> Plan:
    listed = {declaration.name: declaration for declaration in found}
    seen = [name for name in listed if name in held]
    new = [declaration for name, declaration in listed.items() if name not in held]
    changed = [name for name in seen if held[name].declaration != listed[name].digest]
    returned = [name for name in seen if held[name].vanished]
    gone = [name for name in held if name not in listed]
    vanished = [name for name in gone if not held[name].vanished]
    # A new tool may be any of those that are gone, however long ago.
    rows = _rows(family, {*changed, *returned, *(gone if new else vanished)})
    return Plan(
        family=family,
        added=_added(new, {name: rows[name] for name in gone if name in rows}),
        changed=tuple(
            _changed(rows[name], listed[name])
            for name in counted(changed, "comparing changed tools,", tell)
        ),
        unchanged=tuple(name for name in seen if held[name].declaration == listed[name].digest),
        vanished=tuple(rows[name] for name in vanished),
        returned=tuple(rows[name] for name in returned),
    )


def _changed(tool: Tool, new: Declaration) -> Changed:
    before, after = json.loads(tool.current.text), json.loads(new.text)
    changes = graded_changes(before, after)
    # The state follows from what changed since somebody read the tool, which may be longer ago.
    read = tool.current_id == tool.reviewed_id
    since_review = changes if read else changes_since_review(tool, new.text)
    report = ChangedTool(
        name=tool.name,
        members=changed_members(before, after),
        before=tool.current_id,
        after=new.digest,
        changes=changes,
        state=state_after(tool, since_review),
    )
    return Changed(tool=tool, declaration=new, report=report)


def _added(new: list[Declaration], gone: dict[str, Tool]) -> tuple[Added, ...]:
    """Return the new tools. One that only moved is no better off than under its old name."""
    texts = {name: json.loads(tool.current.text) for name, tool in gone.items()} if new else {}
    moved = moved_names(texts, new)
    return tuple(
        _moved(one, gone[moved[one.name]]) if one.name in moved else Added(declaration=one)
        for one in new
    )


def _moved(new: Declaration, was: Tool) -> Added:
    state = state_after(was, changes_since_review(was, new.text))
    return Added(declaration=new, state=state, was=was)
