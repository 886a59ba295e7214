"""What a tool declared over time, each declaration beside the one before it."""

import json
from dataclasses import dataclass

from toolpolicy.engine import canonical
from toolpolicy.engine.grades import GradedChange
from toolpolicy.engine.grading import graded_changes
from toolpolicy.models import Tool, ToolDeclaration

NEWEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One declaration that was seen, and what it changed; nothing where it is the first one."""

    declaration: ToolDeclaration
    changes: tuple[GradedChange, ...] | None


def declarations_of(tool: Tool) -> list[Declared]:
    """Return the newest declarations that were seen of a tool, newest first. One query."""
    rows = ToolDeclaration.objects.order_by("-created_at", "digest")
    for member, value in (("family", tool.family.name), ("name", tool.name)):
        rows = rows.filter(text__contains=f'"{member}":{canonical.dumps(value)}')
    found = []
    for row in rows[: 10 * NEWEST]:
        document = json.loads(row.text)
        subject = document["subject"]
        if (subject["family"], subject["name"]) == (tool.family.name, tool.name):
            found.append((row, document))
    found = found[: NEWEST + 1]
    earlier = [document for _, document in found[1:]]
    told = [
        Declared(declaration=row, changes=graded_changes(before, document))
        for (row, document), before in zip(found, earlier, strict=False)
    ]
    if found and len(found) <= NEWEST:
        told.append(Declared(declaration=found[-1][0], changes=None))
    return told
