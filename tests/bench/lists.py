"""Measure the admin's lists: `python -m tests.bench.lists SMALL LARGE`, two stores.

Both are database addresses that `python -m tests.seeding` filled, for example with
`--rules 100 --tools 100 --records 100` and with nothing said. Each list is asked for in turns in
both; what counts is the shortest time, which other work on the machine does not lengthen. Ends
with status 1 when a list of the large store takes more than three times as long.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Final

import django

BOUND: Final = 3.0
TURNS: Final = 4
TIMES: Final = 5
PAST: Final = "2026-01-01T00:00"
RECORDS: Final = {
    "all": "",
    "one outcome": "?outcome=deny",
    "one that is rare": "?agent=seldom",
    "nothing found": "?channel=nowhere",
    "one tool": "?tool={tool}",
    "names that begin alike": "?tool={family}*",
    "one family": "?family={family}",
    "one channel": "?channel=channel-3",
    "one session": "?session=s-7",
    "one client": "?client=seeded+client",
    "one rule": "?rule={rule}",
    "one reason code": "?reason_code=rule_denied",
    "one hour": "?within=hour",
    "a week and an outcome": "?within=week&outcome=deny",
    "a week and a tool": "?within=week&tool={tool}",
    "a week and what is rare": "?within=week&agent=seldom",
    "a tool and an outcome": "?tool={tool}&outcome=deny",
    "until long ago": f"?until={PAST}",
    "deep inside": "?before={middle}",
}
LISTS: Final = (
    "layer",
    "rule",
    "policyversion",
    "tool",
    "toolfamily",
    "tooldeclaration",
    "ruleusage",
)


def main() -> int:
    """Compare two stores, or measure the one of `DATABASE_URL`."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.lists", description=__doc__)
    parser.add_argument("stores", nargs="*", metavar="DATABASE_URL")
    stores = parser.parse_args().stores
    if not stores:
        sys.stdout.write(json.dumps(measured()))
        return 0
    if len(stores) != 2:
        parser.error("name two stores: a small one and a large one")
    times: list[dict[str, list[float]]] = [{}, {}]
    for _ in range(TURNS):
        for store, found in zip(stores, times, strict=True):
            for name, seconds in _measured_in(store).items():
                found.setdefault(name, []).extend(seconds)
    return _told(*times)


def _told(small: dict[str, list[float]], large: dict[str, list[float]]) -> int:
    slow = 0
    for name, seconds in large.items():
        pair = [1000 * min(some) for some in (small[name], seconds)]
        ratio = pair[1] / pair[0]
        slow += ratio > BOUND
        mark = "MISS" if ratio > BOUND else "ok"
        print(f"{mark:4} {name:34} {pair[0]:7.1f} ms {pair[1]:7.1f} ms  × {ratio:.1f}")  # noqa: T201
    return 1 if slow else 0


def _measured_in(store: str) -> dict[str, list[float]]:
    command = [sys.executable, "-m", "tests.bench.lists"]
    ended = subprocess.run(
        command, env={**os.environ, "DATABASE_URL": store}, stdout=subprocess.PIPE, check=True
    )
    found: dict[str, list[float]] = json.loads(ended.stdout)
    return found


def measured() -> dict[str, list[float]]:
    """Return the seconds that each list of this process's store takes, once it is warm."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    # All need Django set up.
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    user, _ = User.objects.get_or_create(username="measuring", is_superuser=True, is_staff=True)
    client = Client()
    client.force_login(user)
    times: dict[str, list[float]] = {}
    for name, address in _addresses():
        for turn in range(TIMES + 1):
            started = time.perf_counter()
            response = client.get(address, HTTP_HOST="localhost")
            took = time.perf_counter() - started
            if response.status_code != 200:
                raise SystemExit(f"{address}: HTTP {response.status_code}")
            if turn:
                times.setdefault(name, []).append(took)
    return times


def _addresses() -> Iterator[tuple[str, str]]:
    from django.urls import reverse  # noqa: PLC0415

    from toolpolicy.models import Record  # noqa: PLC0415

    newest = Record.objects.filter(kind="decision").newest_first()
    told = newest.exclude(rule="").first() or newest[0]
    known = {"tool": newest[0].tool, "family": newest[0].family, "rule": told.rule}
    known["middle"] = str(newest[0].pk // 2)
    for name in LISTS:
        yield name, reverse(f"admin:toolpolicy_{name}_changelist")
    records = reverse("admin:toolpolicy_record_changelist")
    for name, query in RECORDS.items():
        yield f"records: {name}", records + query.format(**known)


if __name__ == "__main__":
    sys.exit(main())
