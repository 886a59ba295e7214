"""A bundle over a part of the log that a repair closed: broken, named, and proven behind that."""

import gzip
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest

from tests.audit.bundles import Key, Line, Log, canonical, hash_of, judged, some_log, written
from toolpolicy.audit import verify_bundle

pytestmark = pytest.mark.usefixtures("signatures_once")
LOG = some_log()  # block 4 closes a segment: "the disk was full"
REPAIR = 4
Change = Callable[[list[Line]], object]


@pytest.fixture
def judge(tmp_path):
    return lambda lines: judged(tmp_path, written(lines))


def of_block(lines: Sequence[Line], n: int) -> int:
    text = canonical(LOG.blocks[n - 1])
    return next(at for at, line in enumerate(lines) if line.get("block") == text)


def of_record(lines: Sequence[Line], seq: int) -> int:
    return next(at for at, line in enumerate(lines) if line.get("seq") == seq)


def alter_record(lines: list[Line], seq: int) -> None:
    at = of_record(lines, seq)
    header = [*lines[at]["header"]]
    header[12] += "x"
    lines[at] = {**lines[at], "header": header}


def alter_block(lines: list[Line], n: int) -> None:
    at = of_block(lines, n)
    lines[at] = {**lines[at], "block": lines[at]["block"].replace('"v":1', '"v": 1')}


def lose_block(lines: list[Line], n: int) -> None:
    start, end = of_block(lines, n), of_block(lines, n + 1)
    del lines[start:end]


BREAKS: dict[str, tuple[Change, Line]] = {
    "a record": (lambda lines: alter_record(lines, 2), {"seq": 2, "block": 1}),
    "a later record": (lambda lines: alter_record(lines, 7), {"seq": 7, "block": 2}),
    "a record gone": (lambda lines: lines.pop(of_record(lines, 4)), {"seq": 4}),
    "the first block": (lambda lines: alter_block(lines, 1), {"block": 1}),
    "a block": (lambda lines: alter_block(lines, 2), {"block": 2}),
    "the last block before": (lambda lines: alter_block(lines, 3), {"block": 3}),
    "a block gone": (lambda lines: lose_block(lines, 2), {"block": 2}),
    "the last block gone": (lambda lines: lose_block(lines, 3), {"block": 3}),
}


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("name", BREAKS)
def test_a_break_that_a_repair_closed_is_named_and_what_follows_is_proven(judge, name, complete):
    lines = LOG.bundle(complete=complete)
    change, place = BREAKS[name]
    if name == "a record gone" and not complete:
        return  # nothing can tell
    change(lines)
    found = judge(lines)
    assert (found["verdict"], found["exit"]) == ("broken", 1)
    assert place.items() <= found["place"].items()
    assert [one["closed_by"] for one in found["breaks"]] == [REPAIR], found["breaks"]
    assert found["proven"][2] == 9
    assert "note of block 4: 'the disk was full'" in found["notes"]
    assert found["until"] == [6, LOG.blocks[5]["at"]]


def test_what_holds_of_the_broken_part_is_counted_too(judge):
    lines = LOG.bundle(complete=True)
    alter_record(lines, 7)
    assert judge(lines)["proven"] == {1: 5, 2: 9}


def test_each_block_that_is_broken_is_named(judge):
    lines = LOG.bundle(complete=True)
    for seq in (2, 4, 7, 10, 16):
        alter_record(lines, seq)
    breaks = judge(lines)["breaks"]
    named = [(one["kind"], one["place"]["seq"], one["closed_by"]) for one in breaks]
    # The first of each block; nobody closed those behind the repair.
    assert named == [("altered", 2, 4), ("altered", 7, 4), ("altered", 10, 0), ("altered", 16, 0)]


def test_a_break_behind_the_repair_is_closed_by_none(judge):
    lines = LOG.bundle(complete=True)
    alter_record(lines, 10)
    found = judge(lines)
    assert [one["closed_by"] for one in found["breaks"]] == [0]
    assert found["proven"] == {1: 8, 2: 2}


