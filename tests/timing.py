"""Seconds of this process, for ratios inside one run: the machine's speed does not matter."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the collector out: it looks at the whole suite's heap, whoever makes it start."""
    gc.collect()
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
