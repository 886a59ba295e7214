"""What somebody typed whose session ended meanwhile: nothing is saved, and they are told so."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext

from toolpolicy.admin.words import filled


def telling(view: Callable[..., Any]) -> Callable[..., Any]:
    """Return a view of the admin that says on the login page what became of a sent form."""

    @wraps(view)
    def told(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "POST" and not request.user.is_authenticated and _typed(request):
            messages.warning(request, _lost())
        response: HttpResponseBase = view(request, *args, **kwargs)
        return response

    return told


def _typed(request: HttpRequest) -> bool:
    """Tell whether a person sent a form; not where script asked, and not to sign out."""
    return "_part" not in request.POST and request.path != reverse("admin:logout")


def _lost() -> str:
    said = gettext(
        "Nothing was saved: your session had ended. What you typed is not lost. Sign in %(there)s, "
        "then come back here, go back to the form with your browser’s Back, and send it again."
    )
    link = format_html(
        '<a href="{}" target="_blank">{}</a>', reverse("admin:login"), gettext("in a new tab")
    )
    return filled(said, there=link)
