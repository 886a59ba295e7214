"""The question before a review: what is accepted is what the page showed, and nothing newer."""

from typing import TYPE_CHECKING, Final

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from toolpolicy.admin.base import framed
from toolpolicy.admin.registry.changes import shown_changes
from toolpolicy.models import Tool

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

# The digest of the declaration that somebody saw of a tool stands in the field of this name.
READ: Final = "read-{}"


def seen_declarations(request: HttpRequest, tools: QuerySet[Tool]) -> dict[int, str] | None:
    """Return which declaration of each tool the person saw; None unless all are said."""
    seen = {tool.pk: request.POST.get(READ.format(tool.pk), "") for tool in tools}
    return seen if all(seen.values()) else None


def ask(page: "ModelAdmin[Tool]", request: HttpRequest, tools: QuerySet[Tool]) -> HttpResponse:
    """Show what the tools declare otherwise than when they were reviewed, and ask."""
    found = tools.select_related("family", "current", "reviewed")
    shown = [(tool, READ.format(tool.pk), shown_changes(tool)) for tool in found]
    return framed(page, request, "tool/review", title=gettext("Mark as reviewed?"), tools=shown)
