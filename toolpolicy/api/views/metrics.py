"""`metrics`: figures for Prometheus. Needs no key and names no caller, tool or rule."""

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from toolpolicy.services import sealing, streams


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


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with every figure in Prometheus' text form."""
    del request
    registry = CollectorRegistry()
    registry.register(Seals())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
