"""Writing decisions down: the record, the use of rules, the taint of a session.

**Law** no answer without its record: whatever keeps it from being written ends in
`audit_unavailable`, never in an answer (DESIGN, "A decision, step by step").
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from django.db import DatabaseError, transaction

from toolpolicy.audit import writer
from toolpolicy.conf import conf
from toolpolicy.engine.masker import CONTEXT, shown_context
from toolpolicy.engine.masking import Spot
from toolpolicy.engine.met_values import HIDDEN, without_values
from toolpolicy.engine.questions import Asked, Question
from toolpolicy.engine.subjects import dump_subject
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Outcome, ReasonCode, Surface
from toolpolicy.models import SessionTaint
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import seen
from toolpolicy.services.actors import Actor, Origin
from toolpolicy.services.bounds import bound_to
from toolpolicy.services.decisions.answers import Answer, recorded_answer
from toolpolicy.services.decisions.facts import Facts
from toolpolicy.services.decisions.hidden_names import without_names
from toolpolicy.services.decisions.judging import (
    Candidate,
    Judgement,
    Stopped,
    brings_untrusted_content,
)
from toolpolicy.services.decisions.repeats import Idempotency, earlier_answer
from toolpolicy.services.errors import Unavailable

ENGINE = "1"
"""The meaning that answers have; it changes when the same inputs would be answered otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One decision ready to be recorded."""

    question: Question
    judgement: Judgement
    document: dict[str, Any]
    spots: Sequence[Spot] = ()
    """What the record does not show."""
    names: frozenset[str] = frozenset()
    """Nor these names of targets."""

    @property
    def hidden_keys(self) -> set[str]:
        """The context keys whose values the record does not show."""
        return {spot.path[1] for spot in self.spots if spot.path[0] == CONTEXT}

    @property
    def shown_context(self) -> dict[str, str]:
        """The context that was sent, without what is not shown."""
        return shown_context(self.question.context, self.spots)

    @property
    def taints(self) -> str | None:
        """The session that this decision marks as having read untrusted content, if any."""
        question, session = self.question, self.judgement.context.get("session")
        if question.dry_run or question.surface is not Surface.CALL or not session:
            return None
        allowed = self.document["outcome"] == Outcome.ALLOW
        return session if allowed and brings_untrusted_content(self.judgement) else None


@contextmanager
def answering() -> Iterator[float]:
    """Read, judge and record in one transaction; give when that began, by a clock for spans.

    It may have to wait for the database. What it is judged by is read after the wait, so that what
    was frozen, published or revoked meanwhile counts. A fault of the database becomes the error
    that no answer can be given. Raise RuntimeError inside a transaction of the caller's: what it
    rolls back would take the record of an answer along.
    """
    started = perf_counter()
    try:
        with transaction.atomic(durable=True):
            yield started
    except DatabaseError as error:
        raise Unavailable(ReasonCode.AUDIT_UNAVAILABLE) from error


def record_all(
    drafts: Sequence[Draft],
    *,
    asker: Actor,
    origin: Origin,
    facts: Facts,
    idempotency: Idempotency | None = None,
) -> list[Answer]:
    """Record decisions in the transaction that is open and return their answers, all or none.

    A repeat of an idempotent request gets the recorded answer again, as long as it would be given
    now too.
    """
    if idempotency is not None:
        head, first = body_head(asker, origin, facts), drafts[0]
        earlier = earlier_answer(idempotency, asker, head, first.question, first.document)
        if earlier is not None:
            return [earlier]
    answers = [_record(d, asker, origin, facts, idempotency) for d in drafts[:-1]]
    uses = [use for draft in drafts for use in usage_of(draft, facts)]
    answers += [_record(d, asker, origin, facts, idempotency, uses) for d in drafts[-1:]]
    _mark_tainted(asker, {draft.taints for draft in drafts}, facts)
    seen.note([d.shown_context for d in drafts if not d.question.dry_run], facts.now)
    return answers


def _record(
    draft: Draft,
    asker: Actor,
    origin: Origin,
    facts: Facts,
    idempotency: Idempotency | None,
    uses: Sequence[writer.Usage] = (),
) -> Answer:
    record = writer.write(
        kind=RecordKind.SIMULATION if draft.question.dry_run else RecordKind.DECISION,
        body=body_of(draft, asker, origin, facts),
        index=_index_of(draft, asker, origin, facts, idempotency),
        client=asker.client,
        usage=uses,
        spots=draft.spots,
    )
    return recorded_answer(record.uid, draft.document)


def body_of(draft: Draft, asker: Actor, origin: Origin, facts: Facts) -> dict[str, Any]:
    """Return what a decision's record holds: asked, judged by what, answered.

    An explanation stands there without the values that rules met in arguments: those are told in
    one place, and can be masked there.
    """
    context = draft.judgement.context
    answer = dict(draft.document)
    if draft.names:
        answer = without_names(answer, draft.names)
    elif "explanation" in answer:
        answer["explanation"] = without_values(answer["explanation"], draft.hidden_keys)
    return {
        **body_head(asker, origin, facts),
        "asked": asked_document(draft.question),
        "context": dict(context),
        "judged": [_judged_document(one, draft.names) for one in draft.judgement.candidates],
        "submitted_differs": _differences(draft),
        "answer": answer,
    }


def body_head(asker: Actor, origin: Origin, facts: Facts) -> dict[str, Any]:
    """Return what every record of a decision or listing names: who, when, judged by what.

    `claimed` are the members that the caller says and nobody verified, but for the values of
    `pinned` context keys, which the key fixes. `took_us` counts microseconds up to this record.
    """
    pinned = sorted(bound_to(asker))
    return {
        "engine": ENGINE,
        "environment": conf().key_env,
        "asker": asker.wire(),
        "origin": origin.wire(),
        "claimed": ["/asked", "/context"],
        **({"pinned": pinned} if pinned else {}),
        "now": facts.now.isoformat().replace("+00:00", "Z"),
        "database_now": facts.live.clock,
        "took_us": int((perf_counter() - facts.started) * 1_000_000),
        "policy": {"version": facts.live.version, "digest": facts.live.policy},
        "registry": facts.live.registry,
        "settings": facts.deployment.digest,
        "freezes": [freeze.wire() for freeze in facts.live.freezes],
        "masking": facts.live.masking,
    }


def asked_document(question: Question) -> dict[str, Any]:
    """Write a question as it may be asked again (`questions.parse_question` reads it)."""
    out: dict[str, Any] = {
        "surface": str(question.surface),
        **_asked(question.tool),
        "context": dict(question.context),
    }
    if question.targets:
        out["targets"] = [_asked(target) for target in question.targets]
    if question.dry_run:
        out["dry_run"] = True
    if question.min_policy_version is not None:
        out["min_policy_version"] = question.min_policy_version
    return out


def _asked(asked: Asked) -> dict[str, Any]:
    arguments = {} if asked.arguments is ABSENT else {"arguments": asked.arguments}
    if asked.submitted is not None:
        return {"subject": dump_subject(asked.submitted), **arguments}
    family = {} if asked.family is None else {"family": asked.family}
    return {"tool": {"name": asked.name, **family}, **arguments}


def _judged_document(candidate: Candidate, hidden: Collection[str]) -> dict[str, Any]:
    declaration = candidate.entry.declaration if candidate.entry else None
    name = HIDDEN if candidate.name in hidden else candidate.name
    return {"family": candidate.family, "name": name, "declaration": declaration}


def _differences(draft: Draft) -> list[str]:
    """Name the members in which a registered tool was submitted otherwise than it is registered."""
    submitted, candidates = draft.question.tool.submitted, draft.judgement.candidates
    if submitted is None or not candidates or candidates[0].entry is None:
        return []
    registered = dump_subject(candidates[0].entry.subject)
    said = dump_subject(submitted)
    return sorted(name for name, value in said.items() if registered.get(name) != value)


def _index_of(
    draft: Draft, asker: Actor, origin: Origin, facts: Facts, idempotency: Idempotency | None
) -> writer.RecordIndex:
    document, context = draft.document, draft.judgement.context
    blocked = document["blocked_by"] or {}
    return writer.RecordIndex(
        surface=document["surface"],
        outcome=document["outcome"],
        reason_code=document["reason_code"],
        family=document["tool"]["family"] or "",
        tool=document["tool"]["name"],
        agent=context.get("agent", ""),
        channel=context.get("channel", ""),
        session=context.get("session", ""),
        layer=blocked.get("layer") or "",
        rule=blocked.get("rule") or "",
        policy_version=facts.live.version,
        actor_label=asker.label,
        object_label=document["tool"]["name"],
        request_id=origin.request_id,
        idempotency_key=idempotency.key if idempotency else "",
        request_digest=idempotency.request_digest if idempotency else "",
    )


def usage_of(draft: Draft, facts: Facts) -> list[writer.Usage]:
    """Count one decision: once for itself (no layer), once for each rule that matched.

    Simulations do not count.
    """
    if draft.question.dry_run:
        return []
    tool, outcome = draft.document["tool"], draft.document["outcome"]
    names = [("", ""), *_fired(draft, facts)]
    return [
        writer.Usage(
            layer=layer,
            rule=rule,
            family=tool["family"] or "",
            tool=tool["name"],
            outcome=outcome,
        )
        for layer, rule in names
    ]


def _fired(draft: Draft, facts: Facts) -> Iterator[tuple[str, str]]:
    decision = draft.judgement.result
    if isinstance(decision, Stopped):
        return
    for layer_index, number in decision.fired:
        layer = facts.policy.layers[layer_index]
        yield layer.name or "", layer.rules[number].id or f"#{number}"


def _mark_tainted(asker: Actor, sessions: set[str | None], facts: Facts) -> None:
    new = sorted(session for session in sessions if session and session not in facts.tainted)
    if asker.client is None or not new:
        return
    rows = [SessionTaint(client=asker.client, session=s, since=facts.now) for s in new]
    SessionTaint.objects.bulk_create(rows, ignore_conflicts=True)
