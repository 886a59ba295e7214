"""From the bytes of a question to the bytes of its answer, with no framework in between.

The views are thin shells over these functions, and so would be any other way in. Each returns a
`Reply` whatever happens: a failure is a problem document, and a refusal is recorded first.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Concatenate, Final, ParamSpec

from toolpolicy.api.auth import require
from toolpolicy.api.batches import Batch, read_batch, write_results
from toolpolicy.api.callers import Caller
from toolpolicy.api.failures import failed, record_refusal
from toolpolicy.api.pinning import refuse_other_context
from toolpolicy.api.problems import Problem
from toolpolicy.api.reading import BATCH, NORMAL, parse
from toolpolicy.api.replies import Reply
from toolpolicy.engine.canonical import dumps
from toolpolicy.engine.questions import Question, parse_list_question, parse_question
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import decisions
from toolpolicy.services.decisions import Idempotency
from toolpolicy.services.digests import request_digest

# An answer holds for one moment and one request.
NO_STORE: Final = {"Cache-Control": "no-store"}

P = ParamSpec("P")
Answering = Callable[Concatenate[bytes, Caller, P], Any]


def answered(answer: Answering[P]) -> Callable[Concatenate[bytes, Caller, P], Reply]:
    """Turn a function's JSON answer, or its failure, into a reply.

    Answers are canonical text: the same decision is the same bytes, also when it is repeated.
    """

    def reply(data: bytes, caller: Caller, /, *args: P.args, **kwargs: P.kwargs) -> Reply:
        try:
            document = answer(data, caller, *args, **kwargs)
            return Reply(status=200, content=dumps(document).encode(), headers=NO_STORE)
        except Exception as error:  # noqa: BLE001  (each is answered and logged or recorded)
            return failed(error, caller, digest=request_digest(data))

    return reply


@answered
def decide(data: bytes, caller: Caller, idempotency_key: str | None = None) -> Any:
    """Answer `POST decisions/`."""
    question = _question(parse(data, NORMAL), caller)
    answer = decisions.decide(
        asker=caller.actor,
        question=question,
        origin=caller.origin,
        idempotency=Idempotency(idempotency_key, request_digest(data)) if idempotency_key else None,
    )
    return answer.document


@answered
def explain(data: bytes, caller: Caller) -> Any:
    """Answer `POST explain/`: decided like any call, recorded as a simulation, explained."""
    question = replace(_question(parse(data, NORMAL), caller), dry_run=True, explain=True)
    answer = decisions.decide(asker=caller.actor, question=question, origin=caller.origin)
    return answer.document


@answered
def decide_batch(data: bytes, caller: Caller) -> Any:
    """Answer `POST decisions/batch/`: one policy for all items, each of which may fail alone."""
    batch: Batch = read_batch(parse(data, BATCH), lambda item: _question(item, caller))
    if batch.faults:
        refusal = Problem(code="invalid", detail="items of a batch", faults=batch.faults)
        record_refusal(refusal, caller, request_digest(data))
    answers = decisions.decide_batch(
        asker=caller.actor, questions=batch.questions, origin=caller.origin
    )
    return {"results": write_results(batch, [answer.document for answer in answers])}


@answered
def list_tools(data: bytes, caller: Caller) -> Any:
    """Answer `POST catalog/`."""
    question = parse_list_question(parse(data, BATCH))
    refuse_other_context(caller.client, question.context)
    answer = decisions.list_tools(asker=caller.actor, question=question, origin=caller.origin)
    return answer.document


def _question(document: Any, caller: Caller) -> Question:
    question = parse_question(document)
    refuse_other_context(caller.client, question.context)
    if question.explain:
        require(caller.client, KeyScope.EXPLAIN)
    return question
