"""What Django itself refuses, before or beside the views: problems under /api/, pages elsewhere."""

from collections.abc import Callable
from typing import Any, Final

from django.http import HttpRequest, HttpResponseBase
from django.views import defaults

from toolpolicy.api.callers import caller_of
from toolpolicy.api.failures import failed

API: Final = "/api/"
Handler = Callable[..., HttpResponseBase]


def _answering(page: Handler) -> Handler:
    """Return a handler that answers with a problem under /api/, else as Django's `page` does."""

    def answer(request: HttpRequest, exception: Exception | None = None) -> HttpResponseBase:
        if request.path.startswith(API):
            return failed(exception or RuntimeError("a request failed"), caller_of(request)).http()
        arguments: dict[str, Any] = {} if exception is None else {"exception": exception}
        return page(request, **arguments)

    return answer


bad_request: Final = _answering(defaults.bad_request)
forbidden: Final = _answering(defaults.permission_denied)
not_found: Final = _answering(defaults.page_not_found)
server_error: Final = _answering(defaults.server_error)
