"""Trials of the log at full size: `make soak`, or `python -m tests.soak TRIAL` on one database.

`DATABASE_URL` names it; it is migrated first. Ends with status 1 when a trial was not stood.
"""

import argparse
import json
import os
import sys
from typing import Any

import django


def main() -> int:
    """Run one trial and print what was found, as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    trials = parser.add_subparsers(dest="trial", required=True)
    crash = trials.add_parser("crash", help="kill processes that decide and seal")
    crash.add_argument("--kills", type=int, default=200)
    crowd = trials.add_parser("crowd", help="write and seal from many processes at once")
    crowd.add_argument("--writers", type=int, default=16)
    crowd.add_argument("--seconds", type=float, default=60)
    speed = trials.add_parser("throughput", help="compare writing with and without seals")
    speed.add_argument("--writers", type=int, default=4)
    speed.add_argument("--seconds", type=float, default=5)
    long = trials.add_parser("scale", help="seal, verify and prove in a long log")
    long.add_argument("--records", type=int, default=1_000_000)
    trials.add_parser("indexes", help="compare kinds of indexes (PostgreSQL, after `scale`)")
    options = vars(parser.parse_args())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    # Needs Django set up.
    from django.core.management import call_command  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    found = _found(options.pop("trial"), options)
    sys.stdout.write(json.dumps(found) + "\n")
    return 0 if found["whole"] else 1


def _found(trial: str, options: dict[str, Any]) -> dict[str, Any]:
    from tests.soak.crash import crash  # noqa: PLC0415  (as above)
    from tests.soak.crowd import crowd, throughput  # noqa: PLC0415
    from tests.soak.indexes import indexes  # noqa: PLC0415
    from tests.soak.scale import scale  # noqa: PLC0415

    if trial == "crash":
        return crash(**options).wire()
    if trial == "crowd":
        return crowd(**options).wire()
    if trial == "scale":
        return scale(**options)
    if trial == "indexes":
        return indexes()
    measured = throughput(**options)
    said = {name: round(getattr(measured, name), 2) for name in ("plain", "sealed", "ratio")}
    return {**said, "whole": True}


if __name__ == "__main__":
    sys.exit(main())
