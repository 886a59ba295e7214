"""The pages of the history: one version, two of them compared, and the way back to an older one."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.base import Extra, by, told
from toolpolicy.admin.policy_changes import Differences
from toolpolicy.admin.version_effects import Effects
from toolpolicy.admin.version_texts import compared
from toolpolicy.admin.words import english
from toolpolicy.models import PolicyVersion
from toolpolicy.services import policies
from toolpolicy.services.errors import NotFound, Stale

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

View = Callable[..., HttpResponse]
PUBLISH: Final = "toolpolicy.publish_policy"
JSON: Final = "json"
LIVE_ALREADY: Final = _("This is the live policy already, so there is nothing to roll back.")


class CompareForm(forms.Form):
    """Which two versions are compared."""

    before = forms.IntegerField(min_value=1, max_value=2**31 - 1, label=_("From version"))
    after = forms.IntegerField(min_value=1, max_value=2**31 - 1, label=_("To version"))

    def __init__(self, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, label_suffix="", **kwargs)

    def clean(self) -> dict[str, Any]:
        """Refuse numbers that are no version's."""
        cleaned: dict[str, Any] = super().clean() or {}
        for name, number in list(cleaned.items()):
            try:
                policies.version(number=number)
            except NotFound as missing:
                self.add_error(name, english(missing.faults[0].message.capitalize()))
        return cleaned


class RollBackForm(forms.Form):
    """Why, and which version was live when the effect was shown."""

    why = forms.CharField(
        required=False, max_length=500, label=_("Why"), help_text=_("Kept in the history.")
    )
    seen = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, label_suffix="", **kwargs)


def may_roll_back(request: HttpRequest) -> bool:
    """Tell whether the person may make an older version live again."""
    return request.user.has_perm(PUBLISH)


def differences_of(before: int, after: int, *, as_json: bool = False) -> dict[str, Any]:
    """Return what a page shows of two versions: sentences or lines, and the answers that change."""
    shown: dict[str, Any] = {"before": before, "after": after, "as_json": as_json}
    if as_json:
        shown["lines"] = compared(policies.export(number=before), policies.export(number=after))
    else:
        shown["differences"] = Differences.of(policies.diff(before=before, after=after))
    try:
        shown["effects"] = Effects.of(before=before, after=after, now=timezone.now())
    except NotFound:  # nothing is live, as after a restore
        shown["effects"] = None
    return shown


def show_version(
    page: "ModelAdmin[PolicyVersion]", request: HttpRequest, pk: str, extra: Extra
) -> HttpResponse:
    """Show who made a version live, when and why, and what differs from the one before."""
    _check(page, request)
    key = int(pk) if pk.isascii() and pk.isdigit() and len(pk) < 10 else 0  # noqa: PLR2004
    version = get_object_or_404(PolicyVersion.objects.defer("document__text"), pk=key)
    live = policies.live()
    number = version.number
    context: dict[str, Any] = {
        "title": gettext("Version %(number)s") % {"number": number},
        "version": version,
        "is_live": live is not None and live.pk == version.pk,
        "may_roll_back": may_roll_back(request),
        "form": CompareForm(initial={"before": number, "after": live.number if live else number}),
        "judged": judged_address(number),
        **(extra or {}),
    }
    if number > 1:
        as_json = request.GET.get("as") == JSON
        context |= differences_of(number - 1, number, as_json=as_json)
        context |= {"sentences": "?", "lines_address": f"?as={JSON}"}
    return _shown(page, request, "version", context)


def compare_view(page: "ModelAdmin[PolicyVersion]") -> View:
    """Return the view that compares any two versions, in sentences or line by line."""

    def view(request: HttpRequest) -> HttpResponse:
        _check(page, request)
        form = CompareForm(request.GET)
        context: dict[str, Any] = {"title": gettext("Compare two versions"), "form": form}
        if form.is_valid():
            numbers: dict[str, int] = form.cleaned_data
            as_json = request.GET.get("as") == JSON
            context |= differences_of(**numbers, as_json=as_json)
            title = gettext("Version %(after)s against version %(before)s")
            context["title"] = title % numbers
            context["sentences"] = f"?{urlencode(numbers)}"
            context["lines_address"] = f"?{urlencode(numbers)}&as={JSON}"
        return _shown(page, request, "compare", context)

    return view


def roll_back_view(page: "ModelAdmin[PolicyVersion]") -> View:
    """Return the view that shows what rolling back changes, then does it."""

    def view(request: HttpRequest, pk: int) -> HttpResponse:
        _check(page, request)
        if not may_roll_back(request):
            raise PermissionDenied
        version = get_object_or_404(PolicyVersion.objects.defer("document__text"), pk=pk)
        live = policies.live()
        if live is None or live.document_id == version.document_id:
            messages.info(request, LIVE_ALREADY)
            return HttpResponseRedirect(_page_of(version))
        started = {"seen": live.number, "why": request.GET.get("why", "")}
        form = RollBackForm(request.POST or None, initial=started)
        if request.method == "POST" and form.is_valid():
            return _rolled_back(request, version, form.cleaned_data)
        context = {
            "title": gettext("Roll back to version %(number)s?") % {"number": version.number},
            "version": version,
            "live": live,
            "form": form,
            **differences_of(live.number, version.number),
        }
        return _shown(page, request, "roll_back", context)

    return view


def _rolled_back(
    request: HttpRequest, version: PolicyVersion, sent: dict[str, Any]
) -> HttpResponse:
    """Roll back, unless another version is live than the one whose effect was shown."""
    here = reverse("admin:toolpolicy_policyversion_roll_back", args=(version.pk,))
    with told(request):
        try:
            saved = policies.roll_back(
                **by(request), number=version.number, why=sent["why"], seen=sent["seen"]
            )
        except Stale as stale:
            said = gettext(
                "Version %(number)s was published meanwhile. Nothing was rolled back; this is what "
                "would change now."
            )
            messages.warning(request, said % {"number": stale.found})
            return HttpResponseRedirect(f"{here}?{urlencode({'why': sent['why']})}")
        said = gettext("Rolled back to version %(old)s: version %(new)s is live.")
        live = saved.version.number if saved.version else 0
        messages.success(request, said % {"old": version.number, "new": live})
        here = reverse("admin:toolpolicy_policyversion_changelist")
    return HttpResponseRedirect(here)


def judged_address(number: int) -> str:
    """Return the address of the decisions that a version judged."""
    records = reverse("admin:toolpolicy_record_changelist")
    return f"{records}?kind=decision&policy_version={number}"


def _check(page: "ModelAdmin[PolicyVersion]", request: HttpRequest) -> None:
    if not page.has_view_permission(request):
        raise PermissionDenied


def _page_of(version: PolicyVersion) -> str:
    return reverse("admin:toolpolicy_policyversion_change", args=(version.pk,))


def _shown(
    page: "ModelAdmin[PolicyVersion]", request: HttpRequest, name: str, context: dict[str, Any]
) -> HttpResponse:
    base = {**page.admin_site.each_context(request), "opts": page.opts}
    template = f"admin/toolpolicy/policyversion/{name}.html"
    return TemplateResponse(request, template, {**base, **context})
