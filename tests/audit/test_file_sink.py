"""The file of checkpoints: cut off, full, exchanged or gone, it is told and the log stands."""

import json
import resource
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command

from tests.audit.logs import begin_as_another_writer, tampering, verdict, write_records
from toolpolicy.audit import blocks, checkpoints, heads, keeping, sealer, sinks
from toolpolicy.audit.signing import SealRefused
from toolpolicy.models import Block, Leaf, Record, SinkState
from toolpolicy.services import sealing
from toolpolicy.services.actors import Actor

pytestmark = pytest.mark.django_db
SYSTEM = Actor.system("tests")


@pytest.fixture
def file(settings, tmp_path):
    path = tmp_path / "kept.jsonl"
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, checkpoint_file=str(path))
    return path


def told(*counts: int) -> None:
    for count in counts:
        write_records(count)
        keeping.seal_now()


def lines_of(file):
    return file.read_text(encoding="utf-8").splitlines()


def test_a_file_whose_end_was_cut_off_is_told_the_newest_block_again(file):
    told(2, 2, 2)
    first, *_ = lines_of(file)
    file.write_text(first + "\n", encoding="utf-8")
    before = verdict()
    assert (before.good, before.checkpoints) == (True, 1)
    told(1)
    newest = blocks.parse(blocks.parse_line(lines_of(file)[-1])[0])
    assert newest.n == Block.objects.count()
    assert verdict().good


def test_a_line_that_was_cut_off_by_a_crash_speaks_against_nothing(file):
    told(2, 2)
    text = file.read_text(encoding="utf-8")
    for end in (len(text) - 1, len(text) - 40, len(text) - len(lines_of(file)[-1]) + 3):
        file.write_text(text[:end], encoding="utf-8")
        checkpoints.tell(at_once=True)
        write_records(1)
        keeping.seal_now()
        assert verdict().good


def test_a_line_that_was_never_written_by_the_log_speaks_against_it(file):
    told(2, 2)
    first, *rest = lines_of(file)
    file.write_text("\n".join([first, '{"block":"{\\"at', *rest]) + "\n", encoding="utf-8")
    assert verdict().good
    file.write_text(
        "\n".join([first, '{"block":"{\\"at\\":\\"1999', *rest]) + "\n", encoding="utf-8"
    )
    said = verdict().first
    assert said is not None
    assert "holds a line that is none" in said.message


def test_a_line_whose_block_was_changed_speaks_against_the_log(file):
    told(2, 2)
    first, *rest = lines_of(file)
    file.write_text("\n".join([first.replace("allow", "alloy"), *rest]) + "\n", encoding="utf-8")
    assert not verdict().good


def test_a_full_disk_is_shown_and_the_line_is_written_once_there_is_room(file):
    told(2)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    write_records(1)
    sealer.seal_all()
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 20, hard))
    try:
        checkpoints.tell(at_once=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    state = SinkState.objects.get(name="file")
    assert "the checkpoint file cannot be written" in state.error
    assert state.failing_since is not None
    told(1)
    assert blocks.parse(blocks.parse_line(lines_of(file)[-1])[0]).n == Block.objects.count()
    assert SinkState.objects.get(name="file").error == ""
    assert verdict().good


def test_a_file_that_cannot_be_read_stops_sealing_and_is_told_by_a_verification(file):
    told(2)
    kept = file.rename(file.with_suffix(".kept"))
    file.mkdir()
    write_records(1)
    with pytest.raises(SealRefused, match="the checkpoint file cannot be read"):
        sealer.seal_all()
    said = verdict().first
    assert said is not None
    assert (str(said.kind), "cannot be read" in said.message) == ("missing", True)
    file.rmdir()
    kept.rename(file)
    assert sealer.seal_all() == 2
    assert verdict().good


def test_a_file_of_another_log_is_told_by_a_verification(file):
    told(2)
    (line,) = lines_of(file)
    text, signature = blocks.parse_line(line)
    other = json.dumps(json.loads(text) | {"log": "0123"}, separators=(",", ":"), sort_keys=True)
    file.write_text(blocks.checkpoint_line(other, signature) + "\n", encoding="utf-8")
    said = verdict().first
    assert said is not None
    assert "holds a checkpoint of the log 0123" in said.message


def test_the_log_line_is_the_same_line(settings, caplog):
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, checkpoint_log=True)
    caplog.set_level("INFO", logger="toolpolicy.checkpoint")
    told(2)
    (said,) = [one.message for one in caplog.records if one.name == "toolpolicy.checkpoint"]
    assert blocks.parse_line(said)[0] == Block.objects.get().text


@pytest.mark.parametrize(
    "forged",
    [
        {"block": 9_000_000_000},
        {"block": 9_000_000_000, "tried_at": datetime(2999, 1, 1, tzinfo=UTC)},
        {"tried_at": datetime(2999, 1, 1, tzinfo=UTC)},
    ],
    ids=str,
)
def test_what_the_database_says_of_the_file_keeps_nothing_from_it(file, forged):
    told(2)
    SinkState.objects.update(**forged)
    write_records(1)
    sealer.seal_all()
    checkpoints.tell(at_once="tried_at" not in forged)
    newest = Block.objects.latest("number").number
    assert blocks.parse(blocks.parse_line(lines_of(file)[-1])[0]).n == newest
    assert SinkState.objects.get(name="file").block == newest


