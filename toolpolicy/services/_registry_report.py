"""What an import says it did, or would do."""

from dataclasses import dataclass
from typing import Any

from toolpolicy.engine.grades import IN_WORDS, Grade, GradedChange
from toolpolicy.engine.misspelt import Misspelt
from toolpolicy.engine.near_names import NearName
from toolpolicy.engine.tool_lists import PrefixTwice
from toolpolicy.models.choices import ToolState

NameWarning = NearName | PrefixTwice
ImportWarned = NameWarning | Misspelt


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTool:
    """A tool whose declaration changed: from which digest to which, in which members, and how.

    `changes` are those from `before` to `after`; `state` follows from all changes since the review.
    """

    name: str
    members: tuple[str, ...]
    before: str
    after: str
    changes: tuple[GradedChange, ...]
    state: ToolState

    @property
    def grades(self) -> str:
        """What kinds of change there are, in words."""
        found = {change.grade for change in self.changes}
        return ", ".join(IN_WORDS[grade] for grade in Grade if grade in found)

    def wire(self) -> dict[str, Any]:
        """Return the tool as JSON."""
        return {
            "name": self.name,
            "members": list(self.members),
            "before": self.before,
            "after": self.after,
            "changes": [change.wire() for change in self.changes],
            "state": str(self.state),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedTool:
    """A new tool that says word for word what one that is gone said under the name `was`."""

    name: str
    was: str
    state: ToolState

    def wire(self) -> dict[str, Any]:
        """Return the tool as JSON."""
        return {"name": self.name, "was": self.was, "state": str(self.state)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did, or with `dry_run` would do. Names are those that the model sees.

    `added` holds (name, digest of the declaration). `returned` are tools that had vanished; each
    stands in `changed` or `unchanged` as well. `moved` are tools under another name; each stands in
    `added` as well, and stays under the old one as a vanished tool. `warnings` are new
    names that look like others or have the prefix twice, and members of new and changed tools that
    nobody reads but nearly. `registry` holds the digests of the registry before and after; it is
    None for a dry run.
    """

    family: str
    kind: str
    prefix: str
    dry_run: bool
    added: tuple[tuple[str, str], ...]
    changed: tuple[ChangedTool, ...]
    unchanged: tuple[str, ...]
    vanished: tuple[str, ...]
    returned: tuple[str, ...]
    moved: tuple[MovedTool, ...]
    warnings: tuple[ImportWarned, ...] = ()
    registry: dict[str, str] | None = None

    @property
    def summary(self) -> str:
        """The counts in one sentence."""
        would = "would be " if self.dry_run else ""
        counts = f"{len(self.added)} {would}added, {len(self.changed)} changed"
        rest = f"{len(self.unchanged)} unchanged, {len(self.vanished)} vanished"
        return f"{self.family}: {counts}, {rest}"

    def wire(self) -> dict[str, Any]:
        """Return the report as JSON, as the API answers and the record keeps it."""
        registry = {} if self.registry is None else {"registry": self.registry}
        return {
            "family": self.family,
            "kind": self.kind,
            "prefix": self.prefix,
            "dry_run": self.dry_run,
            "added": [{"name": name, "declaration": digest} for name, digest in self.added],
            "changed": [tool.wire() for tool in self.changed],
            "unchanged": list(self.unchanged),
            "vanished": list(self.vanished),
            "returned": list(self.returned),
            "moved": [tool.wire() for tool in self.moved],
            "warnings": [warning.wire() for warning in self.warnings],
            **registry,
        }
