"""What every response carries."""

import ipaddress
from collections.abc import Callable
from contextlib import suppress

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponsePermanentRedirect
from django.http.request import split_domain_port
from django.middleware.common import CommonMiddleware
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

from toolpolicy.conf import conf
from toolpolicy.services.actors import Origin
from toolpolicy.services.origins import client_address, request_id_of

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; "
    "object-src 'none'"
)


ADMIN = "/admin/"
PROBES = frozenset({"/healthz", "/readyz", "/api/v1/healthz", "/api/v1/readyz"})
METRICS = "/metrics"


class AdminLanguage(LocaleMiddleware):
    """Let the admin speak the language of who looks at it; what machines read stays English."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(ADMIN):
            super().process_request(request)
        else:  # not what the thread's last request left behind
            translation.activate(settings.LANGUAGE_CODE)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not request.path_info.startswith(ADMIN):
            return response
        return super().process_response(request, response)


class KnownHosts(CommonMiddleware):
    """Refuse whoever calls the server by a name that is not its own, except for its probes.

    Balancers and clusters ask by address, or without a name. What collects figures does too; but
    not by any name: a web page could give its own name this server's address, and read them.
    """

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        path = request.path_info
        if path in PROBES or (path == METRICS and _is_asked_by_address(request)):
            return None
        return super().process_request(request)


def _is_asked_by_address(request: HttpRequest) -> bool:
    host, _ = split_domain_port(request.META.get("HTTP_HOST", ""))
    with suppress(ValueError):
        return bool(ipaddress.ip_address(host.strip("[]")))
    return False


class ContentSecurityPolicy:
    """Forbid the browser everything that does not come from this server."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response


class RequestOrigin:
    """Note who asks, for the records, as `request.origin`; the answer repeats the request's id."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        meta = request.META
        origin = Origin(
            request_id=request_id_of(meta.get("HTTP_X_REQUEST_ID")),
            address=client_address(
                meta.get("REMOTE_ADDR", ""),
                meta.get("HTTP_X_FORWARDED_FOR", ""),
                conf().trusted_proxies,
            ),
        )
        vars(request)["origin"] = origin
        response = self._get_response(request)
        response.headers["X-Request-ID"] = origin.request_id
        return response
