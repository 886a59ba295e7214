"""`metrics`: figures for Prometheus. Needs no key and names no caller, tool or rule.

All are read from the database when they are asked for, so they are the same in every process, and
answering requests costs nothing for them.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from toolpolicy.api.problems import KINDS
from toolpolicy.engine.words import Outcome
from toolpolicy.models.choices import ToolState
from toolpolicy.services import figures, refusals, sealing, sign_ins, streams, usage

SERVER_ERROR: Final = 500
HOURS: Final = {
    "this_hour": "since the hour began (UTC)",
    "last_hour": "in the hour before the running one",
}
# What a request without a valid key can meet, a sign-in included.
REFUSING: Final = frozenset(
    {sign_ins.WAITING, *(kind.status for kind in KINDS.values() if kind.status < SERVER_ERROR)}
)


class Decisions(Collector):
    """What was decided and refused, hour by hour: the counts that the home page shows too."""

    def collect(self) -> Iterator[Metric]:
        (_, before), (_, running) = usage.hourly(hours=2)
        for (hour, said), counts in zip(HOURS.items(), (running, before), strict=True):
            told = f"Decisions {said}; no simulations, no listings."
            found = {str(outcome): counts[outcome] for outcome in Outcome}
            yield _gauges(f"decisions_{hour}", told, "outcome", found)
        for (hour, said), refused in zip(HOURS.items(), refusals.lately(), strict=True):
            told = f"Requests {said} that were refused for want of a valid key or sign-in."
            statuses = {str(status): refused[status] for status in sorted(REFUSING)}
            yield _gauges(f"keyless_requests_{hour}", told, "status", statuses)


class Policy(Collector):
    """What decisions are judged by."""

    def collect(self) -> Iterator[Metric]:
        live = figures.published()
        yield _gauge("policy_version", "The live policy; 0: none.", live.number if live else 0)
        at = live.at.timestamp() if live else 0
        yield _gauge("policy_published_timestamp_seconds", "When it was published.", at)
        tools = figures.tools()
        states = {str(state): tools[state] for state in ToolState.values}
        yield _gauges("tools", "Registered tools.", "state", states)
        yield _gauge("freezes", "Freezes that stand.", figures.standing_freezes())


class Seals(Collector):
    """How the sealed log stands; read from the database, so the same in every process."""

    def collect(self) -> Iterator[Metric]:
        status = sealing.status()
        head = status.head
        yield _gauge("unsealed_records", "Records that are not sealed yet.", status.waiting)
        yield _gauge(
            "sealed_lag_seconds", "For how long the oldest of them waits to be sealed.", status.lag
        )
        yield _gauge("sealed_block", "The newest block of the log.", head.number if head else 0)
        sealed = head.first + head.count - 1 if head else 0
        yield CounterMetricFamily("toolpolicy_sealed_records", "Records of any kind.", sealed)
        yield _gauge(
            "sealing_refused", "1 when the log cannot be sealed any further.", bool(status.refused)
        )
        lag = GaugeMetricFamily(
            "toolpolicy_sink_lag_blocks", "Blocks that a sink was not told of.", labels=["sink"]
        )
        failing = GaugeMetricFamily(
            "toolpolicy_sink_failing", "1 when a sink could not be told.", labels=["sink"]
        )
        for sink in status.sinks:
            lag.add_metric([sink.name], (head.number if head else 0) - sink.block)
            failing.add_metric([sink.name], sink.failing_since is not None)
        yield from (lag, failing)
        yield from _stream()


def _stream() -> Iterator[Metric]:
    """Say how far the stream of the settings is, where there is one."""
    state = streams.kept()
    if state is not None:
        told = "Sealed records that are not streamed yet."
        yield _gauge("stream_backlog_records", told, streams.backlog(state))
        yield _gauge("stream_failing", "1 when they cannot be.", state.failing_since is not None)


def _gauge(name: str, told: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"toolpolicy_{name}", told, value=value)


def _gauges(name: str, told: str, label: str, counts: Mapping[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"toolpolicy_{name}", told, labels=[label])
    for value, count in counts.items():
        family.add_metric([value], count)
    return family


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with every figure in Prometheus' text form."""
    del request
    registry = CollectorRegistry()
    for collector in (Decisions(), Policy(), Seals()):
        registry.register(collector)
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
