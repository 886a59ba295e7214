"""What an auditor takes away is what was sealed, and a stranger can check it."""

import gzip
import json
from dataclasses import replace

import pytest
from django.utils import timezone

from tests.audit.logs import sealed_log, tampering, write_records
from tests.audit.taking import judged, lines_of, prune, records_of, taken
from tests.factories import SYSTEM
from toolpolicy.audit import sealer
from toolpolicy.audit.headers import moment
from toolpolicy.audit.signing import new_seed
from toolpolicy.models import Block, Leaf, Record
from toolpolicy.services import sealing
from toolpolicy.services.evidence.exports import Form

pytestmark = pytest.mark.django_db

NOTHING = (
    "there is nothing to check: it holds no record, "
    "and only a complete bundle proves that its filter asks for none"
)


@pytest.fixture
def mixed():
    """Three blocks of records of two tools and two outcomes, and an empty one between them."""
    write_records(3, tool="mail_send", agent="a")
    write_records(2, outcome="deny", tool="mail_send")
    sealer.seal_all()
    sealing.seal()
    write_records(4, tool="file_read", agent="b")
    sealer.seal_all()
    write_records(1, outcome="deny", tool="file_read")
    sealer.seal_all()


FILTERS = [
    {},
    {"tool": "mail_send"},
    {"tool": "file_read", "outcome": "deny"},
    {"agent": "b"},
    {"agent": ""},
    {"kind": "export"},
    {"first": 4, "last": 7},
    {"first": 10},
    {"last": 1},
    {"first": 7, "last": 7},
]


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("members", FILTERS, ids=str)
def test_a_bundle_of_any_filter_is_good(mixed, members, complete):
    bundle = taken(complete=complete, **members)
    found = judged(bundle)
    assert (found["verdict"], found["exit"]) == ("good", 0), found
    assert found["counts"]["record"] == len(records_of(bundle)) > 0


@pytest.mark.parametrize("members", FILTERS, ids=str)
def test_a_complete_bundle_has_the_same_records_and_a_header_of_every_other(mixed, members):
    few = taken(complete=False, **members)
    whole = taken(complete=True, **members)
    last = Leaf.objects.latest("seq").seq  # the first export's end and the other's beginning
    assert [seq for seq in records_of(whole) if seq <= last - 2] == records_of(few)
    shown = sorted(records_of(whole) + [line["seq"] for line in lines_of(whole, "other")])
    assert shown == list(range(shown[0], last + 1))
    assert lines_of(few, "other") == []


def test_an_empty_complete_bundle_proves_that_there_is_nothing(mixed):
    assert judged(taken(complete=True, tool="never"))["exit"] == 0


def test_an_empty_bundle_that_is_not_complete_proves_nothing_and_is_said_to(mixed):
    bundle = taken(tool="never")
    assert [len(lines_of(bundle, name)) for name in ("block", "record", "end")] == [1, 0, 1]
    found = judged(bundle)
    assert (found["verdict"], found["what"]) == ("incomplete", NOTHING)


def test_a_span_of_time_is_taken_at_both_ends():
    write_records(2, tool="early")
    since = timezone.now()
    write_records(2, tool="middle")
    until = timezone.now()
    write_records(2, tool="late")
    for complete in (False, True):
        bundle = taken(complete=complete, from_=moment(since), to=moment(until))
        assert records_of(bundle) == [3, 4]
        assert judged(bundle)["exit"] == 0


def test_a_bundle_begins_with_the_block_of_its_first_record_and_leaves_none_out(mixed):
    bundle = taken(tool="file_read")
    numbers = [json.loads(line["block"])["n"] for line in lines_of(bundle, "block")]
    assert numbers == list(range(2, Block.objects.count() + 1))


def test_what_is_sealed_after_it_was_begun_is_not_in_it(mixed):
    before = Record.objects.count()
    bundle = taken()
    # Its own beginning is: who takes records away stands in what is taken.
    assert records_of(bundle) == list(range(1, before + 2))
    assert '"action":"export_begun"' in lines_of(bundle, "record")[-1]["text"]


def test_what_waits_is_sealed_before_it_is_exported():
    write_records(3)
    assert records_of(taken(tool="")) == [1, 2, 3, 4]


def test_a_packed_bundle_is_the_same_bundle(mixed, tmp_path):
    path = tmp_path / "records.jsonl.gz"
    path.write_bytes(taken(Form.PACKED, tool="mail_send"))
    assert records_of(gzip.decompress(path.read_bytes())) == [1, 2, 3, 4, 5]
    assert judged(path)["exit"] == 0


@pytest.mark.parametrize("complete", [False, True])
def test_after_the_texts_are_pruned_what_is_left_still_verifies(mixed, complete):
    prune(2, 6)
    bundle = taken(complete=complete, tool="mail_send")
    gone = [line["seq"] for line in lines_of(bundle, "record") if line["text"] is None]
    assert gone == [2, 3, 4, 5]
    assert {line.get("expired") for line in lines_of(bundle, "record")} == {None, 11}
    found = judged(bundle)
    assert (found["exit"], found["counts"]["expired"]) == (0, 4), found


def test_a_text_that_is_gone_and_was_never_pruned_is_said_to_be_missing(mixed):
    with tampering() as cursor:
        cursor.execute(
            "DELETE FROM toolpolicy_recordbody WHERE record_id = %s",
            [Leaf.objects.get(seq=2).record_id],
        )
    found = judged(taken(tool="mail_send"))
    assert (found["exit"], found["counts"]["expired"]) == (2, 1)


