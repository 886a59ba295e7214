"""API keys: `Authorization: Bearer <key>`, and the scope that each use needs (RFC 6750)."""

import re
from typing import Final

from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from toolpolicy.api.callers import caller_of, recognised
from toolpolicy.api.problems import CHALLENGE, CHALLENGE_INVALID, problem
from toolpolicy.models import ApiClient
from toolpolicy.services import clients
from toolpolicy.services.bounds import refuse_bound

_BEARER: Final = re.compile(r"bearer +([\x21-\x7e]{1,200}) *", re.IGNORECASE)


class KeyAuthentication(BaseAuthentication):
    """Recognises an API key: one query. A session of the admin is no key."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, ApiClient]:
        http = request._request  # noqa: SLF001  (it has no other name)
        client = clients.authenticate(key=key_of(http.headers.get("Authorization")))
        recognised(http, client)
        return AnonymousUser(), client

    def authenticate_header(self, request: Request) -> str:
        del request
        return CHALLENGE


class HoldsScope(BasePermission):
    """The key holds the scope that the method names, and its context does not bar it.

    A method that declares neither (`operations`) is closed.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        method = getattr(view, str(request.method).lower(), None)
        if str(request.method) in view.allowed_methods:
            client: ApiClient | None = request.auth  # type: ignore[assignment]  # no Token here
            require(client, getattr(method, "scope", None))
            if not getattr(method, "within_context", False):
                refuse_bound(caller_of(request._request).actor)  # noqa: SLF001
        return True  # what is not offered is refused as a method: no scope would help


def require(client: ApiClient | None, scope: str | None) -> None:
    """Raise a problem that names the missing scope, unless the key holds it."""
    if client is not None and scope is not None and scope in client.held:
        return
    named = f"the scope `{scope}`" if scope else "a scope that no key has"
    challenge = f'{CHALLENGE}, error="insufficient_scope", scope="{scope or ""}"'
    raise problem("scope_missing", f"this needs {named}", headers={"WWW-Authenticate": challenge})


def key_of(header: str | None) -> str:
    """Return the key in an `Authorization` header. Raise a problem (401) where there is none."""
    if not header:
        detail = "send an API key: `Authorization: Bearer <key>`"
        raise problem("key_missing", detail, headers={"WWW-Authenticate": CHALLENGE})
    match = _BEARER.fullmatch(header)
    if match is None:
        detail = "the header is not `Authorization: Bearer <key>`"
        raise problem("key_invalid", detail, headers={"WWW-Authenticate": CHALLENGE_INVALID})
    return match[1]
