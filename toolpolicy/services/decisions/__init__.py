"""Decisions: the documented in-process face, beside REST. Same record, same answer.

    >>> from toolpolicy.services import decisions
    >>> answer = decisions.decide(
    ...     asker=Actor.system("scheduler"),
    ...     question=parse_question({"surface": "call", "tool": "send_mail", "arguments": {}}),
    ... )  # doctest: +SKIP
    >>> answer.allowed, answer.message  # doctest: +SKIP

Every function records what it answers before it returns, and raises rather than answer without a
record: `services.errors.Unavailable` is never an allow, nor is `services.errors.KeyRefused`, which
a key gets that was revoked since it was recognised, nor are `Lost` and `Altered`, where somebody
changed what is live in the database.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.utils import timezone

from toolpolicy.engine.questions import ListQuestion, Question
from toolpolicy.models import Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.services.actors import NOWHERE, Actor, ActorKind, Origin
from toolpolicy.services.decisions.answers import Answer, answer_document
from toolpolicy.services.decisions.facts import Facts, gather
from toolpolicy.services.decisions.hidden_names import hidden_names
from toolpolicy.services.decisions.judging import explanation_of, judge_question
from toolpolicy.services.decisions.listing import ListAnswer, record_listing
from toolpolicy.services.decisions.recording import Draft, answering, record_all
from toolpolicy.services.decisions.repeats import Idempotency, take_turn
from toolpolicy.services.decisions.replaying import Replay, asked_in, question_of, replay

__all__ = (
    "Answer",
    "Idempotency",
    "ListAnswer",
    "Replay",
    "asked_in",
    "decide",
    "decide_batch",
    "list_tools",
    "question_of",
    "replay",
    "simulate",
    "simulated",
)


def decide(
    *,
    asker: Actor,
    question: Question,
    origin: Origin = NOWHERE,
    idempotency: Idempotency | None = None,
) -> Answer:
    """Decide one question and record it.

    Raises `Unavailable` when the decision cannot be recorded, `InvalidInput` when an idempotency
    key is used for another body.
    """
    with answering() as started:
        if idempotency is not None:
            take_turn(idempotency, asker)
        facts = gather(asker, _sessions([question]), timezone.now(), started)
        drafts = [_draft(question, facts)]
        [answer] = record_all(
            drafts, asker=asker, origin=origin, facts=facts, idempotency=idempotency
        )
        return answer


def decide_batch(
    *, asker: Actor, questions: Sequence[Question], origin: Origin = NOWHERE
) -> list[Answer]:
    """Decide several questions by the same policy, in order, and record them in one transaction.

    What an earlier one lets into a session counts for the later ones.
    """
    with answering() as started:
        facts = seen = gather(asker, _sessions(questions), timezone.now(), started)
        drafts = []
        for question in questions:
            draft = _draft(question, seen)
            drafts.append(draft)
            if draft.taints and asker.client is not None:
                seen = seen.tainting(draft.taints)
        return record_all(drafts, asker=asker, origin=origin, facts=facts)


def simulate(*, asker: Actor, question: Question, origin: Origin = NOWHERE) -> Answer:
    """Decide what would be answered now, with its explanation, and record it as a simulation.

    Raises `Unavailable`.
    """
    asked = replace(question, dry_run=True, explain=True, min_policy_version=None)
    return decide(asker=asker, question=asked, origin=origin)


def simulated(uid: UUID) -> Record | None:
    """Return the record, with its text, of what a person had simulated. One query.

    None for any other record: those of decisions, and of simulations that keys asked for, are for
    people who may read records.
    """
    found = Record.objects.filter(kind=RecordKind.SIMULATION, client=None, body__isnull=False)
    record = found.select_related("body").filter(uid=uid).first()
    if record is None or json.loads(record.body.text)["asker"]["kind"] != ActorKind.USER:
        return None
    return record


def list_tools(*, asker: Actor, question: ListQuestion, origin: Origin = NOWHERE) -> ListAnswer:
    """List the tools that may be seen, and record the listing.

    Raises `Unavailable` when there is no policy or the listing cannot be recorded.
    """
    with answering() as started:
        facts = gather(asker, _sessions([question]), timezone.now(), started)
        return record_listing(question, asker=asker, origin=origin, facts=facts)


def _sessions(questions: Sequence[Question | ListQuestion]) -> set[str]:
    return {q.context["session"] for q in questions if q.context.get("session")}


def _draft(question: Question, facts: Facts) -> Draft:
    judgement = judge_question(question, facts)
    why = explanation_of(judgement, facts) if question.explain else None
    spots = facts.masker.spots(question, facts.registry)
    return Draft(
        question=question,
        judgement=judgement,
        document=answer_document(question, judgement, facts.live, why),
        spots=spots,
        names=hidden_names(question, judgement, spots, facts.registry),
    )
