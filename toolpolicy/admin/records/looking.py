"""Looking at what a caller sent: a POST, for each look leaves a record of its own."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from toolpolicy.admin.base import by
from toolpolicy.admin.records.detail import RecordView
from toolpolicy.admin.records.reading import read
from toolpolicy.admin.simulator.pages import SIMULATE, opened
from toolpolicy.services import payloads

if TYPE_CHECKING:
    from toolpolicy.admin.records.pages import RecordPage

View = Callable[..., HttpResponse]
ON_PAGE: Final = "shown on the page of the record"
IN_SIMULATOR: Final = "opened in the simulator"


def payload_view(page: "RecordPage") -> View:
    """Return the view of a record with what was sent."""

    def view(request: HttpRequest, pk: int) -> HttpResponse:
        record = read(request, page, pk).record
        if request.method != "POST":
            return HttpResponseNotAllowed(("POST",))
        payload = payloads.look(**by(request), record=record, why=ON_PAGE)
        return page.shown(request, RecordView(record, payload))

    return view


def simulator_view(page: "RecordPage") -> View:
    """Return the view that opens a recorded call in the simulator."""

    def view(request: HttpRequest, pk: int) -> HttpResponse:
        record = read(request, page, pk, SIMULATE, judged=True).record
        if request.method != "POST":
            return HttpResponseNotAllowed(("POST",))
        body = payloads.look(**by(request), record=record, why=IN_SIMULATOR).body
        return opened(page.admin_site, request, {**body["asked"], "context": body["context"]})

    return view
