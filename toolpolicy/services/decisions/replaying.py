"""Replaying a record: the same inputs, judged again, give the same answer (SPEC §10, last Law).

A record names the digests of all that its decision was judged by, and they are kept; so a trace
need not be stored with every decision, and can be made for any of them, a year later. Values that
the record's text does not show are taken from where they are kept; once one is erased, or where
only a digest was kept, it is said which is missing, and nothing is guessed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from toolpolicy.engine import canonical
from toolpolicy.engine.questions import Question, parse_question
from toolpolicy.models import Record
from toolpolicy.services.decisions.answers import answer_document, told_in
from toolpolicy.services.decisions.facts import Facts, recalled
from toolpolicy.services.decisions.hidden_names import as_recorded
from toolpolicy.services.decisions.judging import explanation_of, judge_question
from toolpolicy.services.live import Live, Standing
from toolpolicy.services.payloads import payload_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A decision judged again: its explanation, the answer, and whether it is the recorded one."""

    explanation: dict[str, Any] = field(hash=False)
    answer: dict[str, Any] = field(hash=False)
    same: bool


def asked_in(body: Mapping[str, Any]) -> Question:
    """Return the question of a record's body as it was judged: with what was known of a session."""
    return replace(parse_question(body["asked"]), context=body["context"])


def restored(record: Record) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return what a record says with every value that is still kept, and the places of those gone.

    Each place says why it has none. The one place where a replay gets what it judges.
    """
    payload = payload_of(record)
    return payload.body, tuple(f"{place} ({why})" for place, why in payload.missing.items())


def question_of(record: Record, like: Mapping[str, Any] | None = None) -> Question:
    """Return the question of a record, with what is masked in its text. One query at most.

    `like` is as in `payloads.payload_of`. Raises `ValuesMissing`.
    """
    return asked_in(payload_of(record, like).whole())


def replay(record: Record, question: Question | None = None) -> Replay:
    """Judge a recorded decision or simulation again by what it names. At most six queries.

    `question` is the record's, where it is at hand. Raises `NotFound` when a document that the
    record names is not kept, `ValuesMissing` when a value is not.
    """
    if question is None:
        return replay_of(payload_of(record).whole())
    return replay_of(json.loads(record.body.text), question)


def replay_of(body: Mapping[str, Any], question: Question | None = None) -> Replay:
    """Judge what a record says again, as `replay` does."""
    facts = facts_of(body)
    asked = question or asked_in(body)
    judgement = judge_question(asked, facts)
    answer = as_recorded(answer_document(asked, judgement, facts.live, None), body["answer"])
    return Replay(
        explanation=explanation_of(judgement, facts),
        answer=answer,
        same=canonical.dumps(answer) == canonical.dumps(told_in(body["answer"])),
    )


def facts_of(body: Mapping[str, Any]) -> Facts:
    """Return what a record names that it was judged by. Raises `NotFound` when it is not kept."""
    live = Live(
        version=body["policy"]["version"],
        policy=body["policy"]["digest"],
        registry=body["registry"],
        settings=body["settings"],
        freezes=tuple(Standing(**freeze) for freeze in body["freezes"]),
    )
    return recalled(live, datetime.fromisoformat(body["now"]))
