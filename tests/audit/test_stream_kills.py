"""A stream that is killed again and again, while records are written, loses none of them."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

from tests.api.test_processes import ROOT, environment, run  # noqa: F401  (a fixture)
from tests.conftest import SEED

KILLS = 4
BEGIN = b'{"seq":'
SEALED = """
import django; django.setup()
from toolpolicy.models import Leaf
print(Leaf.objects.count())
"""


def start(variables, what, path):
    words = (sys.executable, "-m", "tests.audit.streamer", what, str(path))
    return subprocess.Popen(words, cwd=ROOT, env=variables)


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def kill_once_it_wrote(process: subprocess.Popen[bytes], path: Path, more: int) -> None:
    enough = size(path) + more
    while process.poll() is None and size(path) < enough:
        time.sleep(0.001)
    assert process.poll() is None
    process.kill()
    process.wait()


def parsed(line: bytes) -> int | None:
    """Return the number in a whole line; None of one that a kill cut off."""
    try:
        number: int = json.loads(line)["seq"]
    except ValueError:
        return None
    return number


def test_no_record_is_lost_and_no_line_is_glued(environment, tmp_path):  # noqa: F811
    path, stop, chance = tmp_path / "records.jsonl", tmp_path / "stop", random.Random(SEED)  # noqa: S311
    writer = start(environment, "write", stop)
    for _ in range(KILLS):
        stream = start(environment, "stream", path)
        kill_once_it_wrote(stream, path, chance.randrange(1, 4000))
    stop.touch()
    assert writer.wait() == 0
    run(environment, "manage.py", "audit", "stream", "--to", str(path))
    lines = path.read_bytes().split(b"\n")[:-1]
    assert max(line.count(BEGIN) for line in lines) == 1
    found = [parsed(line) for line in lines]
    assert found.count(None) <= KILLS
    whole = dict.fromkeys(number for number in found if number is not None)
    assert list(whole) == list(range(1, int(run(environment, "-c", SEALED)) + 1))
