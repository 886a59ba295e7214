"""Where the stream of records goes: a file that grows by whole lines, or standard output."""

import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol

OUTPUT: Final = "-"
_MODE: Final = 0o640
Write = Callable[[bytes], None]
"""Takes whole lines and returns once they will outlive a crash. Raises StreamError."""


class StreamError(Exception):
    """Lines could not be written, and why."""


class StreamBusy(StreamError):
    """Another process is writing them."""


class StreamMoved(StreamError):
    """The file was renamed while it was written: what was renamed may never be read whole."""


class LineTarget(Protocol):
    """Where lines go."""

    @property
    def name(self) -> str:
        """What the place that was reached is kept under."""

    def writing(self) -> AbstractContextManager[Write]:
        """Be the only one who writes, in a `with`. Raise StreamError."""


@dataclass(frozen=True, slots=True)
class LineFile:
    """A file. It is opened anew for each batch, so whoever rotates it only has to rename it."""

    path: Path

    @property
    def name(self) -> str:
        return str(self.path)

    @contextmanager
    def writing(self) -> Iterator[Write]:
        try:
            # Opened for reading too: its last line may lack its end.
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, _MODE)
        except OSError as error:
            raise StreamError(f"{self.path} cannot be opened: {error.strerror}") from error
        try:
            _lock(descriptor, self.path)
            yield lambda lines: self._write(descriptor, lines)
        finally:
            os.close(descriptor)

    def _write(self, descriptor: int, lines: bytes) -> None:
        try:
            _write_whole(descriptor, lines)
            os.fsync(descriptor)
            there = os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            there = False
        except OSError as error:
            raise StreamError(f"{self.path} cannot be written: {error.strerror}") from error
        if not there:
            raise StreamMoved(f"{self.path} was renamed while it was written")


def _lock(descriptor: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise StreamError(f"{path} is no regular file")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StreamBusy(f"another process writes to {path}") from None


def _write_whole(descriptor: int, lines: bytes) -> None:
    """Append lines, on a new one: after a crash, or a full disk, the last may lack its end."""
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        lines = b"\n" + lines
    rest = memoryview(lines)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@dataclass(frozen=True, slots=True)
class LineOutput:
    """Standard output, or any other stream that somebody else keeps."""

    out: BinaryIO
    name: str = OUTPUT

    @contextmanager
    def writing(self) -> Iterator[Write]:
        yield self._write

    def _write(self, lines: bytes) -> None:
        try:
            self.out.write(lines)
            self.out.flush()
        except OSError as error:
            raise StreamError(f"the output cannot be written: {error.strerror}") from error
