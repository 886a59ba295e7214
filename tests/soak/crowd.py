"""Many processes write and several seal at once: no gap, no fork, every record sealed once."""

import time
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from tests.soak import children, work
from toolpolicy.audit import keeping


@dataclass(frozen=True, slots=True)
class Crowd:
    """What was found after all had ended."""

    written: int
    unanswered: int
    lost: int
    outcome: work.Outcome

    @property
    def whole(self) -> bool:
        return self.written > 0 and self.lost == 0 and self.outcome.whole

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self), "whole": self.whole}


def crowd(writers: int, seconds: float, *, sealers: int = 2) -> Crowd:
    """Let writers write and sealers seal; one of the writers seals in a thread besides."""
    work.prepare()
    until = time.monotonic() + seconds
    tasks = [work.with_thread(work.deciding(until)), *[work.deciding(until)] * (writers - 1)]
    writing = [children.start(task) for task in tasks]
    keepers = [children.start(work.sealing_on(until)) for _ in range(sealers)]
    for child in (*writing, *keepers):
        child.wait()
    said = Counter(line for child in writing for line in child.lines())
    for child in (*writing, *keepers):
        child.said_in.unlink()
    unanswered = said.pop(work.UNANSWERED, 0)
    return Crowd(len(said), unanswered, work.lost(set(said)), work.judged())


@dataclass(frozen=True, slots=True)
class Throughput:
    """Records a second that are written by some processes, without and with their seals."""

    plain: float
    sealed: float

    @property
    def ratio(self) -> float:
        return self.sealed / self.plain


def throughput(writers: int, seconds: float, *, rounds: int = 3) -> Throughput:
    """Let the same writers write without a sealer and with a worker, in turns.

    With it, the time until the last record is sealed counts too.
    """
    work.prepare()
    times, counts = [0.0, 0.0], [0, 0]
    for number in range(2 * rounds):
        with_seals = number % 2
        started = time.monotonic()
        counts[with_seals] += _written(writers, started + seconds, with_worker=bool(with_seals))
        if with_seals:
            keeping.keep()
        times[with_seals] += time.monotonic() - started
        if not with_seals:
            keeping.keep()  # what was written without one is no burden of the next round
    return Throughput(*(count / took for count, took in zip(counts, times, strict=True)))


def _written(writers: int, until: float, *, with_worker: bool) -> int:
    tasks = [work.writing(until)] * writers
    writing = [children.start(task) for task in tasks]
    keepers = (
        [children.start(work.sealing_on(until, pause=keeping.INTERVAL))] if with_worker else []
    )
    for child in (*writing, *keepers):
        child.wait()
    written = sum(int(child.lines()[0]) for child in writing)
    for child in (*writing, *keepers):
        child.said_in.unlink()
    return written
