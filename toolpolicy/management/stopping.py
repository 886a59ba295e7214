"""Ending a long-running command in order when the process is asked to."""

import signal
from threading import Event
from typing import Final

_ASKED: Final = (signal.SIGTERM, signal.SIGINT)


def stopped() -> Event:
    """Return an event that is set once the process is asked to end, by a supervisor or Ctrl-C."""
    stop = Event()
    for name in _ASKED:
        signal.signal(name, lambda *_: stop.set())
    return stop
