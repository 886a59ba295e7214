"""The suite's own switches: seeds that repeat a run, and the selection for a second database."""

import os
import re
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from hypothesis import settings as laws

from tests.reset import wait_for_answers

ROOT = Path(__file__).resolve().parent.parent
SAME_SUITE = ("-c", "pyproject.toml", "-p", "tests.conftest", "-p", "no:cacheprovider")
LAW = """
from hypothesis import given, strategies

@given(strategies.integers())
def test_law(number):
    print("tried", number)
"""
MIXED = """
import pytest
from django.test import SimpleTestCase, TestCase

def test_pure():
    pass

@pytest.mark.any_database
def test_that_would_find_the_same(db):
    pass


@pytest.mark.django_db
def test_marked():
    pass

def test_by_fixture(db):
    pass

class TestOfDjango(TestCase):
    def test_it(self):
        pass

class TestWithoutDatabase(SimpleTestCase):
    def test_it(self):
        pass
"""


def run_suite(folder: Path, source: str, *options: str, **variables: str) -> str:
    """Run one module under this suite's configuration and return what pytest said."""
    module = folder / "test_it.py"
    module.write_text(source, encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *SAME_SUITE, *options, str(module)],
        cwd=ROOT,
        env=kept | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def tried(output: str) -> list[str]:
    return re.findall(r"tried -?\d+", output)


def test_laws_have_no_deadline_and_fresh_cases_each_run():
    profile = laws.get_profile(laws.get_current_profile_name())
    assert (profile.deadline, profile.derandomize, profile.print_blob) == (None, False, True)


def test_a_seed_repeats_a_run_and_is_printed(tmp_path):
    variables = {"CI": "true", "TOOLPOLICY_SEED": "7", "TOOLPOLICY_LAW_CASES": "20"}
    first, again = (run_suite(tmp_path, LAW, "-s", **variables) for _ in range(2))
    assert "laws: 20 cases each; repeat this run with TOOLPOLICY_SEED=7" in first
    assert len(tried(first)) == 20
    assert tried(first) == tried(again)
    other = run_suite(tmp_path, LAW, "-s", **(variables | {"TOOLPOLICY_SEED": "8"}))
    assert tried(other) != tried(first)


def test_the_build_server_tries_each_law_five_thousand_times(tmp_path):
    assert "laws: 5000 cases each" in run_suite(tmp_path, "def test_it(): pass", CI="true")


def test_only_tests_that_depend_on_the_database_are_kept_for_the_second_one(tmp_path):
    said = run_suite(tmp_path, MIXED, "--only-db", "--collect-only", "-q")
    names = {
        line.rpartition("test_it.py")[2].lstrip(":") for line in said.splitlines() if "::" in line
    }
    assert names == {"test_marked", "test_by_fixture", "TestOfDjango::test_it"}
    assert "3/6 tests collected (3 deselected)" in said


def test_what_a_server_still_answers_is_waited_for_before_the_database_is_emptied():
    asked, answered = threading.Event(), threading.Event()

    class Slow(BaseHTTPRequestHandler):
        def handle(self):
            asked.set()
            time.sleep(0.2)
            answered.set()

    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        socket.create_connection(("127.0.0.1", server.server_port)).close()
        assert asked.wait(5)
        wait_for_answers()
        assert answered.is_set()
        server.shutdown()
