"""Processes over one database that are killed, or many at once: nothing answered is ever lost.

`make soak` runs the same trials at full size.
"""

import json

import pytest

from tests.audit.addresses import said_by


@pytest.fixture
def trial(tmp_path, transactional_db):
    def run(*words):
        return json.loads(said_by(tmp_path, "-m", "tests.soak", *words))

    return run


def test_no_decision_that_was_answered_is_lost_when_processes_are_killed(trial):
    found = trial("crash", "--kills", "10")
    assert found["answered"] > 0
    assert found["lost"] == 0
    assert found["outcome"]["first"] == ""
    assert found["whole"]


def test_many_that_write_and_seal_at_once_leave_no_gap_and_no_fork(trial):
    found = trial("crowd", "--writers", "4", "--seconds", "5")
    assert (found["written"] > 0, found["lost"]) == (True, 0)
    assert found["outcome"]["first"] == ""
    assert found["whole"]


def test_the_cost_of_seals_is_told_beside_writing_without_them(trial):
    found = trial("throughput", "--writers", "2", "--seconds", "0.5")
    assert found["plain"] > 0
    assert found["sealed"] > 0
