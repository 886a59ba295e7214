"""What follows from a changed declaration: its graded changes since the review, and the state.

Changes are always counted from the declaration that somebody read last, never from the one before:
many small steps would otherwise pass where one large one does not.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

from toolpolicy.conf import ChangedTools, conf
from toolpolicy.engine.grades import Grade, GradedChange
from toolpolicy.engine.grading import graded_changes
from toolpolicy.models import Tool
from toolpolicy.models.choices import ToolState

# What a person put aside stays so, and so does what a grade put aside, until somebody reviews it.
PUT_ASIDE: Final = frozenset({ToolState.QUARANTINED, ToolState.RETIRED})


def policy_of(grade: Grade) -> ChangedTools:
    """Return what the settings say of changes of this grade."""
    said: ChangedTools = getattr(conf(), f"changed_{grade}")
    return said


def changes_since_review(tool: Tool, text: str) -> tuple[GradedChange, ...]:
    """Return the changes from the tool's reviewed declaration to the one with this text.

    A tool that nobody reviewed has no changes; its state says that somebody should look.
    """
    if tool.reviewed is None:
        return ()
    return graded_changes(json.loads(tool.reviewed.text), json.loads(text))


def state_after(tool: Tool, changes: Iterable[GradedChange]) -> ToolState:
    """Return a tool's state after a declaration came in with these changes since its review.

    The strictest word of any grade counts; the same declaration as reviewed is active again.
    """
    if tool.state in PUT_ASIDE:
        return ToolState(tool.state)
    if tool.reviewed_id is None:
        return ToolState.CHANGED
    said = {policy_of(change.grade) for change in changes}
    if ChangedTools.QUARANTINE in said:
        return ToolState.QUARANTINED
    return ToolState.CHANGED if ChangedTools.CHANGED in said else ToolState.ACTIVE


def wire(changes: Iterable[GradedChange]) -> list[dict[str, Any]]:
    """Return changes as JSON, as reports, records and the API give them."""
    return [change.wire() for change in changes]
