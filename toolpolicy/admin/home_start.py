"""How to begin: a first policy to choose, the line to paste, and whether a call came yet."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from toolpolicy.admin.base import by, told
from toolpolicy.admin.curl import example
from toolpolicy.admin.layer_recipes import may_add
from toolpolicy.models import RuleUsage
from toolpolicy.services import starters, wording
from toolpolicy.services.starters import STARTERS


def beginning(request: HttpRequest) -> dict[str, Any]:
    """Return what of a first start is still to be done: two queries."""
    asked = RuleUsage.objects.filter(layer="", rule="").exists()
    wanted = starters.wanted()
    return {
        "curl": "" if asked else example(request),
        "own": not wanted,
        "starters": _previews() if wanted and may_add(request) else [],
    }


@require_POST
def start(request: HttpRequest, name: str) -> HttpResponse:
    """Make a first policy live, once."""
    if not may_add(request):
        raise PermissionDenied
    if name not in STARTERS:
        raise Http404
    title = STARTERS[name].title
    with told(request):
        if starters.add(**by(request), name=name).changed:
            said = gettext("“%(title)s” is live. Its layer can be read and changed.")
            messages.success(request, said % {"title": title})
        else:
            messages.info(request, gettext("“%(title)s” was there already.") % {"title": title})
    return HttpResponseRedirect(reverse("admin:index"))


def _previews() -> list[dict[str, Any]]:
    """Return each first policy with its rules in words, as they would be."""
    return [
        {"starter": starter, "rules": wording.as_rows({**starter.entry, "position": 0})[1]}
        for starter in STARTERS.values()
    ]
