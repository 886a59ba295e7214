"""The home page: is something wrong, what was decided and changed, and how to begin."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import charts, home_start
from toolpolicy.admin.marks import OUTCOMES
from toolpolicy.admin.words import Words
from toolpolicy.engine.words import Outcome
from toolpolicy.models import Freeze, Layer, PolicyVersion, Record, Tool
from toolpolicy.models.choices import RecordKind, ToolState
from toolpolicy.services import freezes, health, lint, policies, sealing, usage

# A day's answers of calls; what listings show is no answer to a call.
SHOWN: Final = (Outcome.ALLOW, Outcome.NEEDS_APPROVAL, Outcome.DENY)
MOST: Final = 5
WORST: Final = 3
DAY: Final = timedelta(days=1)
# Changes of other things than the policy and freezes, which have rows of their own.
OTHERS: Final = (RecordKind.IMPORT, RecordKind.KEY)
CHECKED: Final[Mapping[str, Words]] = {
    "database": _("The database answers"),
    "policy": _("A policy is live"),
    "triggers": _("Records are protected"),
    "seals": _("Records are sealed"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """The last hours of one outcome: its chart, its sum and its busiest hour."""

    outcome: Outcome
    word: Words
    shape: str
    tone: str
    chart: SafeString
    hours: list[tuple[datetime, int]]

    @property
    def total(self) -> int:
        """All of them."""
        return sum(count for _, count in self.hours)

    @property
    def most(self) -> int:
        """The busiest hour."""
        return max(count for _, count in self.hours)


def overview(request: HttpRequest) -> dict[str, Any]:
    """Return what the home page says to this person: what they may not see is not there.

    A fixed number of queries, whatever is stored; counts come from hourly sums, never from records.
    """
    now = timezone.now()
    facts: dict[str, Any] = {
        "live": policies.live(),
        "health": _health(),
        "freezes": list(freezes.active(now).order_by("-created_at")[: MOST + 1]),
        **home_start.beginning(request),
    }
    parts: Mapping[str, Callable[[datetime], dict[str, Any]]] = {
        "view_ruleusage": _calls,
        "view_policyversion": _changes,
        "view_freeze": _stops,
        "view_record": _others,
        "view_tool": _tools,
        "view_rule": _findings,
    }
    for permission, part in parts.items():
        if request.user.has_perm(f"toolpolicy.{permission}"):
            facts |= part(now)
    return facts


def _health() -> dict[str, Any]:
    said = health.readiness()
    checks = [(CHECKED[name], text == health.OK, text) for name, text in said.items()]
    bad = [text for _, good, text in checks if not good]
    sealed = {"block": sealing.newest_block(), "lag": round(sealing.lag())}
    return {"checks": checks, "bad": bad, "database": connection.vendor, "sealed": sealed}


def _calls(now: datetime) -> dict[str, Any]:
    """Four queries."""
    del now
    hours = usage.hourly()
    strips = [_strip(outcome, [(at, counts[outcome]) for at, counts in hours]) for outcome in SHOWN]
    denied = usage.tool_calls(days=1, outcome=Outcome.DENY)
    week = sum(usage.tool_calls(days=usage.WEEK, outcome=Outcome.DENY).values())
    called = usage.tool_calls(days=1)
    top = sorted(denied.items(), key=lambda item: (-item[1], item[0]))[:MOST]
    day = sum(denied.values())
    return {
        "strips": strips,
        "rows": [(at, [strip.hours[n][1] for strip in strips]) for n, (at, _) in enumerate(hours)],
        "marks": [at for at, _ in hours][:: len(hours) // 4],
        "since": hours[0][0],
        "asked": sum(strip.total for strip in strips),
        "denied": day,
        "ordinary": round((week - day) / (usage.WEEK - 1)),
        "top": [(family, tool, count, called[family, tool]) for (family, tool), count in top],
        "peak": charts.peak_of(strips[SHOWN.index(Outcome.DENY)].hours),
    }


def _strip(outcome: Outcome, hours: list[tuple[datetime, int]]) -> Strip:
    word, shape, tone = OUTCOMES[outcome]
    said = {"word": word, "end": f"{hours[-1][0]:%H:%M}", "counts": charts.said(hours)}
    label = gettext("%(word)s, 24 hours to %(end)s UTC: %(counts)s.") % said
    chart = charts.strip(hours, label=label, tone=tone)
    return Strip(outcome=outcome, word=word, shape=shape, tone=tone, chart=chart, hours=hours)


def _changes(now: datetime) -> dict[str, Any]:
    """One query of the newest few: how many there are, or were in a day, costs nothing."""
    newest = PolicyVersion.objects.order_by("-number")[: MOST + 1]
    return {"changes": [version for version in newest if version.published_at > now - DAY]}


def _stops(now: datetime) -> dict[str, Any]:
    """One query."""
    recent = Q(created_at__gt=now - DAY) | Q(lifted_at__gt=now - DAY)
    return {"stops": list(Freeze.objects.filter(recent)[:MOST])}


def _others(now: datetime) -> dict[str, Any]:
    """Two queries, each along its own index."""
    newest = (Record.objects.filter(kind=kind).newest_first()[:WORST] for kind in OTHERS)
    recent = [record for some in newest for record in some if record.at > now - DAY]
    return {"others": sorted(recent, key=lambda record: -record.pk)[:WORST]}


def _tools(now: datetime) -> dict[str, Any]:
    """One query."""
    del now
    waiting = Tool.objects.filter(state__in=(ToolState.CHANGED, ToolState.QUARANTINED))
    return {"tools": list(waiting.order_by("-last_seen_at", "-pk")[: WORST + 1])}


def _findings(now: datetime) -> dict[str, Any]:
    found = lint.findings(now)
    worst = sorted(found.found, key=lambda one: one.severity.rank)[:WORST]
    names = Layer.objects.filter(name__in=[one.layer for one in worst])
    keys = dict(names.order_by().values_list("name", "pk"))
    return {
        "findings": [(one, keys.get(one.layer or "")) for one in worst],
        "found": len(found.found),
        "counts": found.counts(),
    }
