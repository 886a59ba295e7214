"""Every sealed record is streamed as a line, at least once, whatever happens to the file."""

import fcntl
import json
import os
import resource
from contextlib import contextmanager
from io import BytesIO
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.db import connection

from tests.audit.logs import sealed_log, tampering, write_records
from tests.audit.taking import prune
from tests.audit.test_exports import HOSTILE
from toolpolicy.audit import sealer, streaming
from toolpolicy.audit.headers import NAMES
from toolpolicy.audit.line_files import LineFile, LineOutput, StreamBusy, StreamError
from toolpolicy.audit.streaming import stream_all
from toolpolicy.models import Leaf, Record, StreamState
from toolpolicy.services import streams
from toolpolicy.services.records import document_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path):
    return LineFile(tmp_path / "records.jsonl")


def lines(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    assert not text or text.endswith("\n")
    return [json.loads(line) for line in text.split("\n")[:-1]]


def numbers(path: Path) -> list[int]:
    return [line["seq"] for line in lines(path)]


def test_records_come_in_the_order_of_the_log_with_what_they_say(file):
    write_records(2, tool="mail_send")
    sealed_log(1)
    assert stream_all(file) == 3
    assert numbers(file.path) == [1, 2, 3]
    first = lines(file.path)[0]
    record = Record.objects.get(leaf__seq=1)
    assert list(first) == ["seq", *NAMES, "body"]
    assert (first["uid"], first["tool"], first["text_hash"]) == (
        str(record.uid),
        "mail_send",
        record.leaf_hash,
    )
    assert first["body"] == document_of(record)


def test_only_what_is_new_is_written_the_next_time(file):
    sealed_log(2)
    stream_all(file)
    assert stream_all(file) == 0
    sealer.seal_all()
    assert stream_all(file) == 1
    assert lines(file.path)[-1]["body"]["action"] == "stream_begun"
    sealed_log(2)
    assert stream_all(file) == 2
    assert numbers(file.path) == [1, 2, 3, 4, 5]
    assert Record.objects.filter(kind="export").count() == 1


def test_what_is_not_sealed_waits(file):
    write_records(2)
    assert stream_all(file) == 0
    sealer.seal_all()
    assert stream_all(file) == 3


def test_a_large_backlog_is_written_batch_by_batch(file, monkeypatch):
    monkeypatch.setattr(streaming, "BATCH", 2)
    sealed_log(5)
    assert stream_all(file) == 5
    assert numbers(file.path) == [1, 2, 3, 4, 5]


def test_each_file_gets_all_records(file, tmp_path):
    sealed_log(2)
    stream_all(file)
    other = LineFile(tmp_path / "other.jsonl")
    stream_all(other)
    assert numbers(other.path) == numbers(file.path) == [1, 2]


def test_a_record_is_one_line_of_ascii_whatever_it_holds(file):
    text = HOSTILE.encode("utf-8", "ignore").decode().replace("\0", "")
    write_records(1, tool=text, agent=text, rule=text, request_id=text)
    sealer.seal_all()
    stream_all(file)
    data = file.path.read_bytes()
    assert data.isascii()
    assert not any(code in data[:-1] for code in (b"\n", b"\r", b"\x1b"))
    assert lines(file.path)[0]["agent"] == text


def test_a_text_that_was_pruned_is_none(file):
    sealed_log(2)
    prune(1, 1)
    stream_all(file)
    assert [line["body"] is None for line in lines(file.path)][:2] == [True, False]


def test_what_was_altered_is_streamed_as_it_stands_and_stops_nothing(file):
    sealed_log(3)
    first, second = (Leaf.objects.get(seq=seq).record_id for seq in (1, 2))
    with tampering() as cursor:
        cursor.execute(
            "UPDATE toolpolicy_recordbody SET text = '{no' WHERE record_id = %s", [first]
        )
        cursor.execute("DELETE FROM toolpolicy_recordbody WHERE record_id = %s", [second])
        cursor.execute("DELETE FROM toolpolicy_record WHERE id = %s", [second])
    stream_all(file)
    assert [(line["seq"], line["body"] == "{no") for line in lines(file.path)] == [
        (1, True),
        (3, False),
    ]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL holds only what it can")
def test_what_cannot_be_read_stops_the_stream_there_and_is_said(file, monkeypatch):
    monkeypatch.setattr(streaming, "BATCH", 1)
    sealed_log(3)
    with tampering() as cursor:
        record = Leaf.objects.get(seq=2).record_id
        cursor.execute("UPDATE toolpolicy_record SET at = 'never' WHERE id = %s", [record])
    with pytest.raises(StreamError, match="a record after 1 cannot be read"):
        stream_all(file)
    assert numbers(file.path) == [1]
    assert "audit verify" in StreamState.objects.get().error


# --- the file ------------------------------------------------------------------------------------


def test_a_renamed_file_is_followed_by_a_new_one(file, tmp_path):
    sealed_log(2)
    stream_all(file)
    file.path.rename(tmp_path / "old")
    sealed_log(1)
    stream_all(file)
    assert (numbers(tmp_path / "old"), numbers(file.path)) == ([1, 2], [3, 4])


def test_what_was_written_while_the_file_was_renamed_is_written_again(file, tmp_path, monkeypatch):
    sealed_log(2)
    sync = os.fsync

    def rename(descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", sync)
        file.path.rename(tmp_path / "old")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", rename)
    assert stream_all(file) == 2
    assert numbers(tmp_path / "old") == numbers(file.path) == [1, 2]
    assert StreamState.objects.get().error == ""


def test_after_a_crash_no_line_is_glued_to_what_was_cut_off(file):
    sealed_log(1)
    file.path.write_bytes(b'{"seq":0}\n{"seq":1,"uid"')
    stream_all(file)
    whole, cut, again, end = file.path.read_bytes().split(b"\n")
    assert (whole, cut, end) == (b'{"seq":0}', b'{"seq":1,"uid"', b"")
    assert json.loads(again)["seq"] == 1


def test_lines_that_were_written_before_a_crash_come_again(file, monkeypatch):
    sealed_log(2)

    def crash(*_args: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", crash)
        with pytest.raises(KeyboardInterrupt):
            stream_all(file)
    stream_all(file)
    assert numbers(file.path) == [1, 2, 1, 2]


@contextmanager
def full_disk(size: int):
    """Let no file of this process grow beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_said_shown_as_a_backlog_and_made_up_for(file):
    sealed_log(3)
    with full_disk(1000), pytest.raises(StreamError, match="cannot be written"):
        stream_all(file)
    assert file.path.stat().st_size == 1000
    state = StreamState.objects.get()
    assert (state.seq, streams.backlog(state)) == (0, 3)
    assert state.failing_since is not None
    assert "cannot be written" in state.error
    assert stream_all(file) == 3
    *_, cut, _one, _two, _three, end = file.path.read_bytes().split(b"\n")
    assert not cut.endswith(b"}")
    assert [json.loads(line)["seq"] for line in (_one, _two, _three)] == [1, 2, 3]
    assert end == b""
    after = StreamState.objects.get()
    assert (after.seq, after.failing_since, after.error) == (3, None, "")


def test_a_fault_keeps_the_time_at_which_it_began(file):
    sealed_log(1)
    file.path.mkdir()
    seen = set()
    for _ in range(2):
        with pytest.raises(StreamError, match="cannot be opened: Is a directory"):
            stream_all(file)
        seen.add(StreamState.objects.get().failing_since)
    assert len(seen) == 1


def test_a_file_in_no_directory_is_said(tmp_path):
    with pytest.raises(StreamError, match="cannot be opened: No such file"):
        stream_all(LineFile(tmp_path / "none" / "records.jsonl"))


def test_what_is_no_regular_file_is_not_written(file):
    os.mkfifo(file.path)
    with pytest.raises(StreamError, match="is no regular file"):
        stream_all(file)


def test_two_processes_do_not_write_to_one_file(file):
    sealed_log(1)
    with file.path.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(StreamBusy, match="another process writes to"):
            stream_all(file)
    assert not StreamState.objects.filter(failing_since__isnull=False).exists()
    assert stream_all(file) == 1


# --- standard output, and going on ---------------------------------------------------------------


def test_an_output_that_somebody_else_keeps_gets_the_same_lines(file):
    sealed_log(2)
    out = BytesIO()
    assert stream_all(LineOutput(out)) == 2
    stream_all(file)
    assert out.getvalue() == file.path.read_bytes()
    assert set(StreamState.objects.values_list("target", flat=True)) == {"-", str(file.path)}


class ClosedPipe(BytesIO):
    def write(self, _data: Any) -> int:
        raise BrokenPipeError(32, "Broken pipe")


def test_an_output_that_nobody_reads_is_a_fault_and_loses_nothing():
    sealed_log(2)
    with pytest.raises(StreamError, match="the output cannot be written: Broken pipe"):
        stream_all(LineOutput(ClosedPipe()))
    assert stream_all(LineOutput(BytesIO())) == 2


def test_following_goes_on_through_faults_and_says_each_once(file, monkeypatch):
    monkeypatch.setattr(streaming, "INTERVAL", 0)
    monkeypatch.setattr(streaming, "close_old_connections", lambda: None)  # the test needs its own
    sealed_log(1)
    file.path.mkdir()
    stop, rounds, said = Event(), count(1), list[str]()

    def after_some_rounds(*args: Any) -> str:
        number = next(rounds)
        if number == 3:
            file.path.rmdir()
        if number == 5:
            stop.set()
        return one_round(*args)

    one_round = streaming._try
    monkeypatch.setattr(streaming, "_try", after_some_rounds)
    streaming.follow(file, stop, said.append)
    assert numbers(file.path) == [1]
    assert said == [f"{file.path} cannot be opened: Is a directory"]
