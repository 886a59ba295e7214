"""Several processes that edit one tool and its family at the same time, on both databases."""

import json

from django.db import connection

from tests.store.test_races import output, start  # noqa: F401  (a fixture)

PROCESSES = 3
TIMES = 6
PREPARE = """
import django; django.setup()
from tests.registry.samples import imported, named
imported(named("run"))
"""
RESULT = """
import django; django.setup()
import json
from toolpolicy.models import Record
from toolpolicy.services import registry
tool = registry.find_tool("box", "run")
print(json.dumps({
    "tags": sorted(tool.overrides["tags"]),
    "words": sorted(tool.family.description.split()),
    "versions": [tool.version, tool.family.version],
    "live": sorted(registry.live().resolve("run").entry.subject.tags),
    "changes": Record.objects.filter(kind="change").count(),
}))
"""


def test_no_change_of_a_tool_or_family_is_lost_and_each_has_its_record(start):  # noqa: F811
    if connection.vendor == "sqlite":
        output(start("manage.py", "migrate", "--verbosity=0"))
    output(start("-c", PREPARE))
    racers = [
        start("-m", "tests.registry.racer", str(number), str(TIMES)) for number in range(PROCESSES)
    ]
    for racer in racers:
        output(racer)
    result = json.loads(output(start("-c", RESULT)))
    said = sorted(f"{number}-{n}" for number in range(PROCESSES) for n in range(TIMES))
    assert result == {
        "tags": said,
        "words": said,
        "versions": [1 + len(said), 1 + len(said)],
        "live": said,
        "changes": 2 * len(said),
    }
