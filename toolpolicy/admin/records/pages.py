"""Records: the list, and the page of one."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks, record_marks
from toolpolicy.admin.base import Extra, ReadOnlyPage
from toolpolicy.admin.records.acts import acts_of
from toolpolicy.admin.records.detail import JUDGED, RecordView
from toolpolicy.admin.records.looking import payload_view, simulator_view
from toolpolicy.admin.records.making import making_view
from toolpolicy.admin.records.paging import RecordList, neighbours
from toolpolicy.admin.records.today import compare_view, today_view
from toolpolicy.admin.tracing.links import rule_address
from toolpolicy.engine.words import ReasonCode
from toolpolicy.models import Record
from toolpolicy.models.choices import RecordKind

# Where Django's links keep the filters of the list that one came from.
PRESERVED = "_changelist_filters"
# Codes that say no more than the outcome beside them.
PLAIN = ("", ReasonCode.ALLOWED, ReasonCode.NEEDS_APPROVAL)


@admin.register(Record)
class RecordPage(ReadOnlyPage):
    """Every answer and every change."""

    lead = _("Every answer that was given and every change that was made, newest first.")
    list_display = ("time", "what", "about", "asked_by", "decided_by")
    list_display_links = ("time",)
    sortable_by = ()

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[RecordList]:
        """Page by id: no count, no offset, as fast at a million records as at ten."""
        return RecordList

    def get_urls(self) -> list[URLPattern]:
        """Add what can be done about a recorded call."""
        view = self.admin_site.admin_view
        return [
            path("<int:pk>/rule/", view(making_view(self)), name="toolpolicy_record_rule"),
            path("<int:pk>/payload/", view(payload_view(self)), name="toolpolicy_record_payload"),
            path(
                "<int:pk>/simulator/",
                view(simulator_view(self)),
                name="toolpolicy_record_simulator",
            ),
            path("<int:pk>/today/", view(today_view(self)), name="toolpolicy_record_today"),
            path(
                "<int:pk>/today/<uuid:uid>/",
                view(compare_view(self)),
                name="toolpolicy_record_compare",
            ),
            *super().get_urls(),
        ]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: Extra = None,
    ) -> HttpResponse:
        """Show one record: what was asked, what was answered, and why."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        key = int(object_id) if object_id.isascii() and object_id.isdigit() else 0
        records = Record.objects.select_related("client", "body", "leaf")
        view = RecordView(get_object_or_404(records, pk=key))
        return self.shown(request, view, extra_context)

    def shown(
        self, request: HttpRequest, view: RecordView, extra_context: Extra = None
    ) -> HttpResponse:
        """Return the page of a record."""
        context = {
            **self.admin_site.each_context(request),
            "title": view.title,
            "opts": self.opts,
            "preserved_filters": self.get_preserved_filters(request),
            "record": view.record,
            "view": view,
            "acts": acts_of(request, view),
            "beside": neighbours(view.record, request.GET.get(PRESERVED, "")),
            "rule_url": rule_address(request, view.answered),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/toolpolicy/record/detail.html", context)

    # --- columns ---------------------------------------------------------------------------------

    @admin.display(description=_("time"))
    def time(self, record: Record) -> SafeString:
        """Say when."""
        return marks.moment(record.at)

    @admin.display(description=_("what"))
    def what(self, record: Record) -> SafeString:
        """Show the outcome of a decision or simulation; of anything else, what it is."""
        return record_marks.what(record)

    @admin.display(description=_("about"))
    def about(self, record: Record) -> SafeString:
        """Name the tool that was asked about, or the thing that was changed."""
        return marks.tool(record.tool or record.object_label)

    @admin.display(description=_("asked by"))
    def asked_by(self, record: Record) -> SafeString:
        """Name who asked: the agent and where, or the person or key."""
        if not record.agent or record.kind not in JUDGED:
            return format_html("{}", record.actor_label)
        where = (
            gettext("on %(channel)s") % {"channel": record.channel}
            if record.channel
            else gettext("by %(who)s") % {"who": record.actor_label}
        )
        return format_html("{} {}", record.agent, marks.sub(where))

    @admin.display(description=_("decided by"))
    def decided_by(self, record: Record) -> SafeString:
        """Name the rule that decided, or the reason code."""
        if record.kind == RecordKind.CHANGE or record.reason_code in PLAIN:
            return SafeString("")
        if record.rule:
            return format_html(
                "{} {}", record.rule, marks.sub(gettext("in %(layer)s") % {"layer": record.layer})
            )
        return marks.sub(record.reason_code)
