"""Costs that noise cannot touch: calls made, bytes kept."""

import gc
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.values import Policy


def calls_made(run: Callable[[], object]) -> int:
    """Count the calls of Python and C functions that `run` comes to."""
    calls = 0

    def note(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    # A collection in between would be counted too: others of the suite hang calls on each.
    collects = gc.isenabled()
    gc.disable()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        if collects:
            gc.enable()
    return calls - 2  # `run` itself, and the call that ends the counting


def bytes_of_index(policy: Policy) -> int:
    """Return how many bytes a compiled policy takes beside the policy as read."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        compiled = CompiledPolicy(policy)
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    del compiled
    return after - before
