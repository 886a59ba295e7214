"""Several processes that change the policy at the same time lose nothing, on both databases."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
PROCESSES = 3
TIMES = 8
PREPARE = """
import django; django.setup()
from tests.factories import make_layer, make_rule
print(make_rule(make_layer(), id="counter", reason="0").pk)
"""
RESULT = """
import django; django.setup()
import json
from toolpolicy.models import PolicyVersion, Record, Rule
from toolpolicy.services import policies
writers, changes = {}, Record.objects.filter(kind="change")
for writer, n in Record.objects.values_list("writer_id", "writer_n"):
    writers.setdefault(writer, []).append(n)
print(json.dumps({
    "counter": Rule.objects.get(rule_id="counter").reason,
    "positions": sorted(Rule.objects.values_list("position", flat=True)),
    "versions": sorted(PolicyVersion.objects.values_list("number", flat=True)),
    "live": policies.live().number,
    "same": json.loads(policies.live().document.text) == policies.working_document(),
    "records": sorted(changes.values_list("policy_version", flat=True)),
    "writers": sorted(sorted(numbers) for numbers in writers.values()),
}))
"""


def address(tmp_path):
    if connection.vendor == "sqlite":
        return f"sqlite:///{tmp_path}/race.sqlite3"
    of = connection.settings_dict
    return f"postgresql://{of['USER']}:{of['PASSWORD']}@{of['HOST']}:{of['PORT']}/{of['NAME']}"


@pytest.fixture
def start(tmp_path, transactional_db):
    environment = {
        **os.environ,
        "DATABASE_URL": address(tmp_path),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }

    def popen(*arguments):
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return popen


def output(process):
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    return out


def test_no_change_of_a_rule_is_lost_and_every_version_has_its_record(start):
    if connection.vendor == "sqlite":
        output(start("manage.py", "migrate", "--verbosity=0"))
    rule = output(start("-c", PREPARE)).strip()
    racers = [start("-m", "tests.store.racer", rule, str(TIMES)) for _ in range(PROCESSES)]
    for racer in racers:
        output(racer)
    result = json.loads(output(start("-c", RESULT)))
    total = PROCESSES * TIMES
    versions = list(range(1, 2 + 2 * total + 1))
    assert result == {
        "counter": str(total),
        "positions": list(range(total + 1)),
        "versions": versions,
        "live": versions[-1],
        "same": True,
        "records": versions,
        "writers": [[1, 2], *[list(range(1, 2 * TIMES + 1))] * PROCESSES],
    }
