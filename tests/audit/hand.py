"""A process beside the workers of `test_worker`, told line by line what to do; answers in JSON.

`write N`, `state`, `get PATH`, `verify`, `free`, and `hold`, which begins to seal and never ends.
"""

import json
import sys
from collections.abc import Callable
from typing import Any, Final

import django

django.setup()

from django.db import OperationalError, transaction  # noqa: E402
from django.test import Client  # noqa: E402

from tests.audit.logs import write_records  # noqa: E402
from toolpolicy.audit import sealer  # noqa: E402
from toolpolicy.audit.verification.whole import verify  # noqa: E402
from toolpolicy.models import Block, Leaf, Record  # noqa: E402
from toolpolicy.services import health  # noqa: E402


def write(count: str) -> list[int]:
    return write_records(int(count))


def state() -> dict[str, Any]:
    """Return how many records there are, how many are sealed, and whether numbers have gaps."""
    seqs = list(Leaf.objects.order_by("seq").values_list("seq", flat=True))
    counts = list(Block.objects.order_by("number").values_list("count", flat=True))
    return {
        "records": Record.objects.count(),
        "sealed": len(seqs),
        "numbered": seqs == list(range(1, len(seqs) + 1)),
        "in_blocks": sum(counts),
    }


def get(path: str) -> str:
    """Return what a server says there; it is not ready as soon as anything waits for its seal."""
    vars(health).update(LONGEST_LAG=0)
    client = Client(headers={"host": "localhost"})
    return client.get(path, secure=True).content.decode()


def judged() -> dict[str, Any]:
    verdict = verify(full=True)
    first = verdict.first
    return {"good": verdict.good, "first": first.message if first else ""}


def free() -> bool:
    """Tell whether nobody is in the middle of a seal."""
    try:
        with transaction.atomic():
            return sealer.locked(wait=False)
    except OperationalError:  # somebody has all of SQLite
        return False


def hold() -> bool:
    """Be the sealer from now on, but for the time that PostgreSQL lets one stand still."""
    vars(sealer).update(STALLED="1s")
    transaction.set_autocommit(False)
    return sealer.locked(wait=True)


COMMANDS: Final[dict[str, Callable[..., Any]]] = {
    "write": write,
    "state": state,
    "get": get,
    "verify": judged,
    "free": free,
    "hold": hold,
}

if __name__ == "__main__":
    for line in sys.stdin:
        name, *words = line.split()
        sys.stdout.write(json.dumps(COMMANDS[name](*words)) + "\n")
        sys.stdout.flush()
