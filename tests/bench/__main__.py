"""Measure what the engine promises: `make bench`, or `python -m tests.bench [GROUP ...]`.

Ends with status 1 when a promise is not kept in this run, and with 2 when the contenders do not
answer alike.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterable

from tests.bench.targets import GROUPS, Disagreement, Result


def main() -> int:
    """Measure the groups named, or all of them."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    options = parser.parse_args()
    unknown = [group for group in options.groups if group not in GROUPS]
    if unknown:
        parser.error(f"no group {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    say(f"Python {platform.python_version()}, {os.cpu_count()} cores; each ratio is a median.")
    results = []
    try:
        for group in options.groups or GROUPS:
            for result in GROUPS[group]():
                results.append(result)
                say(line(result))
    except Disagreement as differing:
        say(f"no figures: the contenders disagree about {differing}")
        return 2
    if options.json:
        sys.stdout.write(json.dumps(wire(results), indent=2) + "\n")
    missed = [result for result in results if not result.met]
    say(f"{len(results) - len(missed)} of {len(results)} promises kept")
    return 1 if missed else 0


def say(text: str) -> None:
    """Print a line as it is known: a run takes minutes."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201  (the command's own output)


def line(result: Result) -> str:
    """Return a result as one line: what was found, what was promised, the spread, the times."""
    sign = "≥" if result.at_least else "≤"
    text = f"{'ok  ' if result.met else 'MISS'} {result.name}: {number(result.found)}"
    text += f" ({sign} {number(result.bound)})"
    measured = result.measured
    if measured is not None:
        text += f"  [{number(measured.least)} … {number(measured.most)}]"
        text += f"  {micro(measured.first)} beside {micro(measured.second)}"
    return text


def number(value: float) -> str:
    """Return a figure with as many digits as mean something."""
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}"


def micro(seconds: float) -> str:
    """Return a time in microseconds."""
    return f"{seconds * 1e6:,.2f} µs"


def wire(results: Iterable[Result]) -> list[dict[str, object]]:
    """Return results as JSON."""
    return [
        {
            "name": result.name,
            "found": result.found,
            "bound": result.bound,
            "at_least": result.at_least,
            "met": result.met,
            "measured": None if result.measured is None else result.measured._asdict(),
        }
        for result in results
    ]


if __name__ == "__main__":
    sys.exit(main())
