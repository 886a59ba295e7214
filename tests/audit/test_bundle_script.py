"""The verifier as a script by itself: its verdict, its status, and nothing else on any stream."""

import ast
import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.audit.bundles import Key, Log, canonical, some_log, written
from toolpolicy.audit import verify_bundle

LOG = some_log()
SCRIPT = Path(verify_bundle.__file__).read_text(encoding="utf-8")
GOOD = written(LOG.bundle({"tool": "send"}, complete=True))


def run(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a copy of the script where nothing else of the project is, as a stranger would."""
    (folder / "verify_bundle.py").write_text(SCRIPT, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "verify_bundle.py", *arguments],
        cwd=folder,
        env={"PYTHONIOENCODING": "ascii"},
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
    )


def test_the_script_is_read_by_python_3_9():
    assert ast.parse(SCRIPT, feature_version=(3, 9)).body != []


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_the_script_alone_reads_a_file_or_its_input(tmp_path, pack):
    (tmp_path / "b").write_bytes(pack(GOOD))
    (tmp_path / "copies").write_text(canonical(LOG.checkpoint(6)) + "\n", encoding="utf-8")
    known = ["--key", Key("log").id, "--checkpoint", "copies"]
    for ended in (run(tmp_path, "b", *known), run(tmp_path, "-", *known, stdin=pack(GOOD))):
        assert (ended.returncode, ended.stderr) == (0, b"")
        assert ended.stdout.startswith(b"GOOD: all is as it was sealed")
        assert b"unknown" not in ended.stdout


def test_the_script_names_the_first_bad_place(tmp_path):
    (tmp_path / "b").write_bytes(GOOD.replace(b'"said\\":\\"', b'"said\\":\\"!', 1))
    ended = run(tmp_path, "b")
    where = b"(altered, line 6, seq 2, block 1)"
    assert (ended.returncode, ended.stderr) == (1, b"")
    assert ended.stdout.splitlines()[0] == b"BROKEN: its text is not as sealed " + where
    told = json.loads(run(tmp_path, "b", "--json").stdout)
    assert told["place"] == {"line": 6, "seq": 2, "block": 1}


def test_nothing_in_a_bundle_acts_on_the_terminal(tmp_path):
    nasty = "\x1b[2J\u202e\r\n\u2028\x00\x7f\ud7ff"
    log = Log()
    log.record()
    log.seal(note=nasty, gaps=[nasty], segment=2)
    lines = log.bundle(sinks=[nasty])
    for sent in (
        lines,
        [{**lines[0], "log": nasty}, *lines[1:]],
        [*lines, lines[-1] | {"x": nasty}],
    ):
        (tmp_path / "b").write_bytes(written(sent))
        for ended in (run(tmp_path, "b"), run(tmp_path, "b", "--json")):
            assert ended.stderr == b""
            assert all(byte == 10 or 32 <= byte < 127 for byte in ended.stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["b", "--key", "xyz"],
        ["b", "--key", ""],
        ["b", "--key", "A" * 16],
        ["b", "--key", "0" * 65],
        ["loop"],
        ["b", "--checkpoint", "loop"],
        ["b", "--checkpoint", "."],
        ["b", "--checkpoint", ""],
        ["b", "--key", "0" * 15],
        ["b", "c"],
        ["missing"],
        ["."],
        ["ï\u202e"],
    ],
    ids=str,
)
def test_what_cannot_be_done_ends_with_2_and_a_reason(tmp_path, arguments):
    (tmp_path / "b").write_bytes(GOOD)
    (tmp_path / "loop").symlink_to("loop")
    ended = run(tmp_path, *arguments)
    assert ended.returncode == 2
    assert ended.stdout + ended.stderr != b""
    assert b"Traceback" not in ended.stderr
    assert ended.stdout.isascii()


@pytest.mark.parametrize("target", ["bundle", "link"])
def test_a_link_to_a_bundle_is_read_as_the_bundle(tmp_path, target):
    (tmp_path / "bundle").write_bytes(GOOD)
    (tmp_path / "link").symlink_to("bundle")
    assert run(tmp_path, target).returncode == 0


@pytest.mark.parametrize(("closed", "code"), [("<&-", 2), (">&-", 0), (">/dev/full", 0)])
def test_no_stream_that_is_closed_changes_what_it_found(tmp_path, closed, code):
    (tmp_path / "b").write_bytes(GOOD)
    (tmp_path / "verify_bundle.py").write_text(SCRIPT, encoding="utf-8")
    name = "-" if code else "b"
    command = f"exec {sys.executable} -I -S verify_bundle.py {name} {closed}"
    ended = subprocess.run(
        ["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, check=False, timeout=120
    )
    assert (ended.returncode, ended.stderr) == (code, b"")
