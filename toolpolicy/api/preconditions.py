"""Lost updates and unchanged answers: entity tags, `If-Match`, `If-None-Match` (RFC 9110 §13)."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.http import HttpRequest
from django.utils.http import parse_etags, quote_etag
from rest_framework.response import Response

from toolpolicy.api.problems import problem
from toolpolicy.engine.faults import Fault, shown
from toolpolicy.engine.reading import kind_of
from toolpolicy.models import PolicyVersion

IF_MATCH: Final = "If-Match"
_MOST_DIGITS: Final = 9


def tag_of(version: int) -> str:
    """Return the entity tag of something at this version."""
    return quote_etag(str(version))


def seen_version(request: HttpRequest, values: Mapping[str, Any]) -> int:
    """Return the version that the caller saw: from `If-Match`, else from the body's `version`.

    Raise a problem where neither says it, or one says something else than a version.
    """
    header = request.headers.get(IF_MATCH)
    if header is not None:
        return _tagged(header)
    if "version" not in values:
        detail = "send the version that you saw, as `If-Match` or as the member `version`"
        raise problem("version_required", detail)
    value = values["version"]
    if not isinstance(value, int) or isinstance(value, bool):
        fault = Fault("/version", f"expected an integer, found {kind_of(value)}")
        raise problem("invalid", "one fault, see `errors`", faults=(fault,))
    return value


def named_version(request: HttpRequest, values: Mapping[str, Any]) -> int | None:
    """Return the version that the caller saw, or None where none is named. Raise as above."""
    named = IF_MATCH in request.headers or "version" in values
    return seen_version(request, values) if named else None


def _tagged(header: str) -> int:
    tags = [tag.strip('"') for tag in parse_etags(header)]
    if len(tags) == 1 and tags[0].isascii() and tags[0].isdigit() and len(tags[0]) <= _MOST_DIGITS:
        return int(tags[0])
    message = f'{shown(header)} is not one version as `ETag` gave it, for example `"3"`'
    fault = Fault(IF_MATCH, message, "bad_header")
    raise problem("bad_header", "one fault, see `errors`", faults=(fault,), place="header")


def unless_known(
    request: HttpRequest, version: PolicyVersion, answer: Callable[[], Any]
) -> Response:
    """Answer with a version of the policy; with nothing where the caller has it already."""
    headers = {"ETag": tag_of(version.number), "Cache-Control": "private, no-cache"}
    if _unchanged(request, headers["ETag"]):
        return Response(status=304, headers=headers)
    return Response(answer(), headers=headers)


def _unchanged(request: HttpRequest, tag: str) -> bool:
    """Tell whether the caller has what this tag names already."""
    tags = parse_etags(request.headers.get("If-None-Match", ""))
    known = [one.removeprefix("W/") for one in tags]
    return tag in known or known == ["*"]
