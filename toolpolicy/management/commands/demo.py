"""`manage.py demo`: an invented company's tools and rules, to look around in."""

import json
import os
import shlex
import sys
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from toolpolicy.engine.faults import quantity
from toolpolicy.services import demo, demo_traffic
from toolpolicy.services.actors import Actor
from toolpolicy.services.demo import DemoReport
from toolpolicy.services.errors import ServiceError
from toolpolicy.services.first_question import SERVER, curl_line

MOST_CALLS = 100_000
# A local run needs it in its environment; `make run` sets it for its own commands only.
DEBUG = "TOOLPOLICY_DEBUG"


def calls(text: str) -> int:
    """Read a number of calls."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= MOST_CALLS:
        msg = f"`{text}` is no number from 1 to {MOST_CALLS}"
        raise ArgumentTypeError(msg)
    return int(text)


class Command(BaseCommand):
    """Load the demo once, and say what to ask it."""

    help = (
        "Load the demo: the tools and rules of an invented company. Does nothing where the demo, or"
        " somebody's own policy, is already."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--restore", action="store_true", help="put back what is missing of a loaded demo"
        )
        parser.add_argument("--url", default=SERVER, help="the server's address in the example")
        parser.add_argument(
            "--traffic", type=calls, metavar="N", help="then decide N calls, all recorded"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        del args
        actor = Actor.system("demo")
        try:
            self._load(actor, restore=options["restore"], url=options["url"])
            if options["traffic"]:
                self._traffic(options["traffic"], actor)
        except ServiceError as error:
            raise CommandError(str(error)) from error

    def _load(self, actor: Actor, *, restore: bool, url: str) -> None:
        loaded = demo.is_loaded()
        if loaded and not restore:
            self.stdout.write("demo: already here, nothing added (--restore adds what is missing)")
        elif not loaded and (others := demo.others()):
            named = ", ".join(f"`{name}`" for name in others[:3])
            self.stdout.write(f"demo: not loaded, this policy is somebody's own ({named})")
        else:
            self._report(demo.load(actor=actor))
            self._examples(actor, url)

    def _report(self, report: DemoReport) -> None:
        tools = sum(report.families.values())
        self.stdout.write(
            f"demo: added {len(report.families)} families with {tools} tools and"
            f" {len(report.layers)} layers; the policy is at {report.version}"
        )
        for name, count in report.families.items():
            self.stdout.write(f"  family {name}: {quantity(count, 'tool')}")
        for name in report.layers:
            self.stdout.write(f"  layer {name}")

    def _examples(self, actor: Actor, url: str) -> None:
        self.stdout.write("\ntry:")
        asked = demo_traffic.examples()
        for example in asked:
            answer = demo_traffic.ask({**example.ask, "dry_run": True}, asker=actor)
            self.stdout.write(f"\n# {example.about}")
            self.stdout.write(decide_command(example.ask))
            self.stdout.write(f"-> {answer.outcome} ({answer.reason_code}): {answer.message}")
        question = {"surface": "call", **asked[0].ask}
        self.stdout.write("\n# the first one over REST, with the key that `manage.py setup` showed")
        self.stdout.write(curl_line("$KEY", server=url, question=question))

    def _traffic(self, count: int, actor: Actor) -> None:
        outcomes = demo_traffic.make_traffic(count, asker=actor)
        counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))
        self.stdout.write(f"demo: {quantity(count, 'call')} decided and recorded: {counts}")


def decide_command(ask: dict[str, Any]) -> str:
    """Return the shell command that asks the same, as it runs here."""
    words = [f"{DEBUG}=1"] if os.environ.get(DEBUG) else []
    words += [_python(), "manage.py", "decide", "--tool", ask["tool"]["name"]]
    words += ["--args", json.dumps(ask["arguments"])]
    for key, value in ask["context"].items():
        words += ["--context", f"{key}={value}"]
    return shlex.join(words)


def _python() -> str:
    """Return the interpreter that runs this, as short as it can be typed here."""
    here, python = Path.cwd(), Path(sys.executable)
    return str(python.relative_to(here) if python.is_relative_to(here) else python)
