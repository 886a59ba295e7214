"""Processes over one database: forked when all is imported, ended or killed at will.

What a child says goes to a file of its own, past every buffer: it is there when the child is not.
"""

import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.db import connections

Say = Callable[[str], None]
Work = Callable[[Say], None]
FAULT: Final = "fault: "


@dataclass(frozen=True, slots=True)
class Child:
    """One process and the file that it writes to."""

    pid: int
    said_in: Path

    def kill(self) -> None:
        """End it without a warning, and wait until it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def wait(self) -> None:
        """Wait until it ends. Raise RuntimeError when it did not end well."""
        _, status = os.waitpid(self.pid, 0)
        if status != 0:
            raise RuntimeError("\n".join(self.lines()) or f"a child ended with {status}")

    def lines(self) -> list[str]:
        """Return the whole lines that it said."""
        text = self.said_in.read_text(encoding="utf-8")
        return text[: text.rfind("\n") + 1].splitlines()


def start(work: Work) -> Child:
    """Do some work in a new process, with connections of its own."""
    connections.close_all()
    file, name = tempfile.mkstemp(prefix="toolpolicy-soak-")
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        os.close(file)
        return Child(pid, Path(name))
    code = 1
    try:
        work(lambda text: _write(file, text))
        code = 0
    except Exception:  # noqa: BLE001  (the parent is told, whatever it is)
        _write(file, FAULT + traceback.format_exc())
    finally:
        os._exit(code)


def _write(file: int, text: str) -> None:
    os.write(file, text.encode() + b"\n")
