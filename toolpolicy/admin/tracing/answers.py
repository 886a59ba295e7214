"""One answer as a page shows it: the word, who may do what, why, and what each reader is told."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.marks import OUTCOMES
from toolpolicy.admin.tracing.layers import SubjectView, subjects_of
from toolpolicy.admin.tracing.text import written
from toolpolicy.admin.words import Words, filled
from toolpolicy.engine.values import Policy
from toolpolicy.engine.words import Approval, Outcome, Surface

# Surface: what a caller may, must ask for, and may not do.
SEES, FINDS = _("%(who)s sees in the catalog %(tool)s"), _("%(who)s finds by search %(tool)s")
MAY: Final[Mapping[str, tuple[Words, Words, Words]]] = {
    Surface.CALL: (
        _("%(who)s may call %(tool)s"),
        _("%(who)s needs a person’s yes to call %(tool)s"),
        _("%(who)s may not call %(tool)s"),
    ),
    Surface.CATALOG: (SEES, SEES, _("%(who)s does not see in the catalog %(tool)s")),
    Surface.SEARCH: (FINDS, FINDS, _("%(who)s does not find by search %(tool)s")),
}
APPROVALS: Final[Mapping[str, Words]] = {
    Approval.REQUIRED: _("a person has to say yes"),
    Approval.WAIVED: _("the approval is spared"),
    Approval.DEFAULT: _("no approval asked for"),
}
# Reader: the name, and the line that says what is told.
READERS: Final = {
    "agent": (_("The agent"), _("The agent is told: %(message)s")),
    "person": (_("The person"), _("The person is told: %(message)s")),
    "admin": (_("The admin"), _("The admin is told: %(message)s")),
}


class AnswerView:
    """An answer document in its context, with its explanation where there is one.

    `policy` is the one that the answer was judged by: it gives the rules their words.
    """

    def __init__(
        self,
        document: Mapping[str, Any],
        context: Mapping[str, str],
        explanation: Mapping[str, Any] | None,
        policy: Policy,
    ) -> None:
        self.document = document
        self.explanation = explanation
        self.policy = policy
        self.outcome: str = document["outcome"]
        self.word, self.shape, self.tone = OUTCOMES.get(
            self.outcome, (self.outcome, "skip", "hide")
        )
        self.reason_code: str = document["reason_code"]
        self.agent, self.channel = context.get("agent", ""), context.get("channel", "")
        self.tool: str = document["tool"]["name"]
        self.blocked: Mapping[str, Any] | None = document["blocked_by"]

    @property
    def may(self) -> Words:
        """Say what the outcome lets the caller do, with places for `who` and the `tool`."""
        yes, asks, no = MAY[self.document["surface"]]
        if self.outcome == Outcome.NEEDS_APPROVAL:
            return asks
        return yes if self.outcome in (Outcome.ALLOW, Outcome.LIST) else no

    @property
    def sentence(self) -> str:
        """Say who may do what, and because of what else if it is not the tool itself."""
        who: str = format_html("<b>{}</b>", self.agent)
        if not self.agent:
            who = SafeString(gettext("A caller that names no agent"))
        if self.channel:
            where = format_html("<b>{}</b>", self.channel)
            who = filled(gettext("%(who)s on %(channel)s"), who=who, channel=where)
        said = filled(self.may, who=who, tool=marks.code(self.tool))
        if not self.about:
            return filled("%(said)s.", said=said)
        about = marks.code(self.about)
        return filled(gettext("%(said)s, because of %(tool)s."), said=said, tool=about)

    @property
    def about(self) -> str:
        """The tool that the reason is about, where it is not the one asked for."""
        return str(self.document.get("about", {}).get("name", ""))

    @property
    def approval(self) -> Words:
        """Say whether a person has to approve."""
        return APPROVALS.get(self.document["approval"], "")

    @property
    def observed(self) -> Mapping[str, Any] | None:
        """The answer with all that only observes enforced, where it would be another one."""
        return self.document.get("observed")

    @property
    def version(self) -> int | None:
        """The version of the policy that it was judged by."""
        version: int | None = self.document["policy"]["version"]
        return version

    @property
    def messages(self) -> list[tuple[Words, str]]:
        """What each reader is told; without an explanation, the agent alone."""
        return [(READERS[reader][0], message) for reader, message in self._said()]

    @cached_property
    def subjects(self) -> list[SubjectView]:
        """Why: each judged tool with its layers and rules."""
        if self.explanation is None:
            return []
        return subjects_of(self.explanation, self.policy, (self.shape, self.tone))

    @property
    def as_text(self) -> str:
        """The answer and its trace as plain text, to be copied."""
        who = self.agent or gettext("a caller")
        if self.channel:
            who = gettext("%(who)s on %(channel)s") % {"who": who, "channel": self.channel}
        said = filled(self.may, who=who, tool=self.tool)
        head = f"{self.word}: {said} ({self.reason_code})"
        told = [filled(READERS[reader][1], message=message) for reader, message in self._said()]
        return "\n".join([head, *written(self.subjects), "", *told])

    def _said(self) -> list[tuple[str, str]]:
        if self.explanation is None:
            return [("agent", self.document["message"])]
        said = self.explanation["sentences"]
        return [(reader, said[reader]) for reader in READERS]
