"""Importing lists of tools (SPEC §8): nothing is ever deleted."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from toolpolicy.conf import conf
from toolpolicy.engine.declarations import Declaration
from toolpolicy.engine.strictjson import Limits
from toolpolicy.models import Tool, ToolDeclaration, ToolFamily
from toolpolicy.models.choices import RecordKind
from toolpolicy.services._publishing import Author
from toolpolicy.services._registry_formats import ToolFormat
from toolpolicy.services._registry_plan import Added, ImportRequest, Plan, plan_import
from toolpolicy.services._registry_records import Change, settle
from toolpolicy.services._registry_report import ImportReport
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.registry_store import lock_state
from toolpolicy.services.telling import Tell, nobody

# A server's schemas nest deeper than a decision's arguments, and there are many of them. Published
# lists, written without white space, have 5 to 17 bytes to a token: none is refused for those only.
IMPORT_DEPTH = 64
BYTES_PER_TOKEN = 5


def import_limits() -> Limits:
    """Return the caps on a file or body that is imported."""
    size = conf().max_import_bytes
    return Limits(size=size, depth=IMPORT_DEPTH, tokens=size // BYTES_PER_TOKEN)


@transaction.atomic
def import_tools(  # noqa: PLR0913  (one argument each of the command's and the API's)
    *,
    actor: Actor,
    family: str,
    document: Any,
    prefix: str | None = None,
    kind: str | None = None,
    form: ToolFormat = ToolFormat.MCP,
    dry_run: bool = False,
    origin: Origin = NOWHERE,
    tell: Tell = nobody,
) -> ImportReport:
    """Register the tools of a list as `family`.

    What is read of it is said by the module of its `form`: `engine.mcp`, or `engine.toolspec`.

    A family keeps its kind and prefix once it has tools; None means just that (a new family is an
    `mcp_server` without a prefix). A tool that is new counts as reviewed; one whose declaration
    changed goes on, asks for approval or is refused until somebody reviews it, as the settings say
    of the grade of its change, and so does one that only moved to another name; one that is no
    longer listed is marked as vanished. Rows are written in bulk: there are as many queries for
    fifty tools as for one. `tell` is told what is being done, for whoever waits.

    Raises `InvalidInput` with every fault (pointers into `document`, or `/family`, `/prefix`,
    `/kind`), and then nothing is written.
    """
    request = ImportRequest(family=family, document=document, prefix=prefix, kind=kind, form=form)
    state = lock_state()
    plan = plan_import(request, tell)
    report = plan.report(dry_run=dry_run)
    if dry_run:
        return report
    tell(f"writing {len(plan.added):,} new and {len(plan.changed):,} changed tools")
    _apply(plan, timezone.now())
    author = Author(actor=actor, origin=origin)
    change = Change(action="import", summary=report.summary, family=family, kind=RecordKind.IMPORT)
    registry = settle(state, author, change, {"report": report.wire()})
    return replace(report, registry=registry)


def _apply(plan: Plan, now: datetime) -> None:
    plan.family.full_clean()
    plan.family.save()
    changed = [one.declaration for one in plan.changed]
    _keep_declarations([*(one.declaration for one in plan.added), *changed])
    Tool.objects.bulk_create(_new_tool(plan.family, added, now) for added in plan.added)
    for one in plan.changed:
        one.tool.current_id, one.tool.title = one.declaration.digest, one.declaration.title
        one.tool.state = one.report.state
    for tool in plan.returned:
        tool.vanished_at = None
    for tool in plan.vanished:
        tool.vanished_at = now
    touched = {tool.pk: tool for tool in (*plan.vanished, *plan.returned)}
    touched.update({one.tool.pk: one.tool for one in plan.changed})
    fields = ("current", "title", "state", "vanished_at")
    # As an upsert: an update of many rows by cases takes twenty times as long.
    Tool.objects.bulk_create(
        touched.values(), update_conflicts=True, unique_fields=("id",), update_fields=fields
    )
    plan.family.tools.filter(vanished_at=None).update(last_seen_at=now)


def _keep_declarations(declarations: Iterable[Declaration]) -> None:
    ToolDeclaration.objects.bulk_create(
        (ToolDeclaration(digest=one.digest, text=one.text) for one in declarations),
        ignore_conflicts=True,
    )


def _new_tool(family: ToolFamily, added: Added, now: datetime) -> Tool:
    declaration = added.declaration
    tool = Tool(
        family=family,
        name=declaration.name,
        title=declaration.title,
        current_id=declaration.digest,
        # A review then shows a tool that moved beside what was read under its old name.
        reviewed_id=added.was.reviewed_id if added.was else declaration.digest,
        state=added.state,
        first_seen_at=now,
        last_seen_at=now,
    )
    # The rest asks the database, once for each tool; the plan has looked already.
    tool.clean_fields(exclude=("family", "current", "reviewed"))
    return tool
