"""How many calls were allowed, refused, stopped, and sent to a person: by day, tool, agent, rule.

Decisions are counted with themselves, by the hour: what those counts say is exact and costs no
record to be read. What they do not know (agents, reasons, refused requests) is counted by the
database over the records of the same hours.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import Any, Final

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.words import Outcome, ReasonCode
from toolpolicy.models import Record, RefusalCount, RuleUsage
from toolpolicy.models.choices import RecordKind
from toolpolicy.models.records import RecordQuerySet
from toolpolicy.services import records
from toolpolicy.services.evidence.periods import Period
from toolpolicy.services.evidence.tables import NO_AGENT, Column, Report, Section

Wire = dict[str, Any]
# Counting records takes a second for some hundred thousand: beyond that, only files do.
MOST_COUNTED: Final = 200_000
FROM_COUNTS: Final = _("From hourly counts, exact.")
FROM_RECORDS: Final = _("From records, counted one by one.")
TOO_MANY: Final = _("So many records are counted only for a file: take one.")
NUMBERS: Final = (
    Column(name="all", heading=_("All"), count=True),
    Column(name="allow", heading=_("Allowed"), count=True),
    Column(name="needs_approval", heading=_("Needed approval"), count=True),
    Column(name="deny", heading=_("Denied"), count=True),
)
NO_KEY: Final = {"": _("(no key)")}
COUNT: Final = Column(name="count", heading=_("Times"), count=True)
TOOL: Final = (
    Column(name="family", heading=_("Family"), words={"": _("(none known)")}),
    Column(name="tool", heading=_("Tool")),
)


def oversight(period: Period, *, whole: bool) -> Report:
    """Return the report of the period's whole hours. `whole` counts records however many."""
    hours = period.whole_hours()
    usage = RuleUsage.objects.filter(hour__gte=hours.since, hour__lt=hours.until).order_by()
    decided = usage.filter(layer="", rule="")
    found = records.between(Record.objects.all(), hours.since, hours.until).order_by()
    calls = found.filter(kind=RecordKind.DECISION)
    totals = _totals(decided)
    counts = whole or totals["all"] <= MOST_COUNTED
    shown = found if counts else found.none()
    frozen = calls.filter(reason_code=ReasonCode.FROZEN)
    return Report(
        name="oversight",
        title=_("Oversight"),
        period=hours,
        head={
            "totals": {**totals, "frozen": frozen.count()},
            "records_agree": calls.count() == totals["all"] if counts else None,
            "without_key": _without_key(hours),
        },
        sections=(
            *_counted(decided, usage),
            *_recorded(shown, cut="" if counts else TOO_MANY),
        ),
    )


def _counted(decided: QuerySet[RuleUsage], usage: QuerySet[RuleUsage]) -> tuple[Section, ...]:
    """Return what the hourly counts say."""
    by_day = decided.annotate(day=TruncDate("hour", tzinfo=UTC))
    rules = usage.exclude(layer="", rule="")
    return (
        Section(
            name="days",
            title=_("By day (UTC)"),
            columns=(Column(name="day", heading=_("Day")), *NUMBERS),
            rows=lambda: _sums(by_day, ("day",), ("day",)),
            source=FROM_COUNTS,
        ),
        Section(
            name="tools",
            title=_("By tool"),
            columns=(*TOOL, *NUMBERS),
            rows=lambda: _sums(decided, ("family", "tool")),
            source=FROM_COUNTS,
        ),
        Section(
            name="rules",
            title=_("By rule that matched"),
            columns=(
                Column(name="layer", heading=_("Layer")),
                Column(name="rule", heading=_("Rule")),
                *NUMBERS,
            ),
            rows=lambda: _sums(rules, ("layer", "rule")),
            source=FROM_COUNTS,
        ),
    )


def _recorded(found: RecordQuerySet, *, cut: Any) -> tuple[Section, ...]:
    """Return what only the records say."""
    calls = found.filter(kind=RecordKind.DECISION)
    frozen = calls.filter(reason_code=ReasonCode.FROZEN)
    refused = found.filter(kind=RecordKind.REFUSED)
    agent = Column(name="agent", heading=_("Agent"), words=NO_AGENT)
    reason = Column(name="reason_code", heading=_("Reason"))
    shown: Sequence[tuple[str, Any, tuple[Column, ...], Any]] = (
        ("agents", _("By agent"), (agent, *NUMBERS), lambda: _tallies(calls, ("agent",))),
        ("frozen", _("Frozen"), (*TOOL, agent, COUNT), lambda: _times(frozen, (*_TOOL, "agent"))),
        ("reasons", _("By reason"), (reason, COUNT), lambda: _times(calls, ("reason_code",))),
        (
            "refused",
            _("Refused requests"),
            (Column(name="client_key_id", heading=_("Key"), words=NO_KEY), reason, COUNT),
            lambda: _times(refused, ("client_key_id", "reason_code")),
        ),
    )
    return tuple(
        Section(name=name, title=title, columns=columns, rows=rows, source=FROM_RECORDS, cut=cut)
        for name, title, columns, rows in shown
    )


_TOOL: Final = ("family", "tool")


def _totals(decided: QuerySet[RuleUsage]) -> dict[str, int]:
    sums = decided.aggregate(all=Sum("count"), **_summed())
    return {name: count or 0 for name, count in sums.items()}


def _summed() -> dict[str, Sum]:
    return {str(one): Sum("count", filter=Q(outcome=str(one)), default=0) for one in Outcome}


def _sums(
    usage: QuerySet[RuleUsage, Any], by: tuple[str, ...], order: tuple[str, ...] = ()
) -> Iterator[Wire]:
    """Yield counts added up by these columns, the most denied first unless sorted. One query."""
    rows = usage.values(*by).annotate(all=Sum("count"), **_summed())
    return _told(rows.order_by(*(order or ("-deny", "-all", *by))))


def _tallies(found: RecordQuerySet, by: tuple[str, ...]) -> Iterator[Wire]:
    """Yield how many records of each outcome there are by these columns. One query."""
    counts = {str(one): Count("id", filter=Q(outcome=str(one))) for one in Outcome}
    rows = found.values(*by).annotate(all=Count("id"), **counts)
    return _told(rows.order_by("-deny", "-all", *by))


def _times(found: RecordQuerySet, by: tuple[str, ...]) -> Iterator[Wire]:
    """Yield how many records there are by these columns. One query."""
    return _told(found.values(*by).annotate(count=Count("id")).order_by("-count", *by))


def _told(rows: Any) -> Iterator[Wire]:
    for row in rows.iterator():
        yield {name: str(value) if name == "day" else value for name, value in row.items()}


def _without_key(hours: Period) -> dict[str, int]:
    """Return how many requests without a valid key there were, by HTTP status. One query."""
    found = RefusalCount.objects.filter(minute__gte=hours.since, minute__lt=hours.until)
    rows = found.order_by("status").values_list("status").annotate(n=Sum("count"))
    return {str(status): count for status, count in rows}
