"""What every view of the API has in common."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.http import HttpRequest
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from toolpolicy.api.auth import HoldsScope, KeyAuthentication
from toolpolicy.api.callers import Caller, caller_of
from toolpolicy.api.parsers import StrictJSONParser
from toolpolicy.api.problems import problem
from toolpolicy.api.reading import NORMAL, Cap, read_body
from toolpolicy.engine.faults import Fault, did_you_mean, shown
from toolpolicy.services.actors import Actor, Origin

METHODS = ("get", "post", "put", "patch", "delete", "head")


class ApiRequest(Request):
    """A request whose body is always read: the framework takes one without a length for empty."""

    def _load_stream(self) -> None:
        self._stream = self._request  # type: ignore[assignment]  # it reads like one


class ApiView(APIView):
    """One address of the API. Each method is an `Operation`; one that is not is closed."""

    parameters: ClassVar[frozenset[str]] = frozenset()
    cap: ClassVar[Cap] = NORMAL
    authentication_classes = (KeyAuthentication,)
    permission_classes = (HoldsScope,)
    parser_classes = (StrictJSONParser,)
    http_method_names: Sequence[str] = METHODS

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        del args
        context = self.get_parser_context(request) | {"kwargs": kwargs}
        return ApiRequest(
            request,
            parsers=self.get_parsers(),
            authenticators=self.get_authenticators(),
            negotiator=self.get_content_negotiator(),
            parser_context=context,
        )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find out who asks before anything else, so that every refusal names its key."""
        self.perform_authentication(request)
        super().initial(request, *args, **kwargs)
        refuse_unknown_parameters(request, self.known_parameters())

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Response:
        """Forbid caches what the view did not say may be kept."""
        response.headers.setdefault("Cache-Control", "no-store")
        return super().finalize_response(request, response, *args, **kwargs)

    def known_parameters(self) -> frozenset[str]:
        """Return the query parameters that are read here."""
        return self.parameters

    @property
    def caller(self) -> Caller:
        """Who is calling."""
        return caller_of(self.request._request)  # noqa: SLF001  (it has no other name)

    @property
    def actor(self) -> Actor:
        """The key that asks, as services know it."""
        return self.caller.actor

    @property
    def origin(self) -> Origin:
        """Where the request came from, as services know it."""
        return self.caller.origin

    def body(self) -> bytes:
        """Return the bytes of the body, for what reads them itself."""
        return read_body(self.request._request, self.cap)  # noqa: SLF001

    def members(self) -> dict[str, Any]:
        """Return the body as an object. Raise a problem when it is something else."""
        value = self.request.data
        if isinstance(value, dict):
            return value
        fault = Fault("", "expected an object")
        raise problem("invalid", "the body must be an object", faults=(fault,))


class PublicView(APIView):
    """An address that needs no key."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    http_method_names = METHODS


class UnknownAddress(ApiView):
    """What answers at every address that is none: it needs a key like all others."""

    def initial(self, request: Request, *_args: Any, **_kwargs: Any) -> None:
        self.perform_authentication(request)
        hint = "" if request.path.endswith("/") else "; addresses of this API end in a slash"
        raise problem("not_found", f"there is nothing at this address{hint}")


def refuse_unknown_parameters(request: Request, known: frozenset[str]) -> None:
    """Raise a problem that names every query parameter that nothing would read.

    A filter with a slip in its name would otherwise be no filter at all; of one that stands twice,
    one would be none.
    """
    sent = request.query_params
    faults = tuple(
        Fault(name, _unknown(name, known), "unknown_parameter")
        if name not in known
        else Fault(name, f"{shown(name)} stands {len(sent.getlist(name))} times", "duplicate")
        for name in sent
        if name not in known or len(sent.getlist(name)) > 1
    )
    if faults:
        raise problem("bad_query", "see `errors`", faults=faults, place="parameter")


def _unknown(name: str, known: frozenset[str]) -> str:
    hint = did_you_mean(name, known) if known else "; none is read here"
    return f"unknown parameter {shown(name)}{hint}"