def test_from_the_repair_on_the_log_is_good(judge):
    found = judge(LOG.bundle({"first": 9}, complete=True))
    assert found["exit"] == 0
    assert "note of block 4: 'the disk was full'" in found["notes"]


def test_the_chain_behind_a_broken_record_still_counts(judge):
    other = some_log(denied=2)  # the same keys, another history
    lines = LOG.bundle(complete=True)
    alter_record(lines, 2)
    at = of_block(lines, 2)
    later = other.bundle(complete=True)
    start = next(n for n, line in enumerate(later) if '"n":2,' in line.get("block", ""))
    found = judge([*lines[:at], *later[start:-1]])
    kinds = [(one["what"].split(":")[0], one["closed_by"]) for one in found["breaks"]]
    assert kinds == [
        ("its header is not as sealed", REPAIR),
        ("it does not follow block 1", REPAIR),
    ]


def test_a_repair_that_goes_on_after_what_a_restored_backup_lacks(judge):
    log = Log()
    for _ in range(3):
        log.record()
        log.seal()
    log.record()
    log.seal(segment=2, note="restored from the backup of Monday")
    lines = log.bundle(complete=True)
    start = next(n for n, line in enumerate(lines) if '"n":2,' in line.get("block", ""))
    found = judge([*lines[:start], *lines[start + 4 :]])
    assert (found["kind"], found["place"]["block"]) == ("missing", 2)
    assert [one["closed_by"] for one in found["breaks"]] == [4]
    assert found["proven"] == {1: 1, 2: 1}


def test_a_repair_signed_with_a_key_that_was_replaced_repairs_nothing(judge):
    log = Log()
    thief = log.key
    log.record()
    log.rotate("log 2")
    log.seal()
    log.key = thief
    log.record()
    log.seal(segment=2, note="nothing happened")
    lines = log.bundle(complete=True)
    at = of_record(lines, 1)
    lines[at] = {**lines[at], "header": [*lines[at]["header"][:-1], "x"]}
    found = judge(lines)
    assert {one["closed_by"] for one in found["breaks"]} == {0}
    assert [one["kind"] for one in found["breaks"]] == ["altered", "inserted"]


def test_a_segment_that_begins_without_a_break_before_is_told_in_a_note_alone(judge):
    found = judge(LOG.bundle(complete=True))
    assert (found["exit"], found["breaks"]) == (0, [])
    log = Log()
    log.record()
    log.seal()
    log.record()
    log.seal(segment=2, note="x", previous=hash_of(b"\2", "another"))
    found = judge(log.bundle(complete=True))
    assert (found["exit"], found["place"]["block"]) == (1, 2)
    assert [one["closed_by"] for one in found["breaks"]] == [2]


def test_no_more_breaks_are_named_than_a_reader_reads(judge, monkeypatch):
    log = Log()
    for _ in range(30):
        log.record()
        log.seal()
    lines = log.bundle(complete=True)
    for seq in range(1, 31):
        alter_record(lines, seq)
    found = judge(lines)
    assert (found["exit"], len(found["breaks"])) == (1, verify_bundle.MOST)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_the_script_names_each_break_of_a_file_and_the_first_of_its_input(tmp_path, pack):
    lines = LOG.bundle(complete=True)
    alter_record(lines, 2)
    alter_record(lines, 7)
    path = tmp_path / "bundle"
    path.write_bytes(pack(written(lines)))
    for name, breaks in ((str(path), 2), ("-", 1)):
        ended = subprocess.run(
            [sys.executable, "-I", "-S", verify_bundle.__file__, name, "--key", Key("log").id],
            input=path.read_bytes(),
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert (ended.returncode, ended.stderr) == (1, b"")
        told = ended.stdout.decode().splitlines()
        assert told[0].startswith("BROKEN: its header is not as sealed (altered, line")
        assert [line.split(":")[0] for line in told].count("BROKEN") == breaks
        repaired = [line for line in told if line.startswith("repaired")]
        assert repaired == ["repaired: block 4 closed the log before it"] * (breaks - 1)
