"""Who is calling, as far as one request has found out."""

from dataclasses import dataclass

from django.http import HttpRequest

from toolpolicy.models import ApiClient
from toolpolicy.services.actors import Actor, Origin
from toolpolicy.services.origins import origin_of

_SLOT = "api_client"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The key that asks, if one was recognised, and what it asks for."""

    client: ApiClient | None
    origin: Origin
    method: str = ""
    path: str = ""
    conditional: bool = False
    """Whether the request was to be carried out only for the version that it named (If-Match)."""

    @property
    def actor(self) -> Actor:
        """The actor of what the caller does. Raise RuntimeError when nobody was recognised."""
        if self.client is None:
            msg = "a request without a key has no actor"
            raise RuntimeError(msg)
        return Actor.for_client(self.client)


def recognised(request: HttpRequest, client: ApiClient) -> None:
    """Note the key that a request was authenticated with."""
    vars(request)[_SLOT] = client


def caller_of(request: HttpRequest) -> Caller:
    """Return who is calling. Never queries."""
    return Caller(
        client=vars(request).get(_SLOT),
        origin=origin_of(request),
        method=request.method or "",
        path=request.path,
        conditional="If-Match" in request.headers,
    )
