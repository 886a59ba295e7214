"""The import page: a tool list is sent, what would change is shown, then it is imported."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext

from toolpolicy.admin.base import by, framed, told
from toolpolicy.admin.faults import sentence
from toolpolicy.admin.holding import drop, held, hold
from toolpolicy.admin.registry.import_forms import ImportForm
from toolpolicy.admin.uploads import AGAIN, ConfirmForm
from toolpolicy.engine import strictjson
from toolpolicy.engine.faults import Faults
from toolpolicy.models import ToolFamily
from toolpolicy.services import registry
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.registry import ImportReport, ToolFormat

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    from toolpolicy.models import Tool


def import_view(page: "ModelAdmin[Tool]") -> Callable[[HttpRequest], HttpResponse]:
    """Return the view of both steps."""

    def view(request: HttpRequest) -> HttpResponse:
        if not (page.has_add_permission(request) and page.has_change_permission(request)):
            raise PermissionDenied
        if AGAIN in request.POST:
            return _show(page, request, form=ImportForm.again(request))
        if "held" in request.POST:
            return _import_held(request)
        if request.method != "POST":
            return _show(page, request, form=ImportForm())
        form = ImportForm(request.POST, request.FILES)
        report = _preview(request, form)
        if report is None:
            return _show(page, request, form=form)
        confirm = ConfirmForm({"held": hold(request, form.upload())})
        added = [name for name, _ in report.added]
        return _show(page, request, form=confirm, report=report, added=added)

    return view


def _preview(request: HttpRequest, form: ImportForm) -> ImportReport | None:
    """Find out what an import would do. Every fault is put on its field."""
    if not form.is_valid():
        return None
    try:
        return _run(request, form.upload(), dry_run=True)
    except (Faults, InvalidInput) as refused:
        for fault in refused.faults:
            member = fault.pointer.removeprefix("/")
            place = {"family": "family", "prefix": "name_prefix"}.get(member)
            form.add_error(place or form.source, sentence(fault, fault.pointer if place else ""))
    return None


def _import_held(request: HttpRequest) -> HttpResponse:
    """Import what was looked at; it is judged anew, by the registry as it is now."""
    form = ConfirmForm(request.POST)
    key = form.cleaned_data["held"] if form.is_valid() else ""
    upload = held(request, key)
    address = reverse("admin:toolpolicy_tool_import")
    if upload is None:
        said = gettext("This list was imported already, or it was held too long.")
        messages.error(request, said)
        return HttpResponseRedirect(address)
    with told(request):
        address = _done(request, _run(request, upload, dry_run=False))
        drop(key)
    return HttpResponseRedirect(address)


def _run(request: HttpRequest, upload: Mapping[str, str], *, dry_run: bool) -> ImportReport:
    return registry.import_tools(
        **by(request),
        family=upload["family"],
        prefix=upload["name_prefix"] or None,
        document=strictjson.loads(upload["text"].encode(), registry.import_limits()),
        form=ToolFormat(upload["format"]),
        dry_run=dry_run,
    )


def _show(page: "ModelAdmin[Tool]", request: HttpRequest, **shown: Any) -> HttpResponse:
    return framed(page, request, "tool/import", title=gettext("Import tools"), **shown)


def _done(request: HttpRequest, report: ImportReport) -> str:
    """Say what was imported and return where it is seen."""
    said = gettext(
        "Imported %(family)s: %(added)s added, %(changed)s changed, %(unchanged)s unchanged, "
        "%(vanished)s no longer offered."
    )
    counts = {
        name: len(getattr(report, name)) for name in ("added", "changed", "unchanged", "vanished")
    }
    messages.success(request, said % {"family": report.family, **counts})
    family = ToolFamily.objects.get(name=report.family)
    address = reverse("admin:toolpolicy_tool_changelist")
    return f"{address}?family__id__exact={family.pk}"
