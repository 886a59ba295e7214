"""Counts of what was decided, from `RuleUsage` alone: no reader scans records.

Hours are UTC; a day is the last 24 hours, counted back from now.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, IntegerField, Max, QuerySet, Sum, Value, When
from django.utils import timezone

from toolpolicy.models import Layer, RuleUsage

WEEK = 7
Days = tuple[int, ...]
"""Counts of the last days, oldest first."""
NO_HITS: Days = (0,) * WEEK


@dataclass(frozen=True, slots=True)
class Hits:
    """How often a rule matched on each of the last days, oldest first, and in which hour last."""

    days: Days
    last: datetime | None

    @property
    def total(self) -> int:
        """The sum over the days."""
        return sum(self.days)


def _since(days: int) -> datetime:
    now = timezone.now()
    return (now - timedelta(days=days)).replace(minute=0, second=0, microsecond=0)


def _counts(days: int) -> QuerySet[RuleUsage]:
    return RuleUsage.objects.filter(hour__gt=_since(days)).order_by()


def _by_day(rows: QuerySet[RuleUsage], name: str, days: int) -> dict[str, Days]:
    """Return the counts of each day by what a column says. One query."""
    now, today = timezone.now(), days - 1
    day = Case(
        *(When(hour__lte=now - timedelta(days=today - n), then=Value(n)) for n in range(today)),
        default=Value(today),
        output_field=IntegerField(),
    )
    found: dict[str, list[int]] = {}
    counts = rows.annotate(day=day).values_list(name, "day").annotate(n=Sum("count"))
    for value, place, count in counts:
        found.setdefault(value, [0] * days)[place] += count
    return {value: tuple(counts) for value, counts in found.items()}


def rule_hits(layer: str, *, days: int = WEEK) -> dict[str, Hits]:
    """Return the hits of each rule of a layer that ever matched, by rule id. Two queries."""
    found = _by_day(_counts(days).filter(layer=layer), "rule", days)
    last = RuleUsage.objects.filter(layer=layer).order_by().values_list("rule")
    return {
        rule: Hits(found.get(rule, (0,) * days), hour)
        for rule, hour in last.annotate(last=Max("hour"))
    }


def layer_hits(*, days: int = WEEK) -> dict[str, Days]:
    """Return how often the rules of each layer matched on each day, by layer. Two queries."""
    # By name, so that the rows of the decisions themselves are not looked at; and with the names
    # in the query, so that PostgreSQL knows how few rows they have.
    names = list(Layer.objects.order_by().values_list("name", flat=True))
    return _by_day(_counts(days).filter(layer__in=names), "layer", days)


def tool_calls(
    *, days: int = WEEK, outcome: str | None = None, names: Collection[str] | None = None
) -> dict[tuple[str, str], int]:
    """Return how often each (family, tool) was decided about, or each of these names. One query.

    The family is "" where the tool has none.
    """
    rows = _counts(days).filter(layer="", rule="")
    if names is not None:
        rows = rows.filter(tool__in=names)
    if outcome is not None:
        rows = rows.filter(outcome=outcome)
    found = rows.values_list("family", "tool").annotate(n=Sum("count"))
    return {(family, tool): count for family, tool, count in found}


def hourly(*, hours: int = 24) -> list[tuple[datetime, Counter[str]]]:
    """Return the decisions of each of the last hours by outcome, oldest first. One query."""
    this = timezone.now().replace(minute=0, second=0, microsecond=0)
    counts = {this - timedelta(hours=ago): Counter[str]() for ago in reversed(range(hours))}
    for hour, outcome, count in _by_hour(min(counts)):
        if hour in counts:
            counts[hour][outcome] += count
    return list(counts.items())


def _by_hour(first: datetime) -> Iterator[tuple[datetime, str, int]]:
    rows = RuleUsage.objects.filter(layer="", rule="", hour__gte=first).order_by()
    yield from rows.values_list("hour", "outcome").annotate(n=Sum("count"))
