"""The processes of `test_stream_kills`: one that writes and seals records, one that streams."""

import sys
import time
from pathlib import Path
from threading import Event

import django

django.setup()

from tests.audit.logs import sealed_log  # noqa: E402
from toolpolicy.audit import streaming  # noqa: E402
from toolpolicy.audit.line_files import LineFile  # noqa: E402


def write(stop: Path) -> None:
    """Write and seal records, a few at a time, until a file is there."""
    while not stop.exists():
        sealed_log(5)
        time.sleep(0.02)


def stream(path: Path) -> None:
    """Stream for ever, in small batches: more places to be killed at."""
    vars(streaming).update(BATCH=2, INTERVAL=0.001)
    streaming.follow(LineFile(path), Event(), say=sys.exit)


if __name__ == "__main__":
    {"write": write, "stream": stream}[sys.argv[1]](Path(sys.argv[2]))
