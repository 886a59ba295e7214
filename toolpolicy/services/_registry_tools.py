"""Single tools: declared by hand, and described further by an admin (SPEC §8)."""

import json
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from toolpolicy.engine.declarations import Declaration, declare, effective_subject
from toolpolicy.engine.faults import Fault, Faults, shown
from toolpolicy.engine.globs import same_text
from toolpolicy.engine.masking import parse_masking
from toolpolicy.engine.privilege import parse_privilege
from toolpolicy.engine.targets import parse_dispatcher
from toolpolicy.models import Tool, ToolDeclaration, ToolFamily
from toolpolicy.models.choices import FamilyKind
from toolpolicy.services._publishing import Author
from toolpolicy.services._registry_grades import changes_since_review, state_after, wire
from toolpolicy.services._registry_rows import (
    Write,
    about,
    expect_version,
    faults_under,
    find,
    save,
)
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.errors import InvalidInput, NotFound, Refused, unknown_members
from toolpolicy.services.registry_store import entry_of, lock_state

# What an admin may lay over a declaration; each is checked by the engine.
LAID = ("dispatcher", "privilege", "overrides", "masking")


@transaction.atomic
def declare_tool(
    *,
    actor: Actor,
    family: str,
    document: Mapping[str, Any],
    laid: Mapping[str, Any] | None = None,
    version: int | None = None,
    origin: Origin = NOWHERE,
) -> Tool:
    """Declare a tool of a toolpack or connector by hand, or declare it anew.

    `document` is a subject document (SPEC §1) with title, description and input_schema, without the
    family; `laid` may hold `dispatcher`, `privilege` and `overrides`. A new tool counts as
    reviewed; what a changed declaration meets until it is reviewed is up to the settings. Over a
    tool that is registered already only who names its `version` lays anything.

    Raises `InvalidInput` (pointers into `document`, those of `laid` as `/dispatcher…`), `NotFound`
    for the family, `Stale`, and `Refused` (`imported_family`, `version_required`).
    """
    state = lock_state()
    row = _family(family)
    declaration = _declaration(row, document)
    tool = _tool(row, declaration)
    _expect(tool, laid, version)
    before = entry_of(tool) if tool.pk else None
    ToolDeclaration.objects.bulk_create(
        [ToolDeclaration(digest=declaration.digest, text=declaration.text)], ignore_conflicts=True
    )
    tool.current_id, tool.title, tool.vanished_at = declaration.digest, declaration.title, None
    tool.reviewed_id = tool.reviewed_id or declaration.digest
    changes = changes_since_review(tool, declaration.text)
    tool.state, tool.last_seen_at = state_after(tool, changes), timezone.now()
    _lay(tool, laid or {}, declaration.document)
    write = Write(
        state, Author(actor=actor, origin=origin), about("declare_tool", "declared", tool)
    )
    return save(tool, before, write, {"changes": wire(changes)})


def _family(name: str) -> ToolFamily:
    """Return the family, unless its tools are imported."""
    row = ToolFamily.objects.filter(name=name).first()
    if row is None:
        raise NotFound(f"family {shown(name)}")
    if row.kind == FamilyKind.MCP_SERVER:
        message = f"the tools of the MCP server `{name}` are imported, not declared by hand"
        raise Refused("imported_family", message)
    return row


def _declaration(family: ToolFamily, document: Mapping[str, Any]) -> Declaration:
    if document.get("family", family.name) != family.name:
        message = f"the tool is declared in `{family.name}`; leave the family out"
        raise InvalidInput([Fault("/family", message)])
    try:
        return declare({**document, "family": family.name})
    except Faults as refused:
        raise InvalidInput(refused.faults) from None


def _tool(family: ToolFamily, declaration: Declaration) -> Tool:
    """Return the tool of this name: the registered one, or a new one that is not stored yet."""
    name = declaration.name
    for twin in Tool.objects.exclude(name=name).values_list("name", flat=True):
        if same_text(twin, name):
            message = f"{shown(name)} differs from the registered {shown(twin)} by case only"
            raise InvalidInput([Fault("/name", message, "case_twin")])
    held = (
        Tool.objects.select_related("family", "reviewed").filter(family=family, name=name).first()
    )
    return held or Tool(family=family, name=name)


def _expect(tool: Tool, laid: Mapping[str, Any] | None, version: int | None) -> None:
    """Keep a declaration from replacing, unseen, what somebody laid over the same tool."""
    if tool.pk and version is not None:
        expect_version(tool, version)
    elif tool.pk and laid:
        message = (
            f"{shown(tool.name)} is registered already; to change what is laid over it, say which "
            "version you saw"
        )
        raise Refused("version_required", message)


@transaction.atomic
def update_tool(
    *,
    actor: Actor,
    family: str,
    name: str,
    version: int,
    laid: Mapping[str, Any],
    origin: Origin = NOWHERE,
) -> Tool:
    """Lay things over a tool's declaration: `dispatcher`, `privilege` (null removes), `overrides`.

    Members that `laid` leaves out stay. Raises `InvalidInput` (pointers into `laid`), `NotFound`,
    and `Stale` when somebody changed the tool since `version`.
    """
    state = lock_state()
    tool = find(family, name)
    expect_version(tool, version)
    before = entry_of(tool)
    _lay(tool, laid, json.loads(tool.current.text))
    write = Write(
        state, Author(actor=actor, origin=origin), about("update_tool", "described", tool)
    )
    return save(tool, before, write)


def _lay(tool: Tool, laid: Mapping[str, Any], declaration: Mapping[str, Any]) -> None:
    """Set what is laid over the declaration. Raises `InvalidInput` with every fault."""
    faults = unknown_members(laid, LAID)
    for member in LAID:
        if member in laid:
            setattr(tool, member, laid[member])
    tool.overrides = {} if tool.overrides is None else tool.overrides
    tool.masking = {} if tool.masking is None else tool.masking
    faults += faults_under(
        "overrides", lambda: effective_subject(declaration, overrides=tool.overrides)
    )
    faults += faults_under("masking", lambda: parse_masking(tool.masking))
    if tool.dispatcher is not None:
        faults += faults_under("dispatcher", lambda: parse_dispatcher(tool.dispatcher))
    if tool.privilege is not None:
        faults += faults_under("privilege", lambda: parse_privilege(tool.privilege))
    if faults:
        raise InvalidInput(faults)
