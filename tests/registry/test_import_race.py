"""Imports at the same time, by several processes, on both databases: none is lost."""

import json

from django.db import connection

from tests.registry.samples import named
from tests.store.test_races import output, start  # noqa: F401  (a fixture)

PROCESSES = 4
RESULT = """
import django; django.setup()
import json
from toolpolicy.models import PolicyState, Record, Tool
from toolpolicy.services import registry
print(json.dumps({
    "tools": sorted(Tool.objects.values_list("family__name", "name")),
    "live": [[entry.family, entry.name] for entry in registry.live()],
    "imports": Record.objects.filter(kind="import").count(),
}))
"""


def test_the_live_registry_holds_what_every_process_imported(start, tmp_path):  # noqa: F811
    if connection.vendor == "sqlite":
        output(start("manage.py", "migrate", "--verbosity=0"))
    importing = []
    for number in range(PROCESSES):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(named(f"run_{number}", "stop")), encoding="utf-8")
        family = f"family-{number}"
        importing.append(start("manage.py", "tools", "import", str(path), "--family", family))
    for process in importing:
        assert output(process).startswith("family-")
    result = json.loads(output(start("-c", RESULT)))
    expected = [
        [f"family-{number}", name]
        for number in range(PROCESSES)
        for name in (f"run_{number}", "stop")
    ]
    assert result == {"tools": expected, "live": expected, "imports": PROCESSES}
