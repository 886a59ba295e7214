"""What comes out of judging: verdicts, and the decision that names its cause."""

from typing import NamedTuple

from toolpolicy.engine.words import Approval, Outcome, ReasonCode, Scope, Surface


class BlockedBy(NamedTuple):
    """The layer, and the rule in it unless its default refused, that blocks a tool."""

    layer: str | None
    layer_index: int
    scope: Scope
    rule: int | None = None
    id: str | None = None
    reason: str | None = None


class Verdict(NamedTuple):
    """What one reading of the policy says (the enforced one, or the observed one)."""

    visible: bool
    callable: bool
    approval: Approval
    reason_code: ReasonCode
    blocked_by: BlockedBy | None = None


class Decision(NamedTuple):
    """An answer. `observed` is set when the policy with its observing parts enforced differs.

    `about` is the index, in the judged list, of the subject that the reason is about: the first
    that is refused, else the first that needs approval, else the first.
    `fired` are the rules that matched, observing ones too: (layer index, rule index), each once.
    """

    surface: Surface
    verdict: Verdict
    needs_approval: bool
    observed: Verdict | None = None
    about: int = 0
    fired: tuple[tuple[int, int], ...] = ()

    @property
    def visible(self) -> bool:
        """Whether the tool stands in a listing."""
        return self.verdict.visible

    @property
    def callable(self) -> bool:
        """Whether a call would be admitted (approval aside)."""
        return self.verdict.callable

    @property
    def approval(self) -> Approval:
        """The published fold of approvals."""
        return self.verdict.approval

    @property
    def reason_code(self) -> ReasonCode:
        """Why the answer is what it is."""
        return self.verdict.reason_code

    @property
    def blocked_by(self) -> BlockedBy | None:
        """The layer and rule that block, if any does."""
        return self.verdict.blocked_by

    @property
    def admits(self) -> bool:
        """Visible on a listing surface, callable on a call (SPEC §3)."""
        return self.callable if self.surface is Surface.CALL else self.visible

    @property
    def outcome(self) -> Outcome:
        """The answer in one word."""
        if not self.callable:
            return Outcome.DENY
        if self.surface is not Surface.CALL:
            return Outcome.LIST if self.visible else Outcome.HIDE
        return Outcome.NEEDS_APPROVAL if self.needs_approval else Outcome.ALLOW
