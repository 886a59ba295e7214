"""Timing two ways of doing one thing side by side, so that noise meets both.

Rounds alternate, the order is reversed every other round, and what counts is the median of the
ratios inside the rounds. A single absolute figure says little on a shared machine. What is counted
is the processor time of this process, with the collection of garbage put off, as `timeit` does.
"""

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from tests.timing import no_collection

SHORTEST: Final = 0.02
"""Seconds that a round of one contender lasts at least, passes without preparation alone."""


class Contender(NamedTuple):
    """One way of doing it: `run` does `operations` of them on what `prepare` makes, untimed."""

    run: Callable[[Any], object]
    operations: int
    prepare: Callable[[], Any] | None = None


class Measured(NamedTuple):
    """Seconds for one operation of each, and how many times the first goes into the second."""

    first: float
    second: float
    ratio: float
    least: float
    most: float


def compare(first: Contender, second: Contender, *, rounds: int = 9) -> Measured:
    """Measure two contenders in interleaved rounds."""
    both = (first, second)
    passes = [_passes(contender) for contender in both]
    seconds: list[Sequence[float]] = []
    for number in range(rounds):
        order = (0, 1) if number % 2 else (1, 0)
        took = {at: _round(both[at], passes[at]) for at in order}
        seconds.append((took[0], took[1]))
    ratios = [pair[1] / pair[0] for pair in seconds]
    first_took, second_took = (statistics.median(pair[at] for pair in seconds) for at in (0, 1))
    return Measured(
        *(first_took, second_took), statistics.median(ratios), least=min(ratios), most=max(ratios)
    )


def _passes(contender: Contender) -> int:
    """Run once, and say how many passes fill a round: the first pass warms what it uses, too."""
    took = _round(contender, 1) * contender.operations
    return 1 if contender.prepare else max(1, int(SHORTEST / took))


def _round(contender: Contender, passes: int) -> float:
    run = contender.run
    made = [contender.prepare() if contender.prepare else None for _ in range(passes)]
    # What the other contender left would be freed, and its memory taken, in this one's time.
    gc.collect()
    with no_collection():
        started = time.process_time()
        for one in made:
            run(one)
        return (time.process_time() - started) / passes / contender.operations
