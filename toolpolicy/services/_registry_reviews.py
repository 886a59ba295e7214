"""Reviews: what changed since a declaration was read, and what somebody says of it (SPEC §8)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db import transaction

from toolpolicy.engine.grades import GradedChange
from toolpolicy.models import Tool
from toolpolicy.models.choices import ToolState
from toolpolicy.services._publishing import Author
from toolpolicy.services._registry_grades import changes_since_review, wire
from toolpolicy.services._registry_rows import Write, about, find, save
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.errors import Refused
from toolpolicy.services.registry_store import entry_of, lock_state


class Verdict(StrEnum):
    """What somebody says of a tool after looking at it."""

    ACCEPT = "accept"
    QUARANTINE = "quarantine"
    RETIRE = "retire"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A tool beside what was read of it: its changes since then, none where nothing changed.

    `reviewed` is the digest of the declaration that was read last, None where none ever was.
    """

    tool: Tool
    changes: tuple[GradedChange, ...]

    def wire(self) -> dict[str, Any]:
        """Return the review as JSON."""
        return {
            "family": self.tool.family.name,
            "name": self.tool.name,
            "state": str(self.tool.state),
            "declaration": self.tool.current_id,
            "reviewed": self.tool.reviewed_id,
            "changes": wire(self.changes),
        }


def review_of(tool: Tool) -> Review:
    """Return what there is to review of a tool. Its declarations are read, unless loaded."""
    return Review(tool=tool, changes=changes_since_review(tool, tool.current.text))


@transaction.atomic
def review_tool(
    *, actor: Actor, family: str, name: str, declaration: str, origin: Origin = NOWHERE
) -> Tool:
    """Say that a tool's declaration, the one with this digest, was read and is good: it is active.

    The record holds every change since the review before. Raises `Refused` (`stale`) when another
    declaration came in meanwhile, and `NotFound`.
    """
    state = lock_state()
    tool = find(family, name)
    before = entry_of(tool)
    if tool.current_id != declaration:
        message = f"`{family}/{name}` was declared anew meanwhile; read `{tool.current_id}` first"
        raise Refused("stale", message)
    said = {
        "reviewed": {"before": tool.reviewed_id, "after": declaration},
        "changes": wire(review_of(tool).changes),
    }
    news = tool.reviewed_id != declaration
    tool.reviewed_id, tool.state = declaration, ToolState.ACTIVE
    write = Write(state, Author(actor=actor, origin=origin), about("review_tool", "reviewed", tool))
    return save(tool, before, write, said, always=news)


def give_verdict(
    *, actor: Actor, tool: Tool, verdict: Verdict, declaration: str, origin: Origin = NOWHERE
) -> Tool:
    """Do what a verdict on a tool says; only one that accepts is about a certain declaration.

    Raises as `review_tool` does.
    """
    who: dict[str, Any] = {"actor": actor, "origin": origin}
    who |= {"family": tool.family.name, "name": tool.name}
    if verdict is Verdict.ACCEPT:
        return review_tool(**who, declaration=declaration)
    put_aside = quarantine_tool if verdict is Verdict.QUARANTINE else retire_tool
    return put_aside(**who)


@transaction.atomic
def quarantine_tool(*, actor: Actor, family: str, name: str, origin: Origin = NOWHERE) -> Tool:
    """Refuse every use of a tool until it is reviewed. Raises `NotFound`."""
    author = Author(actor=actor, origin=origin)
    return _put_aside((family, name), ToolState.QUARANTINED, "quarantine_tool", author)


@transaction.atomic
def retire_tool(*, actor: Actor, family: str, name: str, origin: Origin = NOWHERE) -> Tool:
    """Refuse every use of a tool that has had its time; a review brings it back.

    Raises `NotFound`.
    """
    author = Author(actor=actor, origin=origin)
    return _put_aside((family, name), ToolState.RETIRED, "retire_tool", author)


def _put_aside(identity: tuple[str, str], to: ToolState, action: str, author: Author) -> Tool:
    state = lock_state()
    tool = find(*identity)
    before = entry_of(tool)
    tool.state = to
    return save(tool, before, Write(state, author, about(action, to.value, tool)))
