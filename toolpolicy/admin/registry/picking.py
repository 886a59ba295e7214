"""The tools that somebody ticked, kept in their session while they search and page.

The form says which tools it showed and which of them are ticked; what stands on other pages stays
as it was. So a tick is never lost, and none is added that nobody saw.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from django.contrib import messages
from django.contrib.admin import SimpleListFilter
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.keyset import MOST_DIGITS
from toolpolicy.models import Tool

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin
    from django.db.models import QuerySet

MOST: Final = 500
SHOWN, KEEP, FORGET = "shown", "keep", "forget"
_SLOT: Final = "toolpolicy_picked_tools"


def picked(request: HttpRequest) -> list[int]:
    """Return the ids of the tools that are ticked, on whatever page."""
    found: list[int] = request.session.get(_SLOT, [])
    return found


def drop(request: HttpRequest, tools: Iterable[Tool]) -> None:
    """Untick tools, because something was done to them."""
    done = {tool.pk for tool in tools}
    _store(request, [pk for pk in picked(request) if pk not in done])


def take(request: HttpRequest) -> HttpResponse | None:
    """Read the list's form: keep what is ticked, and let an action see all of it.

    Returns where to go where nothing else was asked.
    """
    shown = set(_ids(request.POST[SHOWN].split(",")))
    ticked = list(_ids(request.POST.getlist(ACTION_CHECKBOX_NAME)))
    chosen = [pk for pk in picked(request) if pk not in shown] + ticked
    if FORGET in request.POST:
        chosen = []
    if len(chosen) > MOST:
        said = gettext("At most %(most)s tools are selected at once; the first are kept.")
        messages.error(request, said % {"most": MOST})
        chosen = chosen[:MOST]
    _store(request, chosen)
    if FORGET in request.POST or KEEP in request.POST:
        return HttpResponseRedirect(request.get_full_path())
    sent = request.POST.copy()
    sent["select_across"] = "0"
    sent.setlist(ACTION_CHECKBOX_NAME, list(map(str, chosen)))
    # The action is about what is ticked, not about what the search shows of it.
    request.POST, request.GET = sent, QueryDict()  # type: ignore[assignment]
    return None


def _store(request: HttpRequest, chosen: list[int]) -> None:
    if chosen != picked(request):
        request.session[_SLOT] = chosen


def _ids(texts: Iterable[str]) -> Iterator[int]:
    return (
        int(one) for one in texts if one.isascii() and one.isdigit() and len(one) <= MOST_DIGITS
    )


class ByPick(SimpleListFilter):
    """The tools that are ticked."""

    title, parameter_name = _("selection"), "picked"

    def lookups(
        self, request: HttpRequest, model_admin: "ModelAdmin[Tool]"
    ) -> tuple[tuple[str, str], ...]:
        """Offer one."""
        return (("yes", gettext("selected")),)

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Tool]") -> "QuerySet[Tool]":
        """Keep what is ticked."""
        return queryset.filter(pk__in=picked(request)) if self.value() == "yes" else queryset
