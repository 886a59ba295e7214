"""Repeated requests: the recorded answer again, as long as it would be given now too."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from toolpolicy.audit.commitments import MASKED
from toolpolicy.conf import conf
from toolpolicy.engine.canonical import digest, dumps
from toolpolicy.engine.faults import Fault, join
from toolpolicy.engine.questions import Question
from toolpolicy.models import Record
from toolpolicy.services.actors import Actor
from toolpolicy.services.decisions.answers import Answer, recorded_answer, told_in
from toolpolicy.services.decisions.hidden_names import as_recorded
from toolpolicy.services.decisions.replaying import replay
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.records import document_of

JUDGED_BY: Final = ("engine", "policy", "registry", "settings", "freezes")


@dataclass(frozen=True, slots=True)
class Idempotency:
    """A caller's key for one request, and the digest of its body (`digests.request_digest`)."""

    key: str
    request_digest: str


def earlier_answer(
    idempotency: Idempotency,
    asker: Actor,
    head: Mapping[str, Any],
    question: Question,
    now: Mapping[str, Any],
) -> Answer | None:
    """Return the recorded answer of a repeated request; None when it has to be decided.

    Its explanation is made anew, for a record's has no values of arguments. `head` names what a
    decision would be judged by now, and `now` is the answer that it would give; one that was
    judged by anything else or said anything else does not stand (time and what a session has read
    change answers too), nor does one whose text was deleted. Raises `InvalidInput`
    (idempotency_key_reused) when the key came with another body.
    """
    record = _newest_with(idempotency, asker)
    if record is None:
        return None
    if record.request_digest != idempotency.request_digest:
        message = "this Idempotency-Key was used for another request body"
        raise InvalidInput([Fault("", message, "idempotency_key_reused")])
    body = document_of(record)
    if body is None or any(body[name] != head[name] for name in JUDGED_BY):
        return None
    recorded, answer = body["answer"], told_in(now)
    if dumps(told_in(recorded)) != dumps(as_recorded(answer, recorded)):
        return None
    if question.explain:
        asked = replace(question, context=_judged_context(body, question.context))
        answer = {**answer, "explanation": replay(record, asked).explanation}
    return recorded_answer(record.uid, answer)


def _judged_context(body: Mapping[str, Any], sent: Mapping[str, str]) -> dict[str, str]:
    """Return the context that was judged: with the caller's own values where the text has none."""
    masked = {one["pointer"] for one in body.get(MASKED, ())}
    return {
        key: sent[key] if join("/context", key) in masked else value
        for key, value in body["context"].items()
    }


def _newest_with(idempotency: Idempotency, asker: Actor) -> Record | None:
    since = timezone.now() - timedelta(seconds=conf().idempotency_seconds)
    found = Record.objects.filter(
        client=asker.client, idempotency_key=idempotency.key, at__gte=since
    )
    return found.select_related("body").newest_first().first()


def take_turn(idempotency: Idempotency, asker: Actor) -> None:
    """Let one request with this key pass at a time; on SQLite, transactions do that anyway.

    Before anything is read that the answer depends on: another request may take its time.
    """
    if connection.vendor != "postgresql":
        return
    owner = asker.client.key_id if asker.client else asker.label
    number = int(digest(f"{owner}\n{idempotency.key}")[-15:], 16)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])
