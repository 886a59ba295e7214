"""A line on a terminal that says what a long command is doing, and is gone when it ends."""

import shutil
import time
from collections.abc import Mapping
from threading import Event, Thread
from types import TracebackType
from typing import Any, Final, Self

from django.core.management.base import OutputWrapper

# In seconds. What ends sooner needs no line.
AFTER: Final = 1.0
EVERY: Final = 0.2


class Progress:
    """Says what it is told, with the seconds since the start, on the standard error given.

    Nothing where that is no terminal (a file, a pipe, a build server), with `--json` or with
    `--verbosity 0`. The line is drawn by a thread, so that it goes on through one long step.
    """

    def __init__(self, stream: OutputWrapper, options: Mapping[str, Any]) -> None:
        self._stream = stream
        self._shown = stream.isatty() and options["verbosity"] > 0 and not options["json"]
        self._doing = ""
        self._width = 0
        self._over = Event()
        self._thread = Thread(target=self._draw, daemon=True)

    def __call__(self, doing: str) -> None:
        """Take what is being done now."""
        self._doing = doing

    def __enter__(self) -> Self:
        if self._shown:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            self._over.set()
            self._thread.join()

    def _draw(self) -> None:
        start = time.monotonic()
        wait = AFTER
        while not self._over.wait(wait):
            wait = EVERY
            self._write(f"{self._doing} … {time.monotonic() - start:.0f} s")
        if self._width:
            self._write("")
            self._write("")

    def _write(self, text: str) -> None:
        """Put a text over the one before, on one line whatever the terminal's width."""
        line = text[: shutil.get_terminal_size().columns - 1]
        self._stream.write(f"\r{line.ljust(self._width)}", style_func=str, ending="")
        self._stream.flush()
        self._width = len(line)
