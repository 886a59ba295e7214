"""Problem documents (RFC 9457): the one form in which this API says that it did not do something.

A problem names every fault of a request. `type` is the path of the page that explains its code
(docs/problems, docs/reasons); `errors` says where each fault stands: `pointer` into the body (RFC
6901), `parameter` of the query or `header`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from toolpolicy.engine.faults import MORE_FAULTS, MOST_NAMED, Fault, total
from toolpolicy.engine.words import Outcome, ReasonCode

CONTENT_TYPE: Final = "application/problem+json"
# What a request without a good key is told to send (RFC 6750).
CHALLENGE: Final = 'Bearer realm="toolpolicy"'
CHALLENGE_INVALID: Final = f'{CHALLENGE}, error="invalid_token"'


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of problem: its usual HTTP status and its title."""

    status: int
    title: str


KINDS: Final[Mapping[str, Kind]] = {
    "malformed": Kind(400, "The body cannot be read"),
    "bad_query": Kind(400, "A query parameter is wrong"),
    "bad_header": Kind(400, "A header is wrong"),
    "bad_request": Kind(400, "The request cannot be read"),
    "key_missing": Kind(401, "An API key is needed"),
    "key_invalid": Kind(401, "The API key is not valid"),
    "key_expired": Kind(401, "The API key has expired"),
    "key_revoked": Kind(401, "The API key was revoked"),
    "scope_missing": Kind(403, "The key lacks a scope"),
    "pinned_context": Kind(403, "The key is bound to another context"),
    "refused": Kind(403, "The key may not do this"),
    "not_found": Kind(404, "There is no such thing here"),
    "method_not_allowed": Kind(405, "The method is not offered here"),
    "not_acceptable": Kind(406, "The answer has no such form"),
    "stale": Kind(409, "It was changed meanwhile"),
    "conflict": Kind(409, "It cannot be done as things stand"),
    "too_large": Kind(413, "The body is too large"),
    "unsupported_media_type": Kind(415, "The body must be JSON"),
    "invalid": Kind(422, "The request cannot be carried out as it is"),
    "idempotency_key_reused": Kind(422, "The idempotency key belongs to another request"),
    "version_required": Kind(428, "Say which version you saw"),
    "internal": Kind(500, "The server failed"),
    "audit_unavailable": Kind(503, "No record can be written"),
    "no_policy": Kind(503, "No policy is live"),
    "stale_policy": Kind(503, "The policy that was asked for is not live"),
    "altered": Kind(503, "What is stored is not what was published"),
    "unavailable": Kind(503, "The database does not answer"),
}
FALLBACK: Final[Mapping[int, str]] = {
    400: "bad_request",
    403: "refused",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    409: "conflict",
    415: "unsupported_media_type",
    422: "invalid",
    503: "unavailable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What went wrong. `status` None is the usual one of its code.

    `place` says what the faults' pointers are: `pointer`, `parameter` or `header`.
    """

    code: str
    detail: str
    faults: tuple[Fault, ...] = ()
    place: str = "pointer"
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    deny: bool = False

    @property
    def http_status(self) -> int:
        """The status that the answer has."""
        return KINDS[self.code].status if self.status is None else self.status

    def document(self, request_id: str) -> dict[str, Any]:
        """Return the problem document."""
        out: dict[str, Any] = {
            "type": page_of(self.code),
            "title": KINDS[self.code].title,
            "status": self.http_status,
            "detail": self.detail,
            "code": self.code,
            "request_id": request_id,
            "errors": errors_of(self.faults, self.place),
        }
        more = total(self.faults) - len(out["errors"])
        if more:
            out["more_errors"] = more
        if self.deny:
            # Who reads nothing but this member must not take a failure for an answer.
            out["outcome"] = str(Outcome.DENY)
        return out


class ProblemError(Exception):
    """A problem that this face itself found; the exception handler answers with it."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def problem(code: str, detail: str, **members: Any) -> ProblemError:
    """Return the exception of a new problem, to be raised."""
    return ProblemError(Problem(code=code, detail=detail, **members))


def page_of(code: str) -> str:
    """Return the path of the page that explains a code."""
    folder = "reasons" if code in ReasonCode.__members__.values() else "problems"
    return f"/docs/{folder}/{code}/"


def errors_of(faults: Iterable[Fault], place: str = "pointer") -> list[dict[str, Any]]:
    """Return faults as the members of a problem's `errors`; at most a thousand are named."""
    named = islice(faults, MOST_NAMED)
    return [_error(fault, place) for fault in named if fault.code != MORE_FAULTS]


def _error(fault: Fault, place: str) -> dict[str, Any]:
    wire = fault.wire()
    return {place: wire.pop("pointer"), **wire}


def dumps(document: Any) -> bytes:
    """Return JSON as this API sends it: UTF-8, no white space, refusing what JSON cannot hold."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode()
