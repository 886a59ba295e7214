"""`manage.py worker`: seals records, tells the sinks, streams and prunes, until it is stopped."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, close_old_connections, connection

from toolpolicy import database_errors
from toolpolicy.audit import keeping, streaming
from toolpolicy.audit.line_files import LineFile, StreamError
from toolpolicy.audit.signing import SealRefused
from toolpolicy.conf import conf
from toolpolicy.engine.faults import quantity
from toolpolicy.management.stopping import stopped
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import Refused
from toolpolicy.services.retention import Daily


class Command(BaseCommand):
    """Keep the log sealed, and no text longer than its time."""

    help = (
        "Seal records each second, tell the sinks of checkpoints, show a sign of life when nothing "
        "happens, stream records where TOOLPOLICY_STREAM_FILE says so, and delete once a day the "
        "texts whose time is over. One a deployment is enough; more do no harm."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Read when to end."""
        parser.add_argument("--once", action="store_true", help="do one round and end")
        parser.add_argument(
            "--with-parent",
            nargs="?",
            type=int,
            const=0,
            metavar="PID",
            help="end when the process that started it ends; with its id, also when that ended "
            "before this one was up",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do round after round; a refusal or a fault is said once and tried again."""
        del args
        if options["once"]:
            self._once()
            return
        stop, orphaned = stopped(), _orphaned(options["with_parent"])
        self._start_streaming(stop)
        said, pruning = "", Daily(Actor.system("worker"))
        while not stop.wait(keeping.INTERVAL):
            if orphaned():
                return
            fault = _round(pruning, stop)
            if fault and fault != said:
                self.stderr.write(fault)
            said = fault

    def _once(self) -> None:
        try:
            self.stdout.write(f"sealed {keeping.keep()} records")
        except SealRefused as error:
            raise CommandError(f"the log is not sealed: {error}") from error
        if target := conf().stream_file:
            try:
                count = streaming.stream_all(LineFile(Path(target)))
            except StreamError as error:
                self.stderr.write(f"the records are not streamed: {error}")
            else:
                self.stdout.write(f"streamed {quantity(count, 'record')}")

    def _start_streaming(self, stop: threading.Event) -> None:
        """Stream in a thread of its own: a slow disk must not hold up the seals."""
        if not (target := conf().stream_file):
            return

        def say(fault: str) -> None:
            self.stderr.write(f"the records are not streamed: {fault}")

        arguments = (LineFile(Path(target)), stop, say)
        threading.Thread(
            target=streaming.follow, args=arguments, name="stream", daemon=True
        ).start()


def _orphaned(parent: int | None) -> Callable[[], bool]:
    """Return what tells whether the parent has ended: None is nobody's, 0 whose child this is."""
    if parent is None:
        return lambda: False
    expected = parent or os.getppid()
    return lambda: os.getppid() != expected


def _round(pruning: Daily, stop: threading.Event) -> str:
    """Do one round and return what was wrong, empty when nothing was."""
    try:
        close_old_connections()
        keeping.keep(stop=stop)
        pruning.step()
    except SealRefused as error:
        return f"the log is not sealed: {error}"
    except Refused as error:
        return f"no text is deleted today: {'; '.join(one.message for one in error.faults)}"
    except (DatabaseError, OSError) as error:
        connection.close()
        return f"the log is not sealed: {database_errors.summary(error)}"
    return ""