# --- an older copy of the database ----------------------------------------------------------------


@pytest.fixture
def restored(file):
    """Go back to an older copy of the database, as a restored backup does."""
    told(3, 2)
    kept = Block.objects.count()
    seqs, records = Leaf.objects.count(), Record.objects.order_by("-pk")[0].pk
    told(2, 2)
    newest = Block.objects.count()
    with tampering() as cursor:
        cursor.execute("DELETE FROM toolpolicy_leaf WHERE seq > %s", [seqs])
        cursor.execute("DELETE FROM toolpolicy_block WHERE number > %s", [kept])
        cursor.execute("DELETE FROM toolpolicy_recordbody WHERE record_id > %s", [records])
        cursor.execute("DELETE FROM toolpolicy_record WHERE id > %s", [records])
    return kept, newest


def test_an_older_copy_refuses_to_seal_and_says_why(restored):
    write_records(1)
    _, newest = restored
    with pytest.raises(SealRefused, match=f"knows block {newest}, which this database does not"):
        sealer.seal_all()
    assert f"knows block {newest}" in sealing.status().refused


@pytest.mark.parametrize("round_of", [keeping.keep, lambda: checkpoints.tell(at_once=True)])
def test_an_older_copy_with_nothing_to_seal_tells_no_sink_and_says_why(restored, file, round_of):
    kept, newest = restored
    with tampering() as cursor:
        [last] = Record.objects.filter(leaf__isnull=True).values_list("pk")
        cursor.execute("DELETE FROM toolpolicy_recordbody WHERE record_id = %s", last)
        cursor.execute("DELETE FROM toolpolicy_record WHERE id = %s", last)
    # As it is in a log that is quiet: sealed last was the record of the last checkpoint.
    SinkState.objects.update(block=kept - 1, tried_at=None)
    before = lines_of(file)
    with pytest.raises(SealRefused, match=f"knows block {newest}, which this database does not"):
        round_of()
    assert lines_of(file) == before
    assert f"knows block {newest}" in sealing.status().refused
    assert not verdict(full=False).good
    with pytest.raises(CommandError, match="the log is not sealed: the sink `file` knows block"):
        call_command("worker", "--once")
    with pytest.raises(CommandError, match="knows block"):
        call_command("audit", "seal")


def test_the_file_ends_with_the_newest_block_whoever_comes_last(file):
    told(2, 2)
    lines = lines_of(file)
    [sink] = sinks.sinks(heads.log_id())
    for line in lines:
        sink.tell(line)
    assert lines_of(file) == lines


def test_a_repair_goes_on_after_the_newest_block_that_anybody_knows(restored):
    kept, newest = restored
    begin_as_another_writer()  # a restored database is served by processes started anew
    write_records(2)
    block = sealing.repair(actor=SYSTEM, note="the backup of Monday was restored")
    assert (block.number, block.segment) == (newest + 1, 2)
    told(2)
    found = verdict()
    assert found.closed[0]["note"] == "the backup of Monday was restored"
    assert {str(one.kind) for one in found.findings} == {"missing"}
    blocks_gone = [one.block for one in found.findings if "the sink `file` holds it" in one.message]
    assert blocks_gone == list(range(kept + 1, newest + 1))
    first = found.first
    assert first is not None
    before = Block.objects.get(number=kept)
    assert (first.block, first.seq) == (kept + 1, before.first + before.count)
    assert verdict(full=False).good


# --- all seals gone -------------------------------------------------------------------------------


def wiped() -> None:
    """Take away every trace of seals but the records that speak of them, as who may write can."""
    with tampering() as cursor:
        for table in ("leaf", "block", "sealkey", "sinkstate", "auditstate"):
            cursor.execute(f"DELETE FROM toolpolicy_{table}")  # noqa: S608


@pytest.mark.parametrize("named", ["{log}.jsonl", ""])
def test_a_log_whose_seals_are_all_gone_does_not_begin_anew_unseen(settings, tmp_path, named):
    # A file that is named after the log is another one for another log.
    told_to = {"checkpoint_file": str(tmp_path / named) if named else "", "checkpoint_log": True}
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, **told_to)
    told(3, 2)
    wiped()
    begin_as_another_writer()
    write_records(1)
    with pytest.raises(SealRefused, match="no block and no key of the log is there"):
        sealer.seal_all()
    said = verdict().first
    assert said is not None
    assert (str(said.kind), said.message) == ("missing", heads.ALL_GONE)
    sealing.repair(actor=SYSTEM, note="the seals were lost on Monday")
    sealer.seal_all()
    assert not verdict().good
    assert verdict(full=False).good
