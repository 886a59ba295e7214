"""Places outside the database that keep the newest signed block: what a rewritten log meets.

A checkpoint is a signed block as one line. Which sinks there are is a setting; how far each was
told is in `SinkState`, for people to see and never believed when the log is judged.
"""

import fcntl
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from toolpolicy.audit import https
from toolpolicy.audit.blocks import parse, parse_line
from toolpolicy.conf import conf

logger = logging.getLogger("toolpolicy.checkpoint")
# More than the longest line: a block with its counts, gaps and note.
_TAIL: Final = 1024 * 1024


class SinkError(Exception):
    """A sink could not be told or read, and why."""


class Sink(Protocol):
    """One place outside the database."""

    @property
    def name(self) -> str:
        """A short word for it."""

    @property
    def local(self) -> bool:
        """Whether telling it takes no network."""

    def newest(self) -> str | None:
        """Return the newest line it holds; None when it holds none or cannot be asked."""

    def lines(self) -> Iterator[str]:
        """Yield every line it holds, oldest first, as far as it can be asked. Raise SinkError."""

    def tell(self, line: str) -> None:
        """Keep a line durably. Raise SinkError."""


@dataclass(frozen=True, slots=True)
class FileSink:
    """A file that is only ever appended to, best on another disk or host."""

    path: Path
    name: str = "file"
    local: bool = True

    def newest(self) -> str | None:
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
                tail = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SinkError(f"the checkpoint file cannot be read: {error.strerror}") from error
        # A line that was cut off by a crash is no line.
        whole = tail[: tail.rfind(b"\n") + 1].split(b"\n")
        lines = [line for line in whole if line.strip()]
        return lines[-1].decode("utf-8", "replace") if lines else None

    def lines(self) -> Iterator[str]:
        try:
            with self.path.open(encoding="utf-8", errors="replace") as file:
                yield from (line for line in file if line.strip() and line.endswith("\n"))
        except FileNotFoundError:
            return
        except OSError as error:
            raise SinkError(f"the checkpoint file cannot be read: {error.strerror}") from error

    def tell(self, line: str) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                # Two processes can hold two blocks: the file ends with the newer one.
                fcntl.flock(file, fcntl.LOCK_EX)
                if number_of(self.newest()) >= number_of(line):
                    return
                # After a crash the last line may lack its end.
                broken = file.tell() > 0 and not self._ends_whole()
                file.write((b"\n" if broken else b"") + line.encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise SinkError(f"the checkpoint file cannot be written: {error.strerror}") from error

    def _ends_whole(self) -> bool:
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"


def number_of(line: str | None) -> int:
    """Return the number of the block that a line is about; 0 when it is about none."""
    try:
        return parse(parse_line(line)[0]).n if line else 0
    except ValueError:
        return 0


@dataclass(frozen=True, slots=True)
class LogSink:
    """A line in the server's log, for what collects logs elsewhere."""

    name: str = "log"
    local: bool = True

    def newest(self) -> str | None:
        return None

    def lines(self) -> Iterator[str]:
        return iter(())

    def tell(self, line: str) -> None:
        logger.info("%s", line)


@dataclass(frozen=True, slots=True)
class UrlSink:
    """A server that takes lines by POST; it answers 409 when it holds a newer one."""

    url: str
    networks: tuple[str, ...]
    name: str = "url"
    local: bool = False

    def newest(self) -> str | None:
        return None

    def lines(self) -> Iterator[str]:
        return iter(())

    def tell(self, line: str) -> None:
        try:
            status = https.post(self.url, line.encode() + b"\n", self.networks)
        except OSError as error:
            raise SinkError(f"the checkpoint server cannot be told: {error}") from error
        if status == https.CONFLICT:
            raise SinkError("the checkpoint server says that it holds a newer checkpoint")
        if not https.is_success(status):
            raise SinkError(f"the checkpoint server answered {status}")


def checkpoint_file(log: str) -> Path | None:
    """Return where the checkpoint file of a log is; None where the settings name none."""
    path = conf().checkpoint_file
    return Path(path.replace("{log}", log)).absolute() if path else None


def sinks(log: str) -> Iterator[Sink]:
    """Yield the sinks of the settings; `{log}` in the file's path is the log's id."""
    values = conf()
    path = checkpoint_file(log)
    if path is not None:
        yield FileSink(path)
    if values.checkpoint_log:
        yield LogSink()
    if values.checkpoint_url:
        yield UrlSink(values.checkpoint_url, values.checkpoint_networks)
