"""What lint finds: codes, how grave each is, and what to do about it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final


class Severity(StrEnum):
    """How grave a finding is."""

    FAULT = "fault"
    """It cannot work as it is written."""
    WARNING = "warning"
    """It hardly means what it does."""
    NOTICE = "notice"
    """It is worth knowing."""

    @property
    def rank(self) -> int:
        """The place of this severity, the gravest first."""
        return list(Severity).index(self)


class FindingCode(StrEnum):
    """What was found; each has an entry in docs/lint.md."""

    NEVER_MATCHES = "never_matches"
    NOTHING_ON_SURFACES = "nothing_on_surfaces"
    SWITCHED_OFF = "switched_off"
    GROUP_EMPTY = "group_empty"
    SHADOWED = "shadowed"
    REDUNDANT = "redundant"
    CONTRADICTORY = "contradictory"
    ALLOW_UNDER_ALLOW = "allow_under_allow"
    ALWAYS_OVERRULED = "always_overruled"
    BASELINE_OVERRULED = "baseline_overruled"
    POINTER_UNKNOWN = "pointer_unknown"
    WHEN_KEY_UNSEEN = "when_key_unseen"
    TARGET_UNSEEN = "target_unseen"
    VALUE_UNKNOWN = "value_unknown"
    UNLISTED_YET_CALLABLE = "unlisted_yet_callable"
    EXPIRED = "expired"
    EXPIRES_SOON = "expires_soon"
    BROAD_GRANT = "broad_grant"
    OTHER_DIALECT = "other_dialect"
    CASE_TWINS = "case_twins"
    LOOK_ALIKES = "look_alikes"
    CACHEABLE_APPROVAL = "cacheable_approval"
    BASELINE_CHANGED = "baseline_changed"


_FAULTS: Final = {
    FindingCode.NOTHING_ON_SURFACES,
    FindingCode.SWITCHED_OFF,
    FindingCode.CONTRADICTORY,
    FindingCode.BASELINE_OVERRULED,
}
_NOTICES: Final = {
    FindingCode.REDUNDANT,
    FindingCode.EXPIRES_SOON,
    FindingCode.LOOK_ALIKES,
}
_REMEDIES: Final = {
    FindingCode.NEVER_MATCHES: "Correct the pattern, or delete the rule.",
    FindingCode.NOTHING_ON_SURFACES: "Add the surface that is meant, or delete the rule.",
    FindingCode.SWITCHED_OFF: "Fill in what is empty, or leave it out; to switch a rule off, say"
    " so on its page.",
    FindingCode.GROUP_EMPTY: "Correct the name of the group, or put tools into it.",
    FindingCode.SHADOWED: "Delete the rule, or narrow the one that comes before it.",
    FindingCode.REDUNDANT: "Delete the rule, which changes no answer, or narrow the one that"
    " covers it.",
    FindingCode.CONTRADICTORY: "Delete one of the two, or say by `when` which holds where.",
    FindingCode.ALLOW_UNDER_ALLOW: "Delete the rule, or make the layer refuse by default.",
    FindingCode.ALWAYS_OVERRULED: "Move the rule behind the later one, or delete it.",
    FindingCode.BASELINE_OVERRULED: "Put the `off` into the app rules, behind the verb defaults.",
    FindingCode.POINTER_UNKNOWN: "Take a pointer from the schema of the tool.",
    FindingCode.WHEN_KEY_UNSEEN: "Correct the key, or make the host send it.",
    FindingCode.TARGET_UNSEEN: "Correct the target, or keep it for who is still to come.",
    FindingCode.VALUE_UNKNOWN: "Declare the value on the page of the tool.",
    FindingCode.UNLISTED_YET_CALLABLE: "Add `call` to the surfaces, or make it a `hide`.",
    FindingCode.EXPIRED: "Delete it, or give it a new end.",
    FindingCode.EXPIRES_SOON: "Give it a new end if it is still needed.",
    FindingCode.BROAD_GRANT: "Name the tools that are meant, or move the rule to a config layer.",
    FindingCode.OTHER_DIALECT: "Write it in the dialect of the layer.",
    FindingCode.CASE_TWINS: "Rename one of the tools, or retire it.",
    FindingCode.LOOK_ALIKES: "See that both are meant; rename or retire the other.",
    FindingCode.CACHEABLE_APPROVAL: "Override `cacheable_approval` with false on the page of the"
    " tool.",
    FindingCode.BASELINE_CHANGED: "Put the layer back as it was installed, or keep the departure on"
    " purpose.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something found. `layer` and `rule` name what it is about; neither, for tools.

    `tools` are those that it is about, each family and name. `number` is the index of the rule in
    its layer. `message` has names in backticks. `witness` is
    JSON: a tool, a context, arguments or other rules that show it.
    """

    code: FindingCode
    message: str
    layer: str | None = None
    rule: str | None = None
    number: int | None = None
    tools: tuple[tuple[str, str], ...] = ()
    witness: dict[str, Any] = field(default_factory=dict, hash=False)
    lighter: bool = False
    """Whether it is only a notice here."""

    @property
    def severity(self) -> Severity:
        """How grave it is."""
        if self.lighter or self.code in _NOTICES:
            return Severity.NOTICE
        return Severity.FAULT if self.code in _FAULTS else Severity.WARNING

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return _REMEDIES[self.code]

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "code": str(self.code),
            "severity": str(self.severity),
            "layer": self.layer,
            "rule": self.rule,
            "message": self.message,
            "witness": self.witness,
            "remedy": self.remedy,
        }
