"""What callers sent, as records keep it: read back for those who may, each look with a record.

The payload of a record are the arguments, and whatever is masked in its text. The text without it
is for everybody who may view the record.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from toolpolicy.audit import writer
from toolpolicy.audit.commitments import MASKED, opens
from toolpolicy.engine.faults import Fault
from toolpolicy.engine.masker import ARGUMENTS, ASKED
from toolpolicy.engine.met_values import HIDDEN, without_values
from toolpolicy.engine.pointers import Found, resolve, tokens
from toolpolicy.models import MaskedValue, Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.errors import ServiceError

ERASED: Final = "was erased"
DIGEST_ONLY: Final = "was never kept, only a digest of it"
OTHER: Final = "is not the value that was recorded"
Wire = dict[str, Any]


class ValuesMissing(ServiceError):
    """Values of a record that are needed are not there; each fault names one and says why."""

    def __init__(self, missing: Mapping[str, str]) -> None:
        faults = [
            Fault(pointer, f"the value at {pointer} {why}", "value_missing")
            for pointer, why in missing.items()
        ]
        super().__init__("values_missing", faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A record's body with its masked values where they belong; `missing` says which are not.

    `salts` has a pointer for each commitment, and its salt unless that was erased; `missing` says
    by pointer why a value is not there, so that the commitment still stands in `body`.
    """

    body: Wire
    salts: Mapping[str, str | None]
    missing: Mapping[str, str]

    def wire(self) -> list[Wire]:
        """Return each masked place: its pointer, its salt, and why its value is missing or null."""
        return [
            {"pointer": pointer, "salt": salt, "missing": self.missing.get(pointer)}
            for pointer, salt in self.salts.items()
        ]

    def whole(self) -> Wire:
        """Return the body. Raises `ValuesMissing` unless every value is there."""
        if self.missing:
            raise ValuesMissing(self.missing)
        return self.body


def payload_of(record: Record, like: Mapping[str, Any] | None = None) -> Payload:
    """Return what a record keeps of its payload, for use and not to be shown. One query at most.

    `like` is another body: a value of it counts where this record keeps only the digest of it.
    """
    body = json.loads(record.body.text)
    pointers = [one["pointer"] for one in body.get(MASKED, ())]
    rows = {row.pointer: row for row in record.masked.all()} if pointers else {}
    missing: dict[str, str] = {}
    for pointer in pointers:
        value, why = _value(body, pointer, rows.get(pointer), like)
        if why:
            missing[pointer] = why
        else:
            body = put(body, tokens(pointer), value)
    salts = {pointer: rows[pointer].salt if pointer in rows else None for pointer in pointers}
    return Payload(body=body, salts=salts, missing=missing)


def _value(
    body: Wire, pointer: str, row: MaskedValue | None, like: Mapping[str, Any] | None
) -> tuple[Any, str]:
    """Return the value that was masked at a pointer, or why it is not there."""
    if row is None:
        return None, ERASED
    said = resolve(pointer, body)
    if row.value:
        value = json.loads(row.value)
    else:
        other = resolve(pointer, like)
        if not isinstance(other, Found):
            return None, DIGEST_ONLY
        value = other.value
    if isinstance(said, Found) and opens(said.value, salt=row.salt, value=value):
        return value, ""
    return None, OTHER if row.value else DIGEST_ONLY


def put(document: Any, path: Sequence[str], value: Any) -> Any:
    """Return a document with another value at a path; the one that is given stays as it is."""
    if not path:
        return value
    if isinstance(document, list):
        number = int(path[0])
        return [*document[:number], put(document[number], path[1:], value), *document[number + 1 :]]
    return {**document, path[0]: put(document[path[0]], path[1:], value)}


def without_payload(body: Mapping[str, Any]) -> Wire:
    """Return a record's body for whoever may view the record: no arguments, no value of one."""
    out = dict(body)
    asked, answer = body.get(ASKED), body.get("answer")
    if isinstance(asked, dict):
        out[ASKED] = _without_arguments(asked)
        if "targets" in asked:
            out[ASKED]["targets"] = [_without_arguments(one) for one in asked["targets"]]
    if isinstance(answer, dict) and "explanation" in answer:
        # One that was recorded before values were left out of it.
        out["answer"] = {**answer, "explanation": without_values(answer["explanation"])}
    return out


def _without_arguments(asked: Wire) -> Wire:
    return {**asked, ARGUMENTS: HIDDEN} if ARGUMENTS in asked else dict(asked)


# --- looking -------------------------------------------------------------------------------------


@transaction.atomic
def look(*, actor: Actor, record: Record, why: str, origin: Origin = NOWHERE) -> Payload:
    """Return the payload of a record to be shown to somebody, and record that it was.

    `why` says on what occasion. Whether the actor may is for the caller to ask.
    """
    payload = payload_of(record)
    body = {
        "action": "payload_read",
        "summary": f"read what was sent in record {record.uid}",
        "actor": actor.wire(),
        "origin": origin.wire(),
        "object": {"record": str(record.uid)},
        "pointers": [*_arguments_in(payload.body), *payload.salts],
        "missing": [{"pointer": pointer, "why": why} for pointer, why in payload.missing.items()],
        "why": why,
    }
    index = writer.RecordIndex(
        family=record.family,
        tool=record.tool,
        session=record.session,
        actor_label=actor.label,
        object_label=str(record.uid),
        request_id=origin.request_id,
    )
    writer.write(kind=RecordKind.PAYLOAD_READ, body=body, index=index, client=actor.client)
    return payload


def _arguments_in(body: Wire) -> list[str]:
    asked = body.get(ASKED, {})
    found = [f"/{ASKED}/{ARGUMENTS}"] if ARGUMENTS in asked else []
    targets = enumerate(asked.get("targets", ()))
    return found + [
        f"/{ASKED}/targets/{number}/{ARGUMENTS}" for number, one in targets if ARGUMENTS in one
    ]
