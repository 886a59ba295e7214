"""`manage.py` itself: how it ends when nobody reads what a command says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import manage
from manage import NOT_READ

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = {
    "SECRET_KEY": "nobody-guesses-this-0123456789-abcdefghijklmnopqrstuvwxyz",
    "TOOLPOLICY_SEAL_KEY": "5e" * 32,
    "DATABASE_URL": "sqlite:////absent/db.sqlite3",
}
pytestmark = pytest.mark.any_database


def run_unread(*words: str) -> tuple[int, str]:
    """Run a command whose reader went away; return its exit status and what it complains of."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=SETTINGS,
            stdout=nobody,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
        )
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", [("spectacular",), ("audit", "verifier")])
def test_a_command_whose_reader_goes_away_ends_quietly(words):
    assert run_unread(*words) == (NOT_READ, "")


def test_the_exit_status_is_the_command_s_where_nobody_reads():
    status, told = run_unread("audit", "verify")
    assert (status, told.startswith("CommandError: the database cannot be used")) == (2, True)


def test_a_broken_pipe_that_is_not_standard_output_s_is_told(monkeypatch):
    def broken(_):
        raise BrokenPipeError("of a socket")

    monkeypatch.setattr(manage, "execute_from_command_line", broken)
    with pytest.raises(BrokenPipeError, match="of a socket"):
        manage.main()


def test_a_command_may_have_no_standard_output_at_all(monkeypatch):
    monkeypatch.setattr(manage, "execute_from_command_line", lambda _: None)
    monkeypatch.setattr(sys, "stdout", None)
    manage.main()
