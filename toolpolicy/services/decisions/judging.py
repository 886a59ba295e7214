"""From a question and the facts to a judgement: identity, unfolding, freezes, rules (SPEC §7–§9).

No I/O: the same question and facts give the same judgement, in a request and in a replay.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolpolicy.conf import UnregisteredTools
from toolpolicy.engine.decision import Decision
from toolpolicy.engine.evaluate import Judged
from toolpolicy.engine.explanation import explain, explain_stop
from toolpolicy.engine.globs import same_text
from toolpolicy.engine.questions import Asked, Question
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.targets import Refusal, unfold
from toolpolicy.engine.values import ABSENT, Subject
from toolpolicy.engine.words import Approval, Hint, ReasonCode, Surface
from toolpolicy.services.decisions.facts import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One subject to be judged: as registered (`entry`), or as submitted."""

    judged: Judged
    entry: Entry | None = None

    @property
    def name(self) -> str:
        """The name that the model sees."""
        return self.judged.subject.name

    @property
    def family(self) -> str | None:
        """Its family, None when it has none."""
        return self.entry.family if self.entry else self.judged.subject.family


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """Refused before any rule is read; `detail` is what only the deployment knows."""

    reason_code: ReasonCode
    name: str
    family: str | None = None
    detail: str = ""


class Halt(Exception):
    """Ends the judging of one question."""

    def __init__(self, stopped: Stopped) -> None:
        super().__init__(stopped.reason_code)
        self.stopped = stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What came of a question: a decision over the candidates, or else a stop before any rule."""

    context: Mapping[str, str]
    result: Decision | Stopped
    candidates: tuple[Candidate, ...] = ()


def judge_question(question: Question, facts: Facts) -> Judgement:
    """Judge one question by the facts."""
    context = facts.context_of(question.context)
    missing = facts.missing(question.min_policy_version)
    if missing is not None:
        tool = question.tool
        stopped = Stopped(reason_code=missing, name=tool.name, family=tool.family)
        return Judgement(context=context, result=stopped)
    candidates: list[Candidate] = []
    try:
        # One by one, so that what was found stands in the record beside what refused.
        for candidate in candidates_of(question, facts):
            candidates.append(candidate)  # noqa: PERF402
        for candidate in candidates:
            check_frozen(candidate.family, candidate.name, context, facts)
    except Halt as halt:
        return Judgement(context=context, result=halt.stopped, candidates=tuple(candidates))
    judged = [candidate.judged for candidate in candidates]
    decision = facts.compiled.judge(judged, context, question.surface, facts.now)
    return Judgement(context=context, result=decision, candidates=tuple(candidates))


def candidates_of(question: Question, facts: Facts) -> Iterator[Candidate]:
    """Yield what is judged: the tool, its unfolded targets, and what the caller states of them.

    Raises `Halt` for a name that means no one tool, a state that refuses, or a bad dispatch.
    """
    if question.surface is not Surface.CALL:
        yield resolve(question.tool, facts, args=ABSENT, surface=question.surface)
        return
    for asked in (question.tool, *question.targets):
        own = asked.arguments
        args = question.tool.arguments if own is ABSENT else own
        candidate = resolve(asked, facts, args=args)
        yield candidate
        yield from _targets_of(candidate, facts)


def _targets_of(candidate: Candidate, facts: Facts) -> Iterator[Candidate]:
    if candidate.entry is None:
        return
    found = unfold(facts.registry, candidate.entry.known, candidate.judged.args)
    if isinstance(found, Refusal):
        raise Halt(Stopped(reason_code=found.reason_code, name=found.tool))
    for target in found:
        asked = Asked(name=target.name, family=target.family)
        yield resolve(asked, facts, args=target.args)


def resolve(
    asked: Asked, facts: Facts, *, args: object, surface: Surface = Surface.CALL
) -> Candidate:
    """Find what a name stands for. The registry is the authority (SPEC §8).

    A registered tool is judged by its declaration, whatever the caller submits about it. On a
    listing its arguments are not known yet, which is not the same as a call without any.
    """
    found = facts.registry.resolve(asked.name, asked.family)
    entry = found.entry
    if entry is None and found.refusal is ReasonCode.TOOL_UNREGISTERED:
        return _unregistered(asked, facts, args)
    if entry is None or found.refusal is not None:
        code = found.refusal or ReasonCode.TOOL_UNREGISTERED
        raise Halt(Stopped(reason_code=code, name=asked.name, family=asked.family))
    subject = entry.subject_of_call(args) if surface is Surface.CALL else entry.subject
    return Candidate(judged=Judged(subject, args, entry.floor), entry=entry)


def _unregistered(asked: Asked, facts: Facts, args: object) -> Candidate:
    setting = facts.deployment.unregistered_tools
    if setting is UnregisteredTools.DENY:
        code = ReasonCode.TOOL_UNREGISTERED
        raise Halt(Stopped(reason_code=code, name=asked.name, family=asked.family))
    subject = asked.submitted or Subject(name=asked.name, family=asked.family)
    asks = setting is UnregisteredTools.REQUIRE_APPROVAL
    floor = Approval.REQUIRED if asks else Approval.DEFAULT
    return Candidate(judged=Judged(subject, args, floor))


def check_frozen(family: str | None, name: str, context: Mapping[str, str], facts: Facts) -> None:
    """Raise `Halt` when a freeze stands over the tool, its family, the agent or the channel.

    In whatever ASCII case either is written, as targets of layers and patterns of rules are read.
    """
    if not facts.live.freezes:
        return
    held = {
        "tool": name,
        "family": family,
        "agent": context.get("agent"),
        "channel": context.get("channel"),
    }
    for freeze in facts.live.freezes:
        value = held[freeze.kind]
        if value is not None and same_text(value, freeze.value):
            detail = f"{freeze.kind} '{freeze.value}', {freeze.reason}"
            code = ReasonCode.FROZEN
            raise Halt(Stopped(reason_code=code, name=name, family=family, detail=detail))


def explanation_of(judgement: Judgement, facts: Facts) -> dict[str, Any]:
    """Explain a judgement: each layer and rule, the decider, and a sentence for each reader."""
    result = judgement.result
    if isinstance(result, Stopped):
        return explain_stop(result.name, result.reason_code, result.detail)
    judged = [candidate.judged for candidate in judgement.candidates]
    return explain(facts.policy, judged, judgement.context, result, now=facts.now)


def brings_untrusted_content(judgement: Judgement) -> bool:
    """Tell whether a call can bring content from outside: open_world, or not said (SPEC §6)."""
    return any(
        candidate.judged.subject.hint(Hint.OPEN_WORLD) is not False
        for candidate in judgement.candidates
    )
