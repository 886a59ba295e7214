"""What a reader said about a broken input, in a form that a table can state."""

from collections.abc import Callable
from typing import Any

import pytest

from toolpolicy.engine.faults import Faults


def faults_of(read: Callable[..., Any], *given: Any, **options: Any) -> list[tuple[str, str]]:
    """Return the (pointer, code) of every fault, in order; none when the input is accepted."""
    try:
        read(*given, **options)
    except Faults as refused:
        return [(fault.pointer, fault.code) for fault in refused.faults]
    return []


def message_of(read: Callable[..., Any], *given: Any, **options: Any) -> str:
    """Return the whole message of a refusal."""
    with pytest.raises(Faults) as caught:
        read(*given, **options)
    return str(caught.value)
