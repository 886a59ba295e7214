"""Seconds of this process, for ratios inside one run: the machine's speed does not matter."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the collector out: it looks at the whole suite's heap, whoever makes it start."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Return the least time that the work takes, tried so often, without the collector."""
    took = []
    with no_collection():
        for _ in range(times):
            start = time.process_time()
            work()
            took.append(time.process_time() - start)
    return min(took)


def assert_times(most: float, ratio: Callable[[int], float], tries: int = 6) -> None:
    """Hold a ratio of times below a bound in one of some tries, each given its number.

    Work that costs too much does so each time; what another process does to it, seldom so often.
    """
    seen: list[float] = []
    while not seen or seen[-1] >= most:
        assert len(seen) < tries, f"{seen} times as long, and {most} is the bound"
        seen.append(ratio(len(seen)))


def assert_within(
    most: float, work: Callable[[], object], compared: Callable[[], object], times: int = 2
) -> None:
    """Hold that some work takes less than so many times what another takes, here and now."""
    assert_times(most, lambda _: seconds(work, times) / seconds(compared, times))
