"""What a verification found, and how it is said."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

MOST: Final = 1000
"""Findings that are named; the rest are counted."""


class Kind(StrEnum):
    """How the log differs from what was sealed."""

    ALTERED = "altered"
    MISSING = "missing"
    INSERTED = "inserted"
    REORDERED = "reordered"
    DUPLICATED = "duplicated"
    UNSIGNED = "unsigned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One break: where, of which kind, in words. `seq` or `block` is None where it has none."""

    kind: Kind
    message: str
    seq: int | None = None
    block: int | None = None
    segment: int | None = None

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "kind": str(self.kind),
            "seq": self.seq,
            "block": self.block,
            "segment": self.segment,
            "message": self.message,
        }


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What was read and what was found. `good` when nothing speaks against the log.

    `expired` texts were deleted by prunings, of them `on_request` before their time was over.
    """

    log: str
    full: bool
    after_block: int = 0
    blocks: int = 0
    records: int = 0
    bytes: int = 0
    expired: int = 0
    on_request: int = 0
    waiting: int = 0
    head: int = 0
    checkpoints: int = 0
    closed: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    more: int = 0

    @property
    def good(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def find(self, kind: Kind, message: str, **place: int | None) -> None:
        """Note a finding; beyond `MOST` it is only counted."""
        if len(self.findings) < MOST:
            self.findings.append(Finding(kind=kind, message=message, **place))
        else:
            self.more += 1

    def take(self, other: "Verdict") -> None:
        """Note what another one found."""
        for finding in other.findings:
            if len(self.findings) < MOST:
                self.findings.append(finding)
            else:
                self.more += 1
        self.more += other.more

    @property
    def first(self) -> Finding | None:
        """The finding with the lowest number, those without one last."""
        far = float("inf")
        places = ((f.seq or far, f.block or far) for f in self.findings)
        ranked = sorted(zip(places, self.findings, strict=True), key=lambda pair: pair[0])
        return ranked[0][1] if ranked else None

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        names = (
            *("log", "full", "after_block", "blocks", "records", "bytes", "expired", "on_request"),
            *("waiting", "head", "checkpoints", "closed"),
        )
        return {
            "good": self.good,
            **{name: getattr(self, name) for name in names},
            "findings": [finding.wire() for finding in self.findings],
            "more_findings": self.more,
        }
