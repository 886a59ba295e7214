"""Records are sealed: numbered without gaps, in signed blocks that follow each other."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from tests.audit.logs import sealed_log, tampering, write_records
from toolpolicy.audit import blocks, keeping, merkle, sealer
from toolpolicy.audit.headers import COLUMNS, leaf
from toolpolicy.audit.signing import SealRefused, is_signed, new_seed, signer
from toolpolicy.audit.waiting import waiting
from toolpolicy.models import AuditState, Block, Leaf, Record, SealKey

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(settings, tmp_path):
    path = tmp_path / "kept" / "{log}.jsonl"
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, checkpoint_file=str(path))
    return lambda: tmp_path / "kept" / f"{AuditState.objects.get().log}.jsonl"


def test_records_are_numbered_in_their_order_without_gaps():
    ids = sealed_log(3, 2)
    assert list(Leaf.objects.order_by("seq").values_list("seq", "record_id")) == list(
        enumerate(ids, start=1)
    )


def test_a_block_says_what_it_seals_and_which_block_it_follows():
    sealed_log(2)
    write_records(1, outcome="deny")
    sealer.seal_all()
    first, second = (blocks.parse(text) for text in Block.objects.values_list("text", flat=True))
    assert (first.first, first.count, first.outcomes) == (1, 2, {"allow": 2})
    assert (second.first, second.count, second.outcomes) == (3, 1, {"deny": 1})
    assert first.previous == "0" * 64
    assert second.previous == blocks.block_hash(Block.objects.get(number=1).text)
    rows = Record.objects.order_by("pk").values_list(*COLUMNS)
    assert first.root == merkle.root([leaf(row) for row in rows[:2]]).hex()


def test_a_block_is_signed_with_the_key_of_the_settings():
    sealed_log(1)
    block, key = Block.objects.get(), SealKey.objects.get()
    assert (key.key_id, key.public) == (signer().key_id, signer().public)
    assert is_signed(key.public, block.text, block.signature)
    assert not is_signed(key.public, block.text + " ", block.signature)


def test_more_records_than_a_block_holds_make_several_blocks(monkeypatch):
    monkeypatch.setattr(sealer, "MOST", 2)
    sealed_log(5)
    assert list(Block.objects.values_list("first", "count")) == [(1, 2), (3, 2), (5, 1)]


def test_nothing_is_sealed_where_nothing_waits():
    assert (sealer.seal(), sealer.seal_all(), Block.objects.count()) == (None, 0, 0)


def test_silence_is_sealed_as_an_empty_block(monkeypatch):
    sealed_log(1)
    assert sealer.give_sign_of_life(timedelta(minutes=5)) is None
    later = timezone.now() + timedelta(minutes=6)
    monkeypatch.setattr(timezone, "now", lambda: later)
    block = sealer.give_sign_of_life(timedelta(minutes=5))
    assert block is not None
    assert (block.number, block.first, block.count) == (2, 2, 0)
    assert blocks.parse(block.text).root == merkle.EMPTY_ROOT.hex()


def test_what_was_committed_out_of_order_is_sealed_later_and_lost_to_nobody(monkeypatch):
    ids = write_records(3)
    with monkeypatch.context() as patch:
        patch.setattr(sealer, "waiting", lambda most, after: waiting(most, after=after)[1:])
        sealer.seal()
    assert sealer.seal_all() == 1
    assert list(Leaf.objects.order_by("seq").values_list("record_id", flat=True)) == [
        *(ids[1], ids[2], ids[0])
    ]


def test_a_number_that_a_writer_gave_and_nobody_finds_is_named_in_the_block():
    ids = write_records(4)
    with tampering() as cursor:
        cursor.execute("DELETE FROM toolpolicy_recordbody WHERE record_id IN (%s, %s)", ids[1:3])
        cursor.execute("DELETE FROM toolpolicy_record WHERE id IN (%s, %s)", ids[1:3])
    sealer.seal_all()
    last = Record.objects.get(pk=ids[3])
    gap = [last.writer_id, last.writer_n - 2, last.writer_n - 1]
    assert blocks.parse(Block.objects.get().text).gaps == [gap]


REFUSALS = {
    "a block that was altered": (
        "UPDATE toolpolicy_block SET signature = '00' WHERE number = 2",
        "block 2 is not as it was signed",
    ),
    "a block whose text was altered": (
        "UPDATE toolpolicy_block SET text = '{}' WHERE number = 2",
        "block 2: the block's text is of no known form",
    ),
    "the end of the leaves cut off": (
        "DELETE FROM toolpolicy_leaf WHERE seq = 3",
        "sealed records end at 2, not at 3",
    ),
    "every block gone": ("DELETE FROM toolpolicy_block", "sealed records and no block"),
    "another log's name": (
        "UPDATE toolpolicy_auditstate SET log = '0123456789abcdef0123456789abcdef'",
        "is of another log",
    ),
    "the keys gone": ("DELETE FROM toolpolicy_sealkey", "the keys of the log are gone"),
    "a key exchanged": (
        "UPDATE toolpolicy_sealkey SET public = '" + "00" * 32 + "'",
        "is not the key of that name",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_log_that_was_tampered_with_is_not_sealed_any_further(name):
    statement, reason = REFUSALS[name]
    sealed_log(2, 1)
    with tampering() as cursor:
        cursor.execute(statement)
    write_records(1)
    with pytest.raises(SealRefused, match=reason):
        sealer.seal_all()


def test_another_key_than_the_logs_own_seals_nothing(settings):
    sealed_log(1)
    write_records(1)
    settings.TOOLPOLICY_SEAL_KEY = new_seed()
    with pytest.raises(SealRefused, match="audit rotate"):
        sealer.seal_all()


def test_sealing_at_once_tells_the_file_and_says_in_the_log_that_it_did(file):
    write_records(1)
    keeping.seal_now()
    (line,) = file().read_text(encoding="utf-8").splitlines()
    assert blocks.parse_line(line)[0] == Block.objects.get().text
    said = Record.objects.get(kind="checkpoint")
    assert said.object_label == "block 1"


def test_a_checkpoint_of_checkpoints_alone_leaves_no_record(file):
    write_records(1)
    keeping.seal_now()
    keeping.seal_now()
    assert (Block.objects.count(), Record.objects.filter(kind="checkpoint").count()) == (2, 1)
    assert len(file().read_text(encoding="utf-8").splitlines()) == 2


def test_an_older_copy_of_the_database_is_not_sealed_past_what_the_file_knows(file):
    write_records(1)
    keeping.seal_now()
    keeping.seal_now()
    with tampering() as cursor:
        cursor.execute("DELETE FROM toolpolicy_leaf WHERE seq = 2")
        cursor.execute("DELETE FROM toolpolicy_block WHERE number = 2")
    with pytest.raises(SealRefused, match="knows block 2, which this database does not hold"):
        sealer.seal_all()


def test_a_log_written_anew_with_the_same_key_is_not_sealed_past_the_file(file):
    write_records(2)
    keeping.seal_now()
    with tampering() as cursor:
        cursor.execute("DELETE FROM toolpolicy_leaf")
        cursor.execute("DELETE FROM toolpolicy_block")
    kept = file().rename(file().with_suffix(".kept"))
    write_records(1)
    sealer.seal_all()
    kept.rename(kept.with_suffix(".jsonl"))
    write_records(1)
    with pytest.raises(SealRefused, match="differs from what the sink `file` holds"):
        sealer.seal_all()


def test_a_file_of_another_log_is_not_written_to(file, settings, tmp_path):
    write_records(1)
    keeping.seal_now()
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, checkpoint_file=str(file()))
    with tampering() as cursor:
        cursor.execute("UPDATE toolpolicy_auditstate SET log = '0123456789abcdef0123456789abcdef'")
        cursor.execute("DELETE FROM toolpolicy_leaf")
        cursor.execute("DELETE FROM toolpolicy_block")
        cursor.execute("DELETE FROM toolpolicy_sealkey")
        cursor.execute("DELETE FROM toolpolicy_recordbody")
        cursor.execute("DELETE FROM toolpolicy_record")
    write_records(1)
    with pytest.raises(SealRefused, match="a new database needs a sink of its own"):
        sealer.seal_all()


def test_a_file_that_cannot_be_written_is_told_and_tried_again(file, settings, tmp_path, caplog):
    (tmp_path / "kept").write_text("not a folder", encoding="utf-8")
    write_records(1)
    with pytest.raises(SealRefused, match="the checkpoint file cannot be read"):
        sealer.seal_all()
    (tmp_path / "kept").unlink()
    keeping.seal_now()
    assert file().exists()


def test_a_line_that_a_crash_cut_off_is_no_line(file):
    write_records(1)
    keeping.seal_now()
    with file().open("a", encoding="utf-8") as kept:
        kept.write('{"block":"cut o')
    keeping.seal_now()
    lines = file().read_text(encoding="utf-8").splitlines()
    assert [line[:9] for line in lines] == ['{"block":', '{"block":', '{"block":']
    assert blocks.parse_line(lines[-1])
    assert sealer.seal_all() == 0


def test_what_a_writer_wrote_before_and_was_sealed_before_is_no_gap(monkeypatch):
    write_records(4)
    with monkeypatch.context() as patch:
        patch.setattr(sealer, "waiting", lambda most, after: waiting(most, after=after)[1:3])
        sealer.seal()
    assert sealer.seal_all() == 2
    assert [blocks.parse(text).gaps for text in Block.objects.values_list("text", flat=True)] == [
        *([], [])
    ]


@pytest.mark.parametrize("fault", [SealRefused("no key"), OperationalError("no database")])
def test_a_server_says_once_why_nothing_is_sealed_and_again_when_it_changes(
    monkeypatch, caplog, fault
):
    monkeypatch.setattr(connection, "close", lambda: None)
    monkeypatch.setattr(keeping, "close_old_connections", lambda: None)
    faults: list[Exception | None] = [fault, fault, OSError("no disk"), fault, None, fault]

    def fail(_patience: timedelta) -> None:
        found = faults.pop(0)
        if found is not None:
            raise found

    monkeypatch.setattr(keeping, "keep", fail)
    said = ""
    while faults:
        said = keeping._kept(said)
    assert len(caplog.records) == 4
    assert said == str(fault)
