"""The download of a family's tools, in the forms in which others list tools."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from toolpolicy.admin.downloads import download
from toolpolicy.models import ToolFamily
from toolpolicy.services import registry
from toolpolicy.services.documents import sources
from toolpolicy.services.registry import ToolFormat

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin


def export_view(page: "ModelAdmin[ToolFamily]") -> Callable[..., HttpResponse]:
    """Return the view that sends the list as a file; `format` in the address says which form."""

    def view(request: HttpRequest, pk: int) -> HttpResponse:
        family = get_object_or_404(ToolFamily, pk=pk)
        if not page.has_view_permission(request, family):
            raise PermissionDenied
        asked = request.GET.get("format", "")
        if asked not in ToolFormat.__members__.values():
            raise Http404
        document = registry.export_tools(family=family.name, form=ToolFormat(asked))
        return download(sources.write(document), f"{family.name}.{asked}.json", "application/json")

    return view
