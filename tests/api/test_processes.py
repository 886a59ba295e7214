"""Two server processes over one database: what one has published, the other decides by.

500 publications through one server while another is asked all the time. An answer may name no
older version than the newest one that was acknowledged before it was asked for, and says what that
version says.
"""

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
PUBLICATIONS = 500
ASKERS = 2
PAUSE = 0.005  # seconds before each asks again, so that they do not only wait for each other
PATIENCE = 60  # seconds until a server answers
PREPARE = """
import django; django.setup()
import json
from tests.factories import SYSTEM, make_layer, make_rule
from toolpolicy.services import clients
rule = make_rule(make_layer(), id="flips", match={"name": "send_mail"})
scopes = ["decide", "policy:read", "policy:write"]
client, key = clients.create(actor=SYSTEM, values={"name": "both", "scopes": scopes})
print(json.dumps({"rule": rule.pk, "key": key}))
"""
COUNT = """
import django; django.setup()
from toolpolicy.models import Record
print(Record.objects.filter(kind="decision").count())
"""
QUESTION = {"surface": "call", "tool": "send_mail"}


def address(folder: Path) -> str:
    if connection.vendor == "sqlite":
        return f"sqlite:///{folder}/processes.sqlite3"
    of = connection.settings_dict
    return f"postgresql://{of['USER']}:{of['PASSWORD']}@{of['HOST']}:{of['PORT']}/{of['NAME']}"


@dataclass
class Server:
    """One server process, as a client sees it."""

    port: int
    process: subprocess.Popen[str]

    def send(self, key: str, method: str, path: str, body: object) -> tuple[int, dict[str, object]]:
        """Send one request over a connection of its own."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            line.request(method, path, json.dumps(body).encode(), headers)
            response = line.getresponse()
            return response.status, json.loads(response.read())
        finally:
            line.close()


@pytest.fixture
def environment(tmp_path, transactional_db):
    found = {
        **os.environ,
        "DATABASE_URL": address(tmp_path),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    if connection.vendor == "sqlite":
        run(found, "manage.py", "migrate", "--verbosity=0")
    return found


def run(environment, *arguments):
    ended = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture
def servers(environment, tmp_path):
    started = [start(environment, tmp_path / f"server-{number}.log") for number in range(2)]
    try:
        for server in started:
            wait_for(server)
        yield started
    finally:
        for server in started:
            server.process.terminate()
        for server in started:
            server.process.wait(timeout=PATIENCE)


def start(environment, log):
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    with log.open("w") as output:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "gunicorn", "project.wsgi", "--bind", f"127.0.0.1:{port}"),
                *("--workers", "1", "--worker-class", "gthread", "--threads", "4"),
                *("--no-control-socket", "--log-level", "warning"),
            ],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=output,
            text=True,
        )
    return Server(port, process)


def wait_for(server):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", server.port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server did not start")


@dataclass
class Log:
    """What was published and acknowledged, and what was answered in the meantime."""

    denies: dict[int, bool]
    published: int
    answers: list[tuple[int, int, str]] = field(default_factory=list)
    faults: list[object] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)


def publish(server, made, log):
    version, enabled = 2, True
    for _ in range(PUBLICATIONS):
        enabled = not enabled
        change = {"enabled": enabled, "version": version}
        status, saved = server.send(made["key"], "PATCH", f"/api/v1/rules/{made['rule']}/", change)
        if status != 200:
            log.faults.append((status, saved))
            break
        version = saved["version"]
        log.denies[saved["policy"]["version"]] = enabled
        log.published = saved["policy"]["version"]
    log.done.set()


def ask(server, made, log):
    while not log.done.is_set():
        seen = log.published
        status, answer = server.send(made["key"], "POST", "/api/v1/decisions/", QUESTION)
        if status == 200:
            log.answers.append((seen, answer["policy"]["version"], answer["outcome"]))
        else:
            log.faults.append((status, answer))
        time.sleep(PAUSE)


def test_no_answer_is_older_than_what_was_published_before_it(environment, servers):
    made = json.loads(run(environment, "-c", PREPARE))
    log = Log(denies={2: True}, published=2)
    threads = [threading.Thread(target=publish, args=(servers[0], made, log))]
    threads += [threading.Thread(target=ask, args=(servers[1], made, log)) for _ in range(ASKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert log.faults == []
    assert log.published == 2 + PUBLICATIONS
    assert [one for one in log.answers if one[1] < one[0]] == []
    wrong = [one for one in log.answers if (one[2] == "deny") != log.denies[one[1]]]
    assert wrong == []
    assert len({version for _, version, _ in log.answers}) > 20
    assert int(run(environment, "-c", COUNT)) == len(log.answers)
