"""What every change of the registry leaves: the new snapshot and one record, in its transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolpolicy.audit import writer
from toolpolicy.models import PolicyState
from toolpolicy.models.choices import RecordKind
from toolpolicy.services._publishing import Author
from toolpolicy.services.registry_store import write_snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One user action: its stable name, what was done in words, and the family or tool."""

    action: str
    summary: str
    family: str
    tool: str = ""
    kind: RecordKind = RecordKind.CHANGE

    @property
    def label(self) -> str:
        """What the change is about, for lists of records; no family: tools of several."""
        if not self.family:
            return "several tools"
        return f"{self.family}/{self.tool}" if self.tool else self.family


def settle(
    state: PolicyState, author: Author, change: Change, body: Mapping[str, Any]
) -> dict[str, str]:
    """Make the rows as they stand the live registry and record the change.

    Must run in the transaction that locked `state`. Returns the registry's digests, before and
    after.
    """
    registry = write_snapshot(state)
    writer.write(
        kind=change.kind,
        body={
            "action": change.action,
            "summary": change.summary,
            "actor": author.actor.wire(),
            "origin": author.origin.wire(),
            "object": {
                name: value
                for name, value in (("family", change.family), ("tool", change.tool))
                if value
            },
            "registry": registry,
            **body,
        },
        index=writer.RecordIndex(
            family=change.family,
            tool=change.tool,
            actor_label=author.actor.label,
            object_label=change.label,
            request_id=author.origin.request_id,
        ),
        client=author.actor.client,
    )
    return registry
