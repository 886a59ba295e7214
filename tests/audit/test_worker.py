"""`manage.py worker` as a process of its own: how it ends, stands by, takes over and is missed."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from tests.api.test_processes import ROOT, Server, address, run, start, wait_for
from tests.audit.logs import write_records
from toolpolicy.audit import keeping, sealer
from toolpolicy.models import Block, Leaf

PATIENCE = 120.0
"""Seconds after which a condition is given up; met ones are met in few."""
WORKER = ("manage.py", "worker")
SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.settings"}


def until(met: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.05)


class Hand:
    """The process of `tests.audit.hand`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def does(self, line: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def writes(self, count: int) -> None:
        assert len(self.does(f"write {count}")) == count

    def all_is_sealed(self) -> bool:
        found = self.does("state")
        return bool(found["records"] == found["sealed"])

    def waits_for_seals(self) -> None:
        until(self.all_is_sealed, "every record is sealed")

    def finds_the_log_whole(self) -> None:
        found = self.does("state")
        assert found["numbered"]
        assert found["in_blocks"] == found["sealed"]
        assert self.does("verify") == {"good": True, "first": ""}


@pytest.fixture(scope="module")
def migrated(tmp_path_factory, django_db_setup) -> Path | None:
    """Make SQLite's file once; a copy costs nothing."""
    if connection.vendor != "sqlite":
        return None
    folder: Path = tmp_path_factory.mktemp("migrated")
    run({**os.environ, **SETTINGS, "DATABASE_URL": address(folder)}, "manage.py", "migrate", "-v0")
    return folder


@pytest.fixture
def environment(tmp_path, transactional_db, migrated) -> dict[str, str]:
    if migrated is not None:
        shutil.copytree(migrated, tmp_path, dirs_exist_ok=True)
    return {**os.environ, **SETTINGS, "DATABASE_URL": address(tmp_path)}


@pytest.fixture
def running(environment) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start processes over one log; none outlives the test, nor what it started itself."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            words,
            cwd=ROOT,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE)


@pytest.fixture
def hand(running):
    return Hand(running(sys.executable, "-m", "tests.audit.hand"))


@pytest.fixture
def worker(running):
    """Start a worker."""
    return lambda *words: running(sys.executable, *WORKER, *words)


def ended(process: subprocess.Popen[str]) -> int:
    return process.wait(timeout=PATIENCE)


# --- ending ----------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_asked_to_end_ends_well_and_leaves_nothing_half_sealed(
    hand, worker, asked
):
    keeper = worker()
    for _ in range(3):
        hand.writes(5)
        hand.waits_for_seals()
    hand.writes(20)
    keeper.send_signal(asked)
    hand.writes(5)
    assert ended(keeper) == 0
    hand.finds_the_log_whole()
    before = hand.does("state")
    hand.writes(1)
    assert hand.does("state")["sealed"] == before["sealed"]


@pytest.mark.django_db
def test_a_round_ends_with_the_block_during_which_it_was_asked_to(monkeypatch):
    monkeypatch.setattr(sealer, "MOST", 2)
    monkeypatch.setattr(keeping, "_looks", keeping._Looks())
    write_records(7)
    stop = Event()
    stop.set()
    counts = [keeping.keep(stop=stop) for _ in range(2)]
    assert (counts, Leaf.objects.count(), Block.objects.count()) == ([2, 2], 4, 2)
    assert keeping.keep(stop=Event()) == 3


def parent_of(line: str) -> tuple[str, ...]:
    worker = " ".join((sys.executable, *WORKER))
    return ("sh", "-c", line.format(worker=worker))


@pytest.mark.parametrize("named", ["", "$$"])
def test_a_worker_ends_when_its_parent_is_killed(hand, running, named):
    # What the parent and the worker write to ends when both of them have.
    parent = running(*parent_of(f"{{worker}} --with-parent {named} & wait"))
    hand.writes(3)
    hand.waits_for_seals()
    parent.kill()
    parent.communicate(timeout=PATIENCE)
    hand.writes(1)
    assert not hand.all_is_sealed()


def test_a_worker_that_knows_its_parent_ends_though_that_was_gone_before_it_was_up(running):
    parent = running(*parent_of("{worker} --with-parent $$ &"))
    parent.communicate(timeout=PATIENCE)
    assert parent.returncode == 0


# --- several, and none -----------------------------------------------------------------------


def test_of_two_workers_one_takes_over_when_the_other_is_killed_and_the_log_never_forks(
    hand, worker
):
    keepers = [worker(), worker()]
    for kept in range(2):
        hand.writes(10)
        hand.waits_for_seals()
        keepers[kept].kill()
        ended(keepers[kept])
        hand.writes(10)
        keepers.append(worker())
    hand.waits_for_seals()
    assert [one.poll() for one in keepers[2:]] == [None, None]
    hand.finds_the_log_whole()


def stop_between_seals(keeper: subprocess.Popen[str], hand: Hand) -> None:
    """Stop a worker where it holds up nobody: not in the middle of a seal."""
    while True:
        keeper.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(keeper.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        if hand.does("free"):
            return
        keeper.send_signal(signal.SIGCONT)


def figure(hand: Hand, name: str) -> float:
    [found] = re.findall(rf"^toolpolicy_{name} (\S+)$", hand.does("get /metrics"), re.MULTILINE)
    return float(found)


def readiness(hand: Hand) -> str:
    """Return what a probe is told of seals, where none may wait."""
    return str(json.loads(hand.does("get /readyz"))["checks"]["seals"])


@pytest.fixture
def sealing_server(environment, running, tmp_path):
    """Start a server as it is without settings: it seals where no worker does."""
    own = {
        "DJANGO_SETTINGS_MODULE": "project.settings",
        "SECRET_KEY": settings.SECRET_KEY,
        "TOOLPOLICY_SEAL_KEY": settings.TOOLPOLICY_SEAL_KEY,
    }
    started: list[Server] = []

    def begin() -> None:
        server = start({**environment, **own}, tmp_path / "server.log")
        started.append(server)
        wait_for(server)

    yield begin
    for server in started:
        server.process.terminate()
        server.process.wait(timeout=PATIENCE)


def test_what_a_stopped_worker_leaves_is_shown_and_sealed_by_a_server_that_nobody_asked(
    hand, worker, sealing_server
):
    keeper = worker()
    hand.writes(3)
    hand.waits_for_seals()
    assert (figure(hand, "unsealed_records"), figure(hand, "sealed_lag_seconds")) == (0, 0)
    stop_between_seals(keeper, hand)
    hand.writes(2)
    assert figure(hand, "unsealed_records") == 2
    assert figure(hand, "sealed_lag_seconds") > 0
    assert "that is not sealed waits for" in readiness(hand)
    sealing_server()
    hand.waits_for_seals()
    assert figure(hand, "unsealed_records") == 0
    assert readiness(hand) == "ok"
    keeper.send_signal(signal.SIGCONT)
    hand.writes(2)
    hand.waits_for_seals()
    hand.finds_the_log_whole()
    keeper.terminate()
    assert ended(keeper) == 0


@pytest.mark.skipif(
    connection.vendor == "sqlite", reason="a transaction has all of SQLite, until its process ends"
)
def test_one_that_stands_still_in_the_middle_of_a_seal_holds_up_nobody_for_good(
    hand, worker, running
):
    stalled = Hand(running(sys.executable, "-m", "tests.audit.hand"))
    assert stalled.does("hold")
    stalled.process.send_signal(signal.SIGSTOP)
    keeper = worker()
    hand.writes(3)
    hand.waits_for_seals()
    hand.finds_the_log_whole()
    assert keeper.poll() is None
