"""The reports: where they start, each one's page, and each as a file."""

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.base import by
from toolpolicy.admin.reports.forms import PERIODS, PeriodForm
from toolpolicy.admin.reports.moments import moment_view
from toolpolicy.services.evidence.reports import ReportFormat, ReportName, export, report_of
from toolpolicy.services.evidence.tables import ShownSection

if TYPE_CHECKING:
    from toolpolicy.admin.site import ToolPolicyAdminSite

NEEDED: Final = "toolpolicy.read_reports"
ABOUT: Final = {
    ReportName.CHANGES: (
        _("Changes"),
        _("Every change of the policy, tools, keys, freezes and rights, what stands out first."),
    ),
    ReportName.ACCESS: (
        _("Access review"),
        _("Who may do what: people, API keys, and what each agent may call."),
    ),
    ReportName.OVERSIGHT: (
        _("Oversight"),
        _("How many calls were allowed, denied, stopped and sent to a person."),
    ),
}


class ReportPages:
    """The pages of reports, for those who may read them."""

    def __init__(self, site: "ToolPolicyAdminSite") -> None:
        self.site = site

    def urls(self) -> list[URLPattern]:
        """Return the addresses."""
        view = self.site.admin_view
        at, file = view(moment_view(self.site)), view(self.file)
        return [
            path("reports/", view(self.start), name="toolpolicy_reports"),
            path("reports/point-in-time/", at, name="toolpolicy_point_in_time"),
            path("reports/<slug:name>/", view(self.page), name="toolpolicy_report"),
            path("reports/<slug:name>/<slug:form>/", file, name="toolpolicy_report_file"),
        ]

    def start(self, request: HttpRequest) -> HttpResponse:
        """Show what reports there are, and for which period."""
        _check(request)
        form = PeriodForm(request.GET, timezone.now())
        cards = [(str(name), title, about) for name, (title, about) in ABOUT.items()]
        context = {
            **self.site.each_context(request),
            "title": _("Reports"),
            "form": form,
            "cards": cards,
            "periods": PERIODS.items(),
        }
        return TemplateResponse(request, "admin/toolpolicy/report/start.html", context)

    def page(self, request: HttpRequest, name: str) -> HttpResponse:
        """Show a report, to be read and printed; no more of it than a page can wait for."""
        _check(request)
        asked, now = _named(name), timezone.now()
        form = PeriodForm(request.GET, now)
        title, lead = ABOUT[asked]
        context: dict[str, Any] = {
            **self.site.each_context(request),
            "title": title,
            "lead": lead,
            "name": name,
            "form": form,
            "forms": [str(one) for one in ReportFormat],
        }
        if form.is_valid():
            report = report_of(asked, form.found, now=now, whole=False)
            shown = [ShownSection.of(section) for section in report.sections]
            context |= {"report": report, "sections": shown, "made_at": now}
            if request.user.has_perm("toolpolicy.view_record"):
                context["record_list"] = reverse("admin:toolpolicy_record_changelist")
        return TemplateResponse(request, "admin/toolpolicy/report/report.html", context)

    def file(self, request: HttpRequest, name: str, form: str) -> HttpResponseBase:
        """Send the whole report as a file, with a record of who took it."""
        _check(request)
        asked, period = _named(name), PeriodForm(request.GET, timezone.now())
        if form not in list(ReportFormat):
            raise Http404
        if not period.is_valid():
            page = self.page(request, name)
            page.status_code = HTTPStatus.BAD_REQUEST  # a program that wants a file reads no page
            return page
        with translation.override(settings.LANGUAGE_CODE):  # programs read files, and they are kept
            exported = export(**by(request), name=asked, period=period.found, form=form)
        response = FileResponse(
            exported.file,
            as_attachment=True,
            filename=exported.name,
            content_type=exported.media,
        )
        response["Content-Length"] = str(exported.size)
        response["Cache-Control"] = "no-store"
        return response


def _check(request: HttpRequest) -> None:
    if not request.user.has_perm(NEEDED):
        raise PermissionDenied


def _named(name: str) -> ReportName:
    if name not in list(ReportName):
        raise Http404
    return ReportName(name)
