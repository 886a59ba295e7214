"""`manage.py audit` and `manage.py worker`, as people and supervisors start them."""

import json
from dataclasses import replace
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from tests.audit.logs import sealed_log, tampering, write_records
from toolpolicy.audit import blocks, https, keeping, sealer
from toolpolicy.audit.signing import key_id, new_seed, signer, signer_of
from toolpolicy.models import Block, Leaf, Record, SealKey

pytestmark = pytest.mark.django_db


def audit(*words: str, **options: Any) -> str:
    out = StringIO()
    call_command("audit", *words, stdout=out, **options)
    return out.getvalue()


def broken(*words: str) -> str:
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("audit", *words, stdout=out)
    assert ended.value.code == 1
    return out.getvalue()


def alter(seq: int = 2) -> None:
    record = Leaf.objects.get(seq=seq).record_id
    with tampering() as cursor:
        cursor.execute("UPDATE toolpolicy_record SET tool = 'x' WHERE id = %s", [record])


def test_one_round_of_the_worker_seals_what_waits():
    write_records(3)
    out = StringIO()
    call_command("worker", "--once", stdout=out)
    assert out.getvalue() == "sealed 3 records\n"
    assert Leaf.objects.count() == 3


def test_sealing_says_how_many_records_it_sealed():
    write_records(2)
    assert audit("seal") == "sealed 2 records\n"
    assert json.loads(audit("seal", "--json")) == {"sealed": 0}


def test_a_good_log_is_said_to_be_good_and_that_is_recorded():
    sealed_log(3, 2)
    told = audit("verify", "--full")
    assert "5 records in 2 blocks" in told
    assert "no checkpoint outside the database was compared" in told
    assert told.endswith("the log is good\n")
    assert Record.objects.get(kind="verify").actor_label == "audit command"


def test_the_next_verification_reads_only_what_is_new():
    sealed_log(3)
    assert json.loads(audit("verify", "--json"))["records"] == 3
    sealer.seal_all()
    found = json.loads(audit("verify", "--json"))
    assert (found["records"], found["after_block"], found["good"]) == (1, 1, True)


def test_a_broken_log_ends_with_one_and_names_the_record():
    sealed_log(3)
    alter(2)
    told = broken("verify", "--full")
    assert "altered: record 2: a column of it was altered" in told
    assert told.endswith("the log is BROKEN\n")
    found = json.loads(broken("verify", "--full", "--json"))
    assert (found["good"], found["findings"][0]["seq"]) == (False, 2)


def test_a_broken_segment_is_closed_with_its_reason_and_nothing_is_rewritten():
    sealed_log(3)
    alter(2)
    before = list(Block.objects.values_list("text", "signature"))
    broken("verify")
    assert "segment 2 begins with block 2" in audit("repair", note="a restored backup")
    assert list(Block.objects.values_list("text", "signature")[:1]) == before
    assert blocks.parse(Block.objects.get(number=2).text).note == "a restored backup"
    assert "segment 1 was closed: a restored backup" in audit("verify")
    assert "record 2: a column of it was altered" in broken("verify", "--full")


def test_a_whole_log_is_not_repaired():
    sealed_log(1)
    with pytest.raises(CommandError, match=r"^the log is whole; nothing is to be repaired$"):
        audit("repair", note="for fun")


def test_a_repair_is_refused_until_something_is_broken_since_the_last_one():
    sealed_log(3)
    alter(2)
    audit("repair", note="a slip of the hand")
    audit("verify")
    with pytest.raises(CommandError, match=r"^nothing is broken since the last repair; nothing is"):
        audit("repair", note="once more")
    assert Block.objects.latest("number").segment == 2
    write_records(2)
    audit("seal")
    audit("verify")
    # What was verified since is looked at again: it was altered afterwards.
    alter(Leaf.objects.latest("seq").seq)
    assert "segment 3 begins with block" in audit("repair", note="another one")


def test_the_first_block_of_a_repair_that_is_gone_is_reason_enough_for_another():
    sealed_log(3)
    alter(2)
    audit("repair", note="a slip of the hand")
    write_records(1)
    audit("seal")
    with tampering() as cursor:
        cursor.execute("DELETE FROM toolpolicy_block WHERE number = 2")
    assert "segment 3 begins with block" in audit("repair", note="another one")


def test_a_repair_needs_a_reason():
    with pytest.raises(CommandError, match=r"^say what happened"):
        audit("repair", note=" ")


def test_a_key_is_made_for_its_owner_alone(tmp_path):
    path = tmp_path / "seal.key"
    audit("new-key", out=path)
    assert path.stat().st_mode & 0o777 == 0o600
    made = json.loads(audit("new-key", "--json"))
    assert made["key"] == key_id(made["public"]) == signer_of(made["private"]).key_id
    with pytest.raises(CommandError, match="cannot be written"):
        audit("new-key", out=path)


