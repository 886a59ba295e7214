"""The auditor's pages: how the log stands, verifying it, everything about one thing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from toolpolicy.admin.auditing.taking import TakingForm, taken, verifying_program
from toolpolicy.admin.auditing.timeline import timeline
from toolpolicy.admin.base import actor_of, by
from toolpolicy.audit.blocks import parse
from toolpolicy.models import LegalHold, Record, VerificationRun
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import clock, retention, sealing, verification_runs
from toolpolicy.services.evidence.exports import Form, forms_for
from toolpolicy.services.summaries import summaries

if TYPE_CHECKING:
    from toolpolicy.admin.site import ToolPolicyAdminSite

NEEDED: Final = "toolpolicy.read_reports"
# What was done with the log itself, and who looked into it.
ACTS: Final = (
    *(RecordKind.VERIFY, RecordKind.EXPORT, RecordKind.PAYLOAD_READ, RecordKind.PRUNE),
    *(RecordKind.HOLD, RecordKind.ERASE, RecordKind.ROTATION, RecordKind.REPAIR),
)
MOST: Final = 10
SINKS: Final = {
    "file": gettext_lazy("In a file"),
    "log": gettext_lazy("In the server’s log"),
    "url": gettext_lazy("At an address"),
}


class AuditPages:
    """The pages about the log, for those who may read reports."""

    def __init__(self, site: "ToolPolicyAdminSite") -> None:
        self.site = site

    def urls(self) -> list[URLPattern]:
        """Return the addresses."""
        view = self.site.admin_view
        return [
            path("audit/", view(self.home), name="toolpolicy_audit"),
            path("audit/verify/", view(require_POST(self.verify)), name="toolpolicy_audit_verify"),
            path("audit/timeline/", view(self.timeline), name="toolpolicy_timeline"),
            path("audit/take/", view(self.take), name="toolpolicy_audit_take"),
            path("audit/verify_bundle.py", view(self.program), name="toolpolicy_audit_program"),
        ]

    def home(self, request: HttpRequest) -> HttpResponse:
        """Say whether the log is sealed, verified and kept elsewhere, and lead to evidence."""
        _check(request)
        return self._home(request, TakingForm(_offered(request)))

    def _home(self, request: HttpRequest, form: TakingForm) -> HttpResponse:
        run = verification_runs.newest()
        running = run is not None and verification_runs.is_running(run)
        status, now = sealing.status(), timezone.now()
        context: dict[str, Any] = {
            **self.site.each_context(request),
            "title": _("Audit"),
            "status": status,
            "sinks": [(sink, SINKS.get(sink.name, sink.name)) for sink in status.sinks],
            "checkpoint_file": sealing.checkpoint_file() if status.sinks else "",
            "head": parse(status.head.text) if status.head and not status.refused else None,
            "run": run,
            "verified": verification_runs.last(),
            "running": running,
            "form": form,
            "kept": _kept(),
            "clock_doubted": clock.doubted(now, retention.cut_offs(now)),
            "holds": LegalHold.objects.standing().count(),
            "percent": _percent(run) if run else 0,
            "acts": _acts(ACTS),
            "repairs": _acts((RecordKind.REPAIR,)) if status.repaired else [],
        }
        return TemplateResponse(request, "admin/toolpolicy/audit/home.html", context)

    def verify(self, request: HttpRequest) -> HttpResponse:
        """Start a verification, and go where its progress is shown."""
        _check(request)
        full = request.POST.get("full") == "1"
        run = verification_runs.start(full=full, **by(request))
        if run.full != full:
            messages.info(request, _("Another verification is running; wait for its end."))
        return HttpResponseRedirect(reverse("admin:toolpolicy_audit") + "#verification")

    def take(self, request: HttpRequest) -> HttpResponseBase:
        """Give records away as a file; what is wrong with the form stands beside it."""
        _check(request)
        if request.method != "POST":
            return HttpResponseRedirect(reverse("admin:toolpolicy_audit") + "#evidence")
        form = TakingForm(_offered(request), request.POST)
        return (taken(request, form) if form.is_valid() else None) or self._home(request, form)

    def program(self, request: HttpRequest) -> HttpResponse:
        """Give the program that checks bundles."""
        _check(request)
        return verifying_program()

    def timeline(self, request: HttpRequest) -> HttpResponse:
        """Show everything about one thing, newest first."""
        _check(request)
        context = {
            **self.site.each_context(request),
            "title": _("Timeline"),
            **timeline(request.GET),
        }
        return TemplateResponse(request, "admin/toolpolicy/audit/timeline.html", context)


def _check(request: HttpRequest) -> None:
    if not request.user.has_perm(NEEDED):
        raise PermissionDenied


def _offered(request: HttpRequest) -> tuple[Form, ...]:
    return forms_for(actor_of(request))


def _kept() -> list[tuple[int, list[str]]]:
    """Return for how many days texts are kept, longest first, each with its kinds."""
    days = retention.days_kept()
    found = {number: [kind for kind in days if days[kind] == number] for number in days.values()}
    return sorted(found.items(), reverse=True)


def _acts(kinds: Sequence[RecordKind]) -> list[tuple[Record, str]]:
    """Return what was done with the log last, each with what was done in words."""
    found = list(Record.objects.filter(kind__in=kinds).newest_first()[:MOST])
    done = summaries(found)
    return [(record, done.get(record.pk, "")) for record in found]


def _percent(run: VerificationRun) -> int:
    return 100 * run.done // run.last if run.last else 0