@pytest.mark.parametrize("complete", [False, True])
def test_a_bundle_over_a_change_of_keys_holds_both(mixed, settings, complete):
    old, new = settings.TOOLPOLICY_SEAL_KEY, new_seed()
    sealing.rotate(actor=SYSTEM, seed=new)
    settings.TOOLPOLICY_SEAL_KEY = new
    write_records(2)
    bundle = taken(complete=complete)
    assert len(lines_of(bundle, "key")) == 2
    found = judged(bundle)
    assert found["exit"] == 0, found
    for fingerprint in found["keys"]:
        assert judged(bundle, "--key", fingerprint)["exit"] == 0
    assert judged(bundle, "--key", "0" * 16)["exit"] == 1
    assert old != new


def test_a_bundle_says_of_the_segments_that_a_repair_closed(mixed, tmp_path):
    record = Leaf.objects.get(seq=2).record_id
    with tampering() as cursor:
        cursor.execute("UPDATE toolpolicy_record SET tool = 'x' WHERE id = %s", [record])
    repair = sealing.repair(actor=SYSTEM, note="a slip of the hand")
    write_records(2, tool="later")
    for complete in (False, True):
        found = judged(taken(complete=complete, first=6))
        assert found["exit"] == 0
        assert "a slip of the hand" in " ".join(found["notes"])
    assert judged(taken(tool="later"))["exit"] == 0
    found = judged(taken(complete=True))
    assert (found["exit"], found["place"]["block"]) == (1, 1)
    assert (found["kind"], found["place"]["seq"]) == ("altered", 2)
    path = tmp_path / "bundle"
    path.write_bytes(taken(complete=True))
    found = judged(path)
    assert (found["exit"], [one["closed_by"] for one in found["breaks"]]) == (1, [repair.number])
    assert found["proven"].keys() == {"1", "2"}


@pytest.mark.parametrize("what", ["a block", "a signature", "a whole block", "a record", "a leaf"])
def test_a_bundle_over_any_break_that_was_repaired_names_it_and_proves_the_rest(what, tmp_path):
    tampered_log(what)
    repair = sealing.repair(actor=SYSTEM, note="the disk was full")
    write_records(2)
    path = tmp_path / "bundle"
    path.write_bytes(taken(complete=True))
    found = judged(path)
    assert (found["exit"], [one["closed_by"] for one in found["breaks"]]) == (1, [repair.number])
    assert f"note of block {repair.number}: 'the disk was full'" in found["notes"]
    assert found["proven"]["2"] >= 2
    assert judged(taken(complete=True, first=repair.first))["exit"] == 0


def test_records_that_were_deleted_before_they_were_sealed_are_missing(mixed):
    first, *_ = write_records(2)
    with tampering() as cursor:
        cursor.execute("DELETE FROM toolpolicy_recordbody WHERE record_id = %s", [first])
        cursor.execute("DELETE FROM toolpolicy_record WHERE id = %s", [first])
    found = judged(taken(complete=True))
    assert (found["exit"], found["kind"]) == (1, "missing")
    assert len(found["notes"]) == 1
    assert judged(taken())["exit"] == 0


def test_a_bundle_holds_the_checkpoints_that_are_kept_outside(settings, tmp_path):
    kept = tmp_path / "kept.jsonl"
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, checkpoint_file=str(kept))
    sealed_log(3)
    sealing.seal()
    bundle = taken()
    assert [line["sink"] for line in lines_of(bundle, "checkpoint")] == ["file"]
    assert judged(bundle)["exit"] == 0
    assert judged(bundle, "--checkpoint", str(kept))["exit"] == 0


def test_a_checkpoint_file_that_cannot_be_read_keeps_no_bundle_back(settings, tmp_path, caplog):
    sealed_log(3)
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, checkpoint_file=str(tmp_path))
    bundle = taken()
    assert lines_of(bundle, "checkpoint") == []
    assert "without the checkpoint of `file`" in caplog.text
    assert judged(bundle)["exit"] == 0


TAMPERED = {
    "a column": "UPDATE toolpolicy_record SET agent = 'x' WHERE id = {record}",
    "a text": "UPDATE toolpolicy_recordbody SET text = '{{}}' WHERE record_id = {record}",
    "a leaf": "UPDATE toolpolicy_leaf SET hash = 'no hash' WHERE seq = 2",
    "a block": "UPDATE toolpolicy_block SET text = '{{}}' WHERE number = 1",
    "a block's place": "UPDATE toolpolicy_block SET count = 2000000000 WHERE number = 1",
    "a signature": "UPDATE toolpolicy_block SET signature = 'x' WHERE number = 1",
    "a key": "UPDATE toolpolicy_sealkey SET public = 'x'",
    "the keys": "DELETE FROM toolpolicy_sealkey",
    "a record": "DELETE FROM toolpolicy_record WHERE id = {record}",
    "a whole block": "DELETE FROM toolpolicy_block WHERE number = 2",
}


def tampered_log(what: str) -> None:
    """Seal three blocks and alter one of them in the database."""
    sealed_log(3, 3, 2)
    record = Leaf.objects.get(seq=2).record_id
    with tampering() as cursor:
        if what == "a record":
            cursor.execute("DELETE FROM toolpolicy_recordbody WHERE record_id = %s", [record])
        cursor.execute(TAMPERED[what].format(record=record))


# A bundle that is not complete does not claim to be all.
UNSEEN = {"a record": [1, 0]}


@pytest.mark.parametrize("what", TAMPERED)
def test_what_was_altered_in_the_database_is_exported_as_it_stands_and_found(what):
    tampered_log(what)
    verdicts = [judged(taken(complete=complete))["exit"] for complete in (True, False)]
    assert verdicts == UNSEEN.get(what, [1, 1])