def test_another_key_seals_after_the_old_one_vouched_for_it(tmp_path, settings):
    sealed_log(1)
    old, new = signer(), new_seed()
    (tmp_path / "next").write_text(new, encoding="utf-8")
    told = audit("rotate", to_file=tmp_path / "next")
    assert f"the key {signer_of(new).key_id} seals from now on" in told
    newest = SealKey.objects.get(position=2)
    assert (newest.public, bool(newest.signature)) == (signer_of(new).public, True)
    sealed = Block.objects.order_by("-number").first()
    assert sealed is not None
    assert blocks.parse(sealed.text).key == old.key_id
    assert Leaf.objects.get(record__kind="rotation").seq == 2
    write_records(1)
    with pytest.raises(CommandError, match="was followed by"):
        audit("seal")
    settings.TOOLPOLICY_SEAL_KEY = new
    assert audit("seal") == "sealed 1 record\n"
    assert audit("verify", "--full").endswith("the log is good\n")


@pytest.mark.parametrize("text", ["", "5e" * 31, "zz" * 32])
def test_a_file_without_a_key_is_refused(tmp_path, text):
    (tmp_path / "next").write_text(text, encoding="utf-8")
    with pytest.raises(CommandError, match="holds no key"):
        audit("rotate", to_file=tmp_path / "next")
    with pytest.raises(CommandError, match="cannot be read"):
        audit("rotate", to_file=tmp_path / "absent")


def test_a_key_that_sealed_before_does_not_come_back(tmp_path, settings):
    sealed_log(1)
    (tmp_path / "old").write_text(settings.TOOLPOLICY_SEAL_KEY, encoding="utf-8")
    with pytest.raises(CommandError, match="has sealed the log before"):
        audit("rotate", to_file=tmp_path / "old")


@pytest.fixture
def file(settings, tmp_path):
    path = tmp_path / "kept.jsonl"
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, checkpoint_file=str(path))
    return path


def test_after_a_restored_backup_a_repair_goes_on_and_everything_is_said(file):
    for _ in range(2):
        write_records(2)
        keeping.seal_now()
    lost = Block.objects.latest("number")
    with tampering() as cursor:
        cursor.execute("DELETE FROM toolpolicy_leaf WHERE seq >= %s", [lost.first])
        cursor.execute("DELETE FROM toolpolicy_block WHERE number = %s", [lost.number])
    with pytest.raises(CommandError, match="it is an older copy"):
        audit("seal")
    assert f"begins with block {lost.number + 1}" in audit("repair", note="restored from Sunday")
    write_records(1)
    assert audit("seal").startswith("sealed ")
    told = broken("verify", "--full")
    assert "segment 1 was closed: restored from Sunday" in told
    assert f"block {lost.number} is gone: the sink `file` holds it" in told
    assert f"  checkpoint file {file}: " in told
    assert audit("verify").endswith("the log is good\n")


def test_a_verification_names_the_checkpoint_file_and_how_many_of_its_lines_agree(file):
    write_records(1)
    keeping.seal_now()
    write_records(1)
    keeping.seal_now()
    assert f"  checkpoint file {file}: 2 lines as in the database" in audit("verify", "--full")
    assert f"  checkpoint file {file}: 1 line as in the database" in audit("verify")
    file.unlink()
    assert f"  checkpoint file {file}: no line as in the database" in audit("verify", "--full")


def test_a_checkpoint_line_that_a_crash_cut_off_accuses_nobody_and_another_one_does(file):
    write_records(1)
    keeping.seal_now()
    line = file.read_text(encoding="utf-8")
    write_records(1)
    keeping.seal_now()
    (whole, newest) = file.read_text(encoding="utf-8").splitlines(keepends=True)
    assert whole == line
    file.write_text(f"{whole}{newest[:60]}\n{newest}", encoding="utf-8")
    assert audit("verify", "--full").endswith("the log is good\n")
    file.write_text(f"{whole}no such line\n{newest}", encoding="utf-8")
    assert "holds a line that is none" in broken("verify", "--full")


def test_a_host_that_can_be_no_name_is_a_fault_of_the_network_and_nothing_else():
    with pytest.raises(OSError, match="can be no name of a server"):
        https.post("https://" + "a" * 80 + ".example/", b"", ["10.0.0.0/8"])


def test_one_record_is_proved_to_be_in_the_log():
    ids = sealed_log(3, 2)
    uid = str(Record.objects.get(pk=ids[1]).uid)
    assert audit("proof", uid) == "record 2 is in block 1, by a path of 2 steps\n"
    proof = json.loads(audit("proof", uid, "--json"))
    assert (proof["seq"], len(proof["path"]), proof["header"][1]) == (2, 2, uid)
    assert blocks.parse(proof["block"]["text"]).n == 1
    with pytest.raises(CommandError, match="no sealed record has the id"):
        audit("proof", str(uuid4()))
    last = str(Record.objects.get(pk=ids[2]).uid)
    with tampering() as cursor:
        cursor.execute("DELETE FROM toolpolicy_leaf WHERE seq = 1")
    with pytest.raises(CommandError, match="nothing proves it: block 1 lacks leaves"):
        audit("proof", last)
