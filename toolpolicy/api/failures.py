"""From whatever went wrong to the one problem document that says so, and to its record.

Both ways into the API, the views and `toolpolicy.api.core`, answer a failure through `failed()`;
nothing else in this package catches errors of others.
"""

import logging
from dataclasses import replace
from functools import singledispatch
from typing import Any, Final

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from django.http.request import UnreadablePostError
from rest_framework import exceptions as drf

from toolpolicy import database_errors
from toolpolicy.api.callers import Caller, caller_of
from toolpolicy.api.problems import CHALLENGE_INVALID, FALLBACK, KINDS, Problem, ProblemError
from toolpolicy.api.replies import Reply, problem_reply
from toolpolicy.audit.writer import KeyRevoked
from toolpolicy.engine.faults import Fault, Faults, shown, total
from toolpolicy.services import refusals
from toolpolicy.services.errors import (
    Altered,
    InvalidInput,
    KeyRefused,
    Lost,
    NotFound,
    Refused,
    Stale,
    Unavailable,
    key_revoked,
)

logger = logging.getLogger(__name__)
# What a service refuses as things stand, not because of who asks.
CONFLICTS: Final = frozenset({"imported_family", "nothing_sealed"})
REUSED: Final = "idempotency_key_reused"
INTERNAL: Final = Problem(
    code="internal",
    detail="something went wrong in the server; its log names the cause under this request id",
    deny=True,
)
PRECONDITION_FAILED: Final = 412
SERVER_ERROR: Final = 500
UNRECORDED: Final = Problem(
    code="audit_unavailable",
    detail="no record of this request can be written, so that it is not answered",
    deny=True,
)


def handle(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """Answer an error of a view; the exception handler of the REST framework."""
    asked = caller_of(context["request"]._request)  # noqa: SLF001  (it has no other name)
    return failed(error, asked).http()


def failed(error: Exception, caller: Caller, *, digest: str = "") -> Reply:
    """Return the answer to a request that failed. It is recorded before it is told.

    Where the server is at fault, its record may fail too; the answer stays what it is. `digest`
    names the body that was refused.
    """
    problem = problem_of(error)
    if problem.code == "stale" and caller.conditional:
        problem = replace(problem, status=PRECONDITION_FAILED)
    said = (caller.origin.request_id, caller.method, shown(caller.path))
    try:
        record_refusal(problem, caller, digest)
    except Exception as fault:  # noqa: BLE001  (logged below, and nobody is told of a refusal)
        if problem.http_status < SERVER_ERROR:
            problem, error = UNRECORDED, fault
        else:
            database_errors.log(logger, fault, "%s: %s %s failed without a record", *said)
    if problem.http_status >= SERVER_ERROR:
        database_errors.log(logger, error, "%s: %s %s failed", *said)
    return problem_reply(problem, caller.origin.request_id)


def record_refusal(problem: Problem, caller: Caller, digest: str) -> None:
    """Record what was refused; whatever keeps it from being written is raised."""
    refusal = refusals.Refusal(
        status=problem.http_status,
        code=problem.code,
        method=caller.method,
        path=caller.path,
        faults=problem.faults,
        request_digest=digest,
    )
    refusals.record(client=caller.client, refusal=refusal, origin=caller.origin)


# --- what each kind of error is told as ----------------------------------------------------------


@singledispatch
def problem_of(error: Exception) -> Problem:
    """Return the problem that an error is told as. What nobody foresaw says nothing of itself."""
    del error
    return INTERNAL


@problem_of.register
def _(error: ProblemError) -> Problem:
    return error.problem


@problem_of.register(Faults)
@problem_of.register(InvalidInput)
def _(error: Faults | InvalidInput) -> Problem:
    if error.faults[0].code == REUSED:
        return Problem(code=REUSED, detail=error.faults[0].message)
    count = total(error.faults)
    detail = "one fault, see `errors`" if count == 1 else f"{count} faults, see `errors`"
    return Problem(code="invalid", detail=detail, faults=error.faults)


@problem_of.register
def _(error: NotFound) -> Problem:
    return Problem(code="not_found", detail=str(error.faults[0].message))


@problem_of.register(Altered)
@problem_of.register(Lost)
def _(error: Altered | Lost) -> Problem:
    return Problem(code="altered", detail=error.faults[0].message, deny=True)


@problem_of.register
def _(error: Stale) -> Problem:
    return Problem(code="stale", detail=error.faults[0].message, faults=error.faults)


@problem_of.register
def _(error: KeyRefused) -> Problem:
    headers = {"WWW-Authenticate": CHALLENGE_INVALID}
    return Problem(code=error.code, detail=error.faults[0].message, headers=headers)


@problem_of.register
def _(error: KeyRevoked) -> Problem:
    del error
    return problem_of(key_revoked())


@problem_of.register
def _(error: Refused) -> Problem:
    code = "conflict" if error.code in CONFLICTS else "refused"
    code = error.code if error.code in KINDS else code
    return Problem(code=code, detail=error.faults[0].message, faults=error.faults)


@problem_of.register
def _(error: Unavailable) -> Problem:
    return Problem(code=error.code, detail=error.faults[0].message, deny=True)


@problem_of.register(OperationalError)
@problem_of.register(InterfaceError)
def _(error: OperationalError | InterfaceError) -> Problem:
    del error
    detail = "the database does not answer; try again later"
    return Problem(code="unavailable", detail=detail, headers={"Retry-After": "1"}, deny=True)


@problem_of.register(UnreadablePostError)
@problem_of.register(SuspiciousOperation)
def _(error: UnreadablePostError | SuspiciousOperation) -> Problem:
    del error
    return Problem(code="bad_request", detail="the request broke off or cannot be read")


@problem_of.register(Http404)
@problem_of.register(drf.NotFound)
def _(error: Http404 | drf.NotFound) -> Problem:
    del error
    return Problem(code="not_found", detail="there is nothing at this address")


@problem_of.register(DjangoPermissionDenied)
def _(error: DjangoPermissionDenied) -> Problem:
    del error
    return Problem(code="refused", detail="the key may not do this")


@problem_of.register
def _(error: drf.MethodNotAllowed) -> Problem:
    return Problem(code="method_not_allowed", detail=_detail(error))


@problem_of.register
def _(error: drf.APIException) -> Problem:
    if error.status_code not in FALLBACK:
        return INTERNAL
    return Problem(code=FALLBACK[error.status_code], detail=_detail(error))


@problem_of.register
def _(error: drf.ValidationError) -> Problem:
    """Query parameters that a filter refused; bodies are never judged by the framework."""
    found: Any = error.detail
    faults = tuple(
        Fault(name, message[:1].lower() + message[1:].rstrip("."), "bad_query")
        for name, messages in found.items()
        for message in map(str, messages)
    )
    return Problem(
        code="bad_query", detail="see `errors`", faults=faults, place="parameter", status=400
    )


def _detail(error: drf.APIException) -> str:
    text = str(error.detail).replace('"', "`")
    return text[:1].lower() + text[1:].rstrip(".")
