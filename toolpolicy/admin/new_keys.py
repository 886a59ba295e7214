"""A key that was just made, on its way to the one page that shows it.

The server keeps only a digest, so the key itself travels with the browser: in a signed cookie that
no script reads, for that page alone, for a minute, gone once the page was shown.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.base import framed
from toolpolicy.admin.curl import example, python_example
from toolpolicy.engine.faults import printable
from toolpolicy.models import ApiClient

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

NAME: Final = "toolpolicy_apiclient_key"
_COOKIE: Final = "toolpolicy_key"
SHOWN_FOR: Final = timedelta(minutes=1)
_GONE: Final = _(
    "A key is shown once, when it is made. If nobody kept this one, revoke it and make another."
)


def handed_over(request: HttpRequest, client: ApiClient, key: str) -> HttpResponse:
    """Return the way to the page that shows the key of a client."""
    page = reverse(f"admin:{NAME}", args=(client.pk,))
    response = HttpResponseRedirect(page)
    response.set_signed_cookie(
        _COOKIE,
        key,
        salt=str(client.pk),
        max_age=SHOWN_FOR,
        path=page,
        secure=request.is_secure(),
        httponly=True,
        samesite="Strict",
    )
    return response


def shown_once(page: "ModelAdmin[ApiClient]") -> Callable[..., HttpResponse]:
    """Return the view that shows a new key; called up again, it only leads to its client."""

    def view(request: HttpRequest, pk: int) -> HttpResponse:
        client = get_object_or_404(ApiClient, pk=pk)
        if not page.has_add_permission(request):
            raise PermissionDenied
        key = request.get_signed_cookie(_COOKIE, None, salt=str(pk), max_age=SHOWN_FOR)
        if key is None:
            messages.warning(request, _GONE)
            return HttpResponseRedirect(reverse("admin:toolpolicy_apiclient_change", args=(pk,)))
        shown = {
            "title": gettext("The key of %(name)s") % {"name": printable(client.name)},
            "client": client,
            "key": key,
            "curl": example(request, key),
            "python": python_example(request, key),
        }
        response = framed(page, request, "apiclient/key", **shown)
        response.delete_cookie(_COOKIE, path=request.path, samesite="Strict")
        return response

    return view
