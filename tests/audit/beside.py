"""A log verified by one process and by several: `python -m tests.audit.beside` prints their words.

The others see only what is committed, in a database that they can open: no test's transaction.
"""

import json
import os
import sys
from concurrent.futures import BrokenExecutor
from typing import Any

import django

HANDS = {
    "a column": "UPDATE toolpolicy_record SET tool = 'x' WHERE id = (SELECT record_id FROM"
    " toolpolicy_leaf WHERE seq = 7)",
    "a text": "UPDATE toolpolicy_recordbody SET text = '{}' WHERE record_id = (SELECT record_id"
    " FROM toolpolicy_leaf WHERE seq = 2)",
    "a text gone": "DELETE FROM toolpolicy_recordbody WHERE record_id = (SELECT record_id FROM"
    " toolpolicy_leaf WHERE seq = 20)",
    "a leaf": "UPDATE toolpolicy_leaf SET hash = 'x' WHERE seq = 15",
    "a leaf gone": "DELETE FROM toolpolicy_leaf WHERE seq = 30",
    "a block": "UPDATE toolpolicy_block SET text = '{}' WHERE number = 4",
    "a block gone": "DELETE FROM toolpolicy_block WHERE number = 9",
}


def _by_one_and_two(verify: Any) -> list[Any]:
    found = [verify(full=True, processes=processes).wire() for processes in (1, 2)]
    # How far back is looked for what waits depends on the clock.
    return [{**wire, "waiting": None} for wire in found]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    # Need Django set up.
    from django.core.management import call_command  # noqa: PLC0415

    from tests.audit.logs import sealed_log, tampering, write_records  # noqa: PLC0415
    from toolpolicy.audit.verification import crew, spans  # noqa: PLC0415
    from toolpolicy.audit.verification.whole import verify  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    crew.ALONE, spans.RECORDS_AT_ONCE = 0, 4  # type: ignore[misc]  # a short log is a long one
    sealed_log(*[3] * 12)
    write_records(2)
    said: dict[str, Any] = {"good": _by_one_and_two(verify)}
    with tampering() as cursor:
        for statement in HANDS.values():
            cursor.execute(statement)
    said["bad"] = _by_one_and_two(verify)
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.no_settings"
    try:
        said["broken"] = verify(full=True, processes=2).wire()
    except BrokenExecutor as error:
        said["broken"] = type(error).__name__
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main()
