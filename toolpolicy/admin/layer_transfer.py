"""The policy in and out: a file is sent, what would change is shown, then it is imported."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.base import by, framed, told
from toolpolicy.admin.downloads import download
from toolpolicy.admin.faults import sentence
from toolpolicy.admin.holding import drop, held, hold
from toolpolicy.admin.layer_transfer_forms import PolicyForm
from toolpolicy.admin.policy_changes import Report, count_of
from toolpolicy.admin.uploads import AGAIN, ConfirmForm
from toolpolicy.engine.faults import Faults
from toolpolicy.engine.words import Scope
from toolpolicy.services import policies
from toolpolicy.services.documents import sources
from toolpolicy.services.documents.sources import Syntax
from toolpolicy.services.errors import InvalidInput, NotFound, ServiceError, Stale
from toolpolicy.services.policies import Imported, ImportMode, ImportOptions
from toolpolicy.services.policy_files import Belonging, import_text

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    from toolpolicy.models import Layer

View = Callable[[HttpRequest], HttpResponse]
NEEDED: Final = tuple(
    f"toolpolicy.{act}_{model}"
    for model in ("layer", "rule")
    for act in ("add", "change", "delete")
)
MEDIA: Final = {Syntax.JSON: "application/json", Syntax.YAML: "application/yaml"}
CHANGED_MEANWHILE: Final = _(
    "Somebody changed the policy meanwhile. Nothing was imported; this is what would change now."
)


def may_import(request: HttpRequest) -> bool:
    """Tell whether the person may do to layers and rules all that an import can."""
    return request.user.has_perms(NEEDED)


def export_view(page: "ModelAdmin[Layer]") -> View:
    """Return the view that sends the live policy as a file; `format` says how it is written."""

    def view(request: HttpRequest) -> HttpResponse:
        if not page.has_view_permission(request):
            raise PermissionDenied
        asked = request.GET.get("format", "")
        if asked not in MEDIA:
            raise Http404
        try:
            version = policies.version_or_live()
        except NotFound as error:
            raise Http404 from error
        text = sources.write(policies.export(number=version.number), as_yaml=asked == Syntax.YAML)
        return download(text, f"policy-{version.number}.{asked}", MEDIA[Syntax(asked)])

    return view


def import_view(page: "ModelAdmin[Layer]") -> View:
    """Return the view of both steps."""

    def view(request: HttpRequest) -> HttpResponse:
        if not may_import(request):
            raise PermissionDenied
        if AGAIN in request.POST:
            return _show(page, request, form=PolicyForm.again(request))
        if "held" in request.POST:
            return _import_held(page, request)
        if request.method != "POST":
            return _show(page, request, form=PolicyForm())
        form = PolicyForm(request.POST, request.FILES)
        imported = _preview(request, form)
        if imported is None:
            return _show(page, request, form=form)
        return _ask(page, request, form.upload(), imported)

    return view


def _preview(request: HttpRequest, form: PolicyForm) -> Imported | None:
    """Find out what an import would do. Every fault is put on its field."""
    if not form.is_valid():
        return None
    try:
        return _run(request, form.upload(), dry_run=True)
    except ServiceError as refused:
        for fault in refused.faults:
            form.add_error(form.source, sentence(fault))
    return None


def _ask(
    page: "ModelAdmin[Layer]",
    request: HttpRequest,
    upload: Mapping[str, Any],
    imported: Imported,
) -> HttpResponse:
    """Show what would change; what is held is for the version that this was found out from."""
    seen = imported.version.number if imported.version else 0
    confirm = ConfirmForm({"held": hold(request, {**upload, "seen": seen})})
    return _show(page, request, form=confirm, report=Report.of(imported))


def _import_held(page: "ModelAdmin[Layer]", request: HttpRequest) -> HttpResponse:
    """Import what was looked at, or show anew what it would change where that is another now."""
    form = ConfirmForm(request.POST)
    key = form.cleaned_data["held"] if form.is_valid() else ""
    upload = held(request, key)
    address = reverse("admin:toolpolicy_layer_import")
    if upload is None:
        said = gettext("This policy was imported already, or it was held too long.")
        messages.error(request, said)
        return HttpResponseRedirect(address)
    with told(request):
        try:
            imported = _run(request, upload, dry_run=False)
        except Stale:
            messages.warning(request, CHANGED_MEANWHILE)
            drop(key)
            return _ask(
                page, request, upload, _run(request, {**upload, "seen": None}, dry_run=True)
            )
        drop(key)
        messages.success(request, _done(imported))
        address = reverse("admin:toolpolicy_layer_changelist")
    return HttpResponseRedirect(address)


def _run(request: HttpRequest, upload: Mapping[str, Any], *, dry_run: bool) -> Imported:
    try:
        text = sources.read(upload["text"].encode(), Syntax(upload["syntax"]))
    except Faults as refused:
        raise InvalidInput(refused.faults) from None
    return import_text(
        **by(request),
        text=text,
        belonging=Belonging(
            scope=Scope(upload["scope"]) if upload["scope"] else None,
            target=tuple(upload["target"]) or None,
            name=upload["name"] or None,
            title=upload["title"],
        ),
        options=ImportOptions(
            mode=ImportMode(upload["mode"]), dry_run=dry_run, seen=upload.get("seen")
        ),
    )


def _done(imported: Imported) -> str:
    many = imported.layers
    said = ngettext(
        "Imported %(count)s layer: %(changes)s. Version %(number)s is live.",
        "Imported %(count)s layers: %(changes)s. Version %(number)s is live.",
        many,
    )
    number = imported.version.number if imported.version else 0
    return said % {"count": many, "changes": count_of(imported.changes), "number": number}


def _show(page: "ModelAdmin[Layer]", request: HttpRequest, **shown: Any) -> HttpResponse:
    return framed(page, request, "layer/import", title=gettext("Import a policy"), **shown)
