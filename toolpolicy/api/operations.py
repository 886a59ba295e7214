"""One declaration for each method of each address: its scope, and how OpenAPI describes it."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.serializers import ListSerializer

from toolpolicy.api.problems import CONTENT_TYPE
from toolpolicy.api.reading import JSON
from toolpolicy.api.shapes.problems import ProblemShape
from toolpolicy.models.choices import KeyScope

Method = TypeVar("Method", bound=Callable[..., Any])

ALWAYS: Final = (400, 401, 403, 406, 500, 503)
WITH_BODY: Final = (413, 415, 422)
WITH_VERSION: Final = (404, 409, 412, 422, 428)
SAID_WELL: Final = {200: "The answer.", 201: "It was made."}
SAID: Final = {
    400: "The request cannot be read.",
    401: "No valid API key.",
    403: "The key may not do this.",
    404: "There is no such thing.",
    406: "The answer has no such form.",
    409: "It was changed meanwhile, or cannot be done as things stand.",
    412: "It is not at the version that `If-Match` names.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "Something that was sent is wrong; `errors` names every fault.",
    428: "The version that was seen is missing.",
    500: "The server failed. This is never an allow.",
    503: "No answer can be given now. This is never an allow.",
}
IF_MATCH: Final = OpenApiParameter(
    name="If-Match",
    type=str,
    location=OpenApiParameter.HEADER,
    description="The version that was seen, as `ETag` gave it.",
)

IF_NONE_MATCH: Final = OpenApiParameter(
    name="If-None-Match",
    type=str,
    location=OpenApiParameter.HEADER,
    description="The `ETag` of the policy that the caller has.",
)
UNCHANGED: Final = {304: "It is still what `If-None-Match` names."}


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of one address.

    `scope` is what a key needs. `within_context` says that a key bound to a context reaches nothing
    here that is about others; all else is closed to such a key. `media` are the media types of its
    answer; `problems` come on top of ALWAYS.
    """

    name: str
    tag: str
    scope: KeyScope
    within_context: bool = False
    request: Any = None
    answer: Any = None
    status: int = 200
    media: Sequence[str] = (JSON,)
    problems: Sequence[int] = ()
    parameters: Sequence[Any] = ()
    examples: Sequence[OpenApiExample] = ()
    other: Mapping[int, str] = field(default_factory=dict)

    def __call__(self, method: Method) -> Method:
        """Describe a method and note the scope that it needs."""
        summary, _, rest = inspect.getdoc(method).partition("\n")  # type: ignore[union-attr]
        decorated: Method = extend_schema(
            operation_id=self.name,
            summary=summary.rstrip("."),
            description=f"{rest.strip()}\n\n{self._needed()}".strip(),
            tags=[self.tag],
            request=self.request,
            responses=self._responses(),
            parameters=list(self.parameters),
            examples=list(self.examples),
        )(method)
        vars(decorated)["scope"] = self.scope
        vars(decorated)["within_context"] = self.within_context
        return decorated

    def _needed(self) -> str:
        bound = "" if self.within_context else ", and a key that is not bound to a context"
        return f"Needs the scope `{self.scope}`{bound}."

    def _responses(self) -> dict[Any, Any]:
        with_body = WITH_BODY if self.request is not None else ()
        statuses = sorted({*ALWAYS, *with_body, *self.problems})
        problems = {
            (status, CONTENT_TYPE): OpenApiResponse(ProblemShape, description=SAID[status])
            for status in statuses
        }
        others = {status: OpenApiResponse(description=said) for status, said in self.other.items()}
        # drf-spectacular takes the first key in text order for the answer, and sees a list, with
        # its pages and filters, only where the answer stands there bare.
        answer = self.answer
        if not isinstance(answer, ListSerializer):
            answer = OpenApiResponse(answer, description=SAID_WELL[self.status])
        answers = {(self.status, media): answer for media in self.media}
        return {**answers, **others, **problems}


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How OpenAPI names the API key."""

    target_class = "toolpolicy.api.auth.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        del auto_schema
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key, `tp_<env>_<id>_<secret>_<checksum>`. It is shown once.",
        }
