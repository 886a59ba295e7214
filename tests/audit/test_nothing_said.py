"""`manage.py audit` where nothing can be judged: no database, no settings, no tables."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError

from toolpolicy.management import refusing
from toolpolicy.management.refusing import OLDER
from toolpolicy.services import sealing

ROOT = Path(__file__).resolve().parents[2]
KEY = "TOOLPOLICY_SEAL_KEY"


def run(*words: str, **variables: str) -> tuple[int, str]:
    """Run the command in a process of its own; return its exit status and what it complains of."""
    known = {"SECRET_KEY": "nobody-guesses-this-0123456789-abcdefghijklmnopqrstuvwxyz"}
    done = subprocess.run(
        [sys.executable, "manage.py", "audit", *words],
        cwd=ROOT,
        env={**known, KEY: "5e" * 32, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.fixture
def empty(tmp_path):
    return f"sqlite:///{tmp_path}/empty.sqlite3"


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({KEY: "zzz"}, f"{KEY} is no key"),
        ({KEY: "", f"{KEY}_FILE": "/absent/key"}, f"{KEY}_FILE is `/absent/key`"),
        (
            {"DATABASE_URL": "sqlite:////absent/db.sqlite3"},
            "CommandError: the database cannot be used: unable to open database file\n",
        ),
        (
            {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"},
            "CommandError: the database cannot be used: connection failed",
        ),
    ],
)
def test_a_verification_that_verified_nothing_does_not_say_that_the_log_is_broken(variables, said):
    status, told = run("verify", **variables)
    assert status == 2
    assert said in told
    assert "Traceback" not in told


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("verify",), 2),
        (("export",), 1),
        (("at", "--on", "2026-01-01"), 1),
        (("erase", "--filter", "agent=a", "--reason", "r"), 1),
    ],
)
def test_an_empty_database_is_said_to_be_one(empty, words, status):
    assert run(*words, DATABASE_URL=empty) == (status, f"CommandError: {OLDER}\n")


@pytest.mark.any_database
def test_a_traceback_is_shown_to_who_asks_for_it_and_says_no_more_of_the_log(empty):
    status, told = run("--traceback", "verify", DATABASE_URL=empty)
    assert status == 2
    assert told.startswith("Traceback")


@pytest.mark.django_db
def test_what_the_database_says_is_told_in_one_line(monkeypatch):
    def locked(**_):
        raise OperationalError("database is locked\nDETAIL: by another")

    monkeypatch.setattr(sealing, "verify", locked)
    with pytest.raises(CommandError, match=r"^the database cannot be used: database is locked$"):
        call_command("audit", "verify")


@pytest.mark.django_db
def test_what_nobody_foresaw_ends_a_verification_with_its_traceback_and_no_verdict(
    monkeypatch, capsys
):
    def wrong(**_):
        raise ZeroDivisionError

    monkeypatch.setattr(sealing, "verify", wrong)
    with pytest.raises(SystemExit) as ended:
        call_command("audit", "verify")
    assert ended.value.code == 2
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.django_db
def test_an_error_without_words_is_called_by_its_name():
    with (
        pytest.raises(CommandError, match=r"^the database cannot be used: IntegrityError$"),
        refusing.needing_database(),
    ):
        raise IntegrityError


def test_the_help_names_every_exit_status(capsys):
    with pytest.raises(SystemExit):
        call_command("audit", "verify", "--help")
    said = " ".join(capsys.readouterr().out.split())
    assert "Exit status: 0 good, 1 broken, 2 nothing is said of the log" in said
