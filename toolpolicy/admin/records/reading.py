"""A recorded call, for the pages that do something with what was sent."""

from typing import TYPE_CHECKING, Final

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from toolpolicy.admin.records.detail import RecordView
from toolpolicy.models import Record

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

READS_PAYLOADS: Final = "toolpolicy.view_recordbody"


def read(
    request: HttpRequest, page: "ModelAdmin[Record]", pk: int, *needed: str, judged: bool = False
) -> RecordView:
    """Return a record with its text, a recorded call only if `judged`; refuse who lacks a right."""
    rights = (READS_PAYLOADS, *needed)
    if not page.has_view_permission(request) or not request.user.has_perms(rights):
        raise PermissionDenied
    record = get_object_or_404(Record.objects.select_related("client", "body", "leaf"), pk=pk)
    view = RecordView(record)
    if view.text is None or (judged and not view.judged):
        raise Http404
    return view
