"""Answers as the faces give them: the same document over REST, from a command, and in process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from toolpolicy.engine.decision import BlockedBy, Decision, Verdict
from toolpolicy.engine.messages import message
from toolpolicy.engine.questions import Question
from toolpolicy.engine.words import Approval, Outcome, ReasonCode
from toolpolicy.services.decisions.judging import Judgement, Stopped
from toolpolicy.services.live import Live


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `document` is the JSON that every face gives; the rest reads from it."""

    decision_id: str
    document: dict[str, Any] = field(hash=False)

    @property
    def outcome(self) -> Outcome:
        """The answer in one word."""
        return Outcome(self.document["outcome"])

    @property
    def reason_code(self) -> ReasonCode:
        """Why the answer is what it is."""
        return ReasonCode(self.document["reason_code"])

    @property
    def message(self) -> str:
        """The sentence for the agent."""
        return str(self.document["message"])

    @property
    def allowed(self) -> bool:
        """Whether the call may run now, without anybody's approval."""
        return self.outcome is Outcome.ALLOW


def recorded_answer(uid: UUID, document: Mapping[str, Any]) -> Answer:
    """Return the answer whose record has this id."""
    return Answer(str(uid), {"decision_id": str(uid), **document})


def told_in(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer says, without the explanation of it."""
    return {name: value for name, value in document.items() if name != "explanation"}


def answer_document(
    question: Question, judgement: Judgement, live: Live, explanation: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Write the answer to one question; its `decision_id` is added when it is recorded."""
    tool = {"family": _family(question, judgement), "name": question.tool.name}
    head = {"surface": str(question.surface), "tool": tool}
    result = judgement.result
    body = _stopped(result, tool) if isinstance(result, Stopped) else _decided(judgement, result)
    policy = {"version": live.version, "digest": live.policy or None}
    why = {} if explanation is None else {"explanation": explanation}
    return {**head, **body, "policy": policy, **why}


def _family(question: Question, judgement: Judgement) -> str | None:
    return judgement.candidates[0].family if judgement.candidates else question.tool.family


def _decided(judgement: Judgement, decision: Decision) -> dict[str, Any]:
    about = judgement.candidates[decision.about]
    out = {
        "outcome": str(decision.outcome),
        "reason_code": str(decision.reason_code),
        "message": message(about.name, decision.reason_code, decision.blocked_by),
        "visible": decision.visible,
        "callable": decision.callable,
        "approval": str(decision.approval),
        "blocked_by": blocked_document(decision.blocked_by),
    }
    if decision.about:
        out["about"] = {"family": about.family, "name": about.name}
    if decision.observed is not None:
        out["observed"] = verdict_document(decision.observed)
    return out


def _stopped(stopped: Stopped, tool: dict[str, str | None]) -> dict[str, Any]:
    about = {"family": stopped.family, "name": stopped.name}
    return {
        "outcome": str(Outcome.DENY),
        "reason_code": str(stopped.reason_code),
        "message": message(stopped.name, stopped.reason_code, None, stopped.detail),
        "visible": False,
        "callable": False,
        "approval": str(Approval.DEFAULT),
        "blocked_by": None,
        **({"about": about} if about != tool else {}),
    }


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """Write one reading of the policy: what would hold with its observing parts enforced."""
    return {
        "visible": verdict.visible,
        "callable": verdict.callable,
        "approval": str(verdict.approval),
        "reason_code": str(verdict.reason_code),
        "blocked_by": blocked_document(verdict.blocked_by),
    }


def blocked_document(blocked: BlockedBy | None) -> dict[str, Any] | None:
    """Write what blocks: the layer, its scope, the rule's id and number (None: its default)."""
    if blocked is None:
        return None
    return {
        "layer": blocked.layer,
        "scope": str(blocked.scope),
        "rule": blocked.id,
        "index": blocked.rule,
        "reason": blocked.reason,
    }
