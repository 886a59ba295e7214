"""Processes over one database that are killed, or many at once: nothing answered is ever lost.

`make soak` runs the same trials at full size.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

ROOT = Path(__file__).resolve().parents[2]


def address(folder: Path) -> str:
    if connection.vendor == "sqlite":
        return f"sqlite:///{folder}/trial.sqlite3"
    of = connection.settings_dict
    return f"postgresql://{of['USER']}:{of['PASSWORD']}@{of['HOST']}:{of['PORT']}/{of['NAME']}"


@pytest.fixture
def trial(tmp_path, transactional_db):
    def run(*words):
        ended = subprocess.run(
            [sys.executable, "-m", "tests.soak", *words],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": address(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert ended.stdout, ended.stderr
        return json.loads(ended.stdout)

    return run


def test_no_decision_that_was_answered_is_lost_when_processes_are_killed(trial):
    found = trial("crash", "--kills", "10")
    assert found["answered"] > 0
    assert found["lost"] == 0
    assert found["outcome"]["first"] == ""
    assert found["whole"]


def test_many_that_write_and_seal_at_once_leave_no_gap_and_no_fork(trial):
    found = trial("crowd", "--writers", "4", "--seconds", "5")
    assert found["written"] > 0
    assert found["outcome"]["first"] == ""
    assert found["whole"]


def test_the_cost_of_seals_is_told_beside_writing_without_them(trial):
    found = trial("throughput", "--writers", "2", "--seconds", "0.5")
    assert found["plain"] > 0
    assert found["sealed"] > 0
