"""What is counted beside records: matches of rules, tainted sessions, requests without a key."""

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.base import ReadOnlyPage
from toolpolicy.admin.choosing import Answered
from toolpolicy.admin.records.paging import Capped
from toolpolicy.models import RefusalCount, RuleUsage, SessionTaint


@admin.register(RuleUsage)
class UsagePage(ReadOnlyPage):
    """Hourly counts."""

    lead = _(
        "How often each rule matched, hour by hour. A line without a rule counts the decisions "
        "themselves."
    )
    list_display_links = None
    fields = ("hour_shown", "layer", "rule", "family", "tool", "outcome_shown", "shard", "count")
    list_display = ("hour_shown", "rule_shown", "layer", "tool_shown", "outcome_shown", "times")
    list_filter = (Answered,)
    search_fields = ("=rule", "=layer", "=tool")
    search_help_text = _("Whole rule, layer or tool")
    # Backwards along the table's own index: a page is read without sorting everything.
    ordering = ("-hour", "-layer", "-rule", "-family", "-tool", "-outcome", "-shard")
    sortable_by = ()
    paginator = Capped

    def get_queryset(self, request: HttpRequest) -> QuerySet[RuleUsage]:
        """Show each count once: its shards are added up, and stand where the first one does."""
        found: QuerySet[RuleUsage] = super().get_queryset(request)
        key = ("hour", "layer", "rule", "family", "tool", "outcome")
        same = RuleUsage.objects.filter(**{name: OuterRef(name) for name in key}).order_by()
        total = same.values("hour").annotate(total=Sum("count")).values("total")
        first = ~Exists(same.filter(shard__lt=OuterRef("shard")))
        return found.filter(first).annotate(total=Subquery(total))

    @admin.display(description=_("hour"))
    def hour_shown(self, usage: RuleUsage) -> SafeString:
        """Say which hour."""
        return marks.moment(usage.hour, seconds=False)

    @admin.display(description=_("rule"))
    def rule_shown(self, usage: RuleUsage) -> SafeString:
        """Name the rule."""
        return marks.code(usage.rule) if usage.rule else marks.sub(gettext("all decisions"))

    @admin.display(description=_("tool"))
    def tool_shown(self, usage: RuleUsage) -> SafeString:
        """Name the tool."""
        return marks.tool(usage.tool)

    @admin.display(description=_("outcome"))
    def outcome_shown(self, usage: RuleUsage) -> SafeString:
        """Show the outcome."""
        return marks.outcome_pill(usage.outcome)

    @admin.display(description=_("times"))
    def times(self, usage: RuleUsage) -> str:
        """Say how often."""
        total = vars(usage)["total"]
        return ngettext("%(count)s time", "%(count)s times", total) % {"count": total}


@admin.register(SessionTaint)
class TaintPage(ReadOnlyPage):
    """Sessions that have read untrusted content."""

    lead = _("Sessions that have read untrusted content, which every later call is told.")
    list_display_links = None
    list_display = ("session", "client", "since_shown")
    list_select_related = ("client",)
    search_fields = ("=session", "client__name")
    search_help_text = _("Whole session, or client")
    ordering = ("-since", "-pk")
    sortable_by = ()

    @admin.display(description=_("since"))
    def since_shown(self, taint: SessionTaint) -> SafeString:
        """Say since when."""
        return marks.moment(taint.since)


@admin.register(RefusalCount)
class RefusalPage(ReadOnlyPage):
    """Requests without a valid key."""

    lead = _("Requests without a valid key, and sign-ins that had to wait: counted, not kept.")
    list_display_links = None
    list_display = ("minute_shown", "address", "status_shown", "times")
    list_filter = ("status",)
    search_fields = ("=address",)
    search_help_text = _("Whole address")
    ordering = ("-minute", "address", "status")
    sortable_by = ()
    paginator = Capped

    @admin.display(description=_("minute"))
    def minute_shown(self, refusal: RefusalCount) -> SafeString:
        """Say which minute."""
        return marks.moment(refusal.minute, seconds=False)

    @admin.display(description=_("answered with"))
    def status_shown(self, refusal: RefusalCount) -> str:
        """Show the HTTP status."""
        return f"HTTP {refusal.status}"

    @admin.display(description=_("requests"))
    def times(self, refusal: RefusalCount) -> str:
        """Say how many."""
        said = ngettext("%(count)s request", "%(count)s requests", refusal.count)
        return said % {"count": refusal.count}
