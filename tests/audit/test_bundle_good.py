"""What a good bundle proves, and what its verdict says that it does not."""

import gzip
from typing import Any

import pytest

from tests.audit.bundles import PRUNING, Key, Log, canonical, judged, moment, some_log, written
from tests.audit.claims import BELIEVED, DISBELIEVED, Claim

LOG = some_log()
BUNDLES: dict[str, dict[str, Any]] = {
    "everything": {},
    "everything, complete": {"complete": True},
    "one tool": {"wanted": {"tool": "send"}},
    "one tool, complete": {"wanted": {"tool": "send"}, "complete": True},
    "a span of time": {"wanted": {"from": moment(3), "to": moment(8)}},
    "a span of time, complete": {"wanted": {"from": moment(3), "to": moment(8)}, "complete": True},
    "a span of numbers": {"wanted": {"first": 6, "last": 9}},
    "a span of numbers, complete": {"wanted": {"first": 6, "last": 9}, "complete": True},
    "what is null": {"wanted": {"client_id": None, "policy_version": 3}, "complete": True},
    "nothing, complete": {"wanted": {"tool": "none"}, "complete": True},
}


@pytest.fixture
def judge(tmp_path):
    return lambda data, key="", copies=(): judged(tmp_path, data, key, copies)


def checkpoints(log: Log, *numbers: int) -> bytes:
    return b"".join(canonical(log.checkpoint(n)).encode() + b"\n" for n in numbers)


@pytest.mark.parametrize("name", BUNDLES)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_bundle_as_it_was_sealed_is_good(judge, name, pack):
    lines = LOG.bundle(**BUNDLES[name])
    found = judge(pack(written(lines)))
    assert (found["verdict"], found["exit"], found["kind"]) == ("good", 0, "good"), found
    counts = [found["counts"].get(kind, 0) for kind in ("record", "other", "block")]
    told = [sum(line["type"] == kind for line in lines) for kind in ("record", "other", "block")]
    assert counts == told


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33])
@pytest.mark.parametrize("complete", [True, False])
def test_blocks_of_any_size_hold(judge, size, complete):
    log = Log()
    for _ in range(size):
        log.record(tool='ünï\U0001f600\u2028\x7f\\"')
    log.seal()
    assert judge(written(log.bundle(complete=complete)))["exit"] == 0


def test_what_was_not_known_is_said(judge):
    found = judge(written(LOG.bundle({"tool": "send"})))
    assert [text.split(":")[0] for text in found["unknown"]] == [
        "whether the key is the log's",
        "whether who holds the key rewrote the log",
        "whether the filter asks for more records",
    ]
    everything = written(LOG.bundle(complete=True))
    key = Key("log").fingerprint
    assert judge(everything, key, [checkpoints(LOG, 6)])["unknown"] == []


def test_a_closed_segment_is_told(judge):
    assert judge(written(LOG.bundle()))["notes"] == ["note of block 4: 'the disk was full'"]


def test_records_deleted_before_they_were_sealed_are_missing_from_a_complete_bundle(
    judge,
):
    gap = ["f" * 32, 90, 92]
    log = some_log(gaps=[gap])
    some, whole = judge(written(log.bundle())), judge(written(log.bundle(complete=True)))
    assert [some["exit"], whole["exit"], whole["kind"]] == [0, 1, "missing"]
    assert whole["place"]["block"] == 2
    assert len(whole["breaks"]) == 1
    for found in (some, whole):
        assert f"gaps of block 2: [{gap}]" in found["notes"]
    assert whole["proven"] == {1: 5, 2: 9}


def test_the_fingerprints_of_its_keys_are_told_in_their_order(judge):
    found = judge(written(LOG.bundle()))
    assert found["keys"] == [Key("log").fingerprint, Key("log 2").fingerprint]
    assert found["log"] == LOG.id


# --- texts that are gone --------------------------------------------------------------------------


@pytest.mark.parametrize("complete", [True, False])
def test_texts_that_a_shown_pruning_deleted_are_counted(judge, complete):
    data = written(LOG.bundle({"tool": "send"}, complete=complete, pruned={2: PRUNING, 4: PRUNING}))
    found = judge(data)
    assert (found["exit"], found["counts"]["expired"]) == (0, 2)
    assert found["unknown"][0].startswith("what expired texts said")


@pytest.mark.parametrize(
    ("why", "shown"),
    [(0, True), (PRUNING, False), (15, True), (1, True)],
    ids=["no pruning named", "the pruning is not shown", "it is no pruning", "it came before"],
)
def test_texts_that_are_gone_without_a_pruning_leave_the_bundle_incomplete(judge, why, shown):
    lines = LOG.bundle({"tool": "send"}, pruned={2: why})
    lines = [line for line in lines if shown or line["type"] != "other"]
    found = judge(written(lines))
    assert (found["exit"], found["kind"]) == (2, "incomplete")
    assert "1 texts are gone" in found["what"]


def claimed(claim: Claim) -> list[dict[str, Any]]:
    """Return a bundle whose first text is gone, with the record that says why."""
    age, kind, asked_for = claim
    log, day = Log(), 24 * 3600
    log.clock = -age * day
    log.record(kind)
    log.clock = 0
    said = {} if asked_for else {"before": {kind: moment(-183 * day)}}
    log.record("prune", "", {"bodies": [[1, 1]], "why": "so it is", **said})
    log.seal()
    return log.bundle(pruned={1: 2})


@pytest.mark.parametrize("claim", BELIEVED.values(), ids=BELIEVED)
def test_a_text_that_may_have_been_deleted_is_expired(judge, claim):
    found = judge(written(claimed(claim)))
    assert (found["exit"], found["counts"]["expired"]) == (0, 1)
    asked_for = ["record 2 deleted texts on request: 'so it is'"]
    assert found["notes"] == (asked_for if claim[2] else [])


@pytest.mark.parametrize("claim", DISBELIEVED.values(), ids=DISBELIEVED)
def test_a_record_that_says_what_no_pruning_does_explains_nothing(judge, claim):
    found = judge(written(claimed(claim)))
    assert found["exit"] == 2
    assert found["what"] == "1 texts are gone, and no pruning that is shown tells of them"


# --- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["log", "log 2"])
@pytest.mark.parametrize("digits", [16, 64])
def test_any_key_of_the_chain_can_be_given(judge, name, digits):
    assert judge(written(LOG.bundle()), Key(name).fingerprint[:digits])["exit"] == 0


def test_another_key_is_named_at_once(judge):
    found = judge(written(LOG.bundle()), Key("other").fingerprint)
    assert (found["exit"], found["kind"]) == (1, "foreign")


def test_a_key_that_sealed_nothing_proves_nothing(judge):
    # Anyone can sign a statement that introduces somebody else's key.
    log = Log("thief")
    log.record()
    log.seal()
    log.rotate("log 2")
    data = written(log.bundle())
    assert judge(data, Key("thief").id)["exit"] == 0
    found = judge(data, Key("log 2").id)
    assert (found["exit"], found["what"]) == (2, "no block is sealed with the given key")


def test_a_key_that_was_replaced_seals_nothing_any_more(judge):
    log = Log()
    old = log.key
    log.rotate("log 2")
    log.seal()
    log.key = old
    log.seal()
    found = judge(written(log.bundle()))
    assert (found["exit"], found["kind"], found["place"]["block"]) == (1, "inserted", 2)


# --- checkpoints ----------------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", [(1,), (6,), (1, 2, 3, 4, 5, 6)], ids=str)
def test_a_checkpoint_kept_outside_agrees(judge, numbers):
    found = judge(written(LOG.bundle()), copies=[checkpoints(LOG, *numbers)])
    assert (found["exit"], found["counts"]["own checkpoint"]) == (0, len(numbers))


def test_the_block_right_before_the_bundle_is_proven_by_the_chain(judge):
    data = written(LOG.bundle({"first": 6}))
    assert judge(data, copies=[checkpoints(LOG, 1)])["exit"] == 0
    other = some_log("log")
    other.blocks[0] = {**other.blocks[0], "note": "rewritten"}
    other.signatures[0] = Key("log").sign(canonical(other.blocks[0]))
    found = judge(data, copies=[checkpoints(other, 1)])
    assert (found["exit"], found["kind"], found["place"]["block"]) == (1, "altered", 1)


@pytest.mark.parametrize("numbers", [(1,), (1, 2)])
def test_checkpoints_older_than_the_bundle_prove_nothing(judge, numbers):
    found = judge(written(LOG.bundle({"first": 16})), copies=[checkpoints(LOG, *numbers)])
    assert (found["exit"], found["what"]) == (2, "no given checkpoint is one of its blocks")


def test_checkpoints_newer_than_the_bundle_prove_nothing_and_do_no_harm(judge):
    log = some_log()
    data = written(log.bundle())
    log.rotate("log 3")
    log.seal()
    assert judge(data, copies=[checkpoints(log, 7)])["exit"] == 2
    assert judge(data, copies=[checkpoints(log, 6, 7)])["exit"] == 0


def test_a_cut_end_is_found_by_a_checkpoint_kept_outside(judge):
    log = some_log()
    kept = checkpoints(log, 6)
    del log.blocks[5], log.signatures[5], log.headers[16:]
    found = judge(written(log.bundle()), copies=[kept])
    assert (found["exit"], found["kind"], found["place"]["block"]) == (1, "missing", 6)
    assert judge(written(log.bundle()))["exit"] == 0  # nothing else can tell


@pytest.mark.parametrize("n", [1, 5, 6])
def test_a_log_rewritten_with_its_keys_is_found_by_a_checkpoint_kept_outside(judge, n):
    data = written(some_log(denied=2).bundle())
    assert judge(data, Key("log").id)["exit"] == 0  # nothing else can tell
    found = judge(data, copies=[checkpoints(LOG, n)])
    assert (found["exit"], found["kind"], found["place"]["block"]) == (1, "altered", n)


def test_a_log_rewritten_with_a_key_that_was_replaced_is_found_by_a_later_checkpoint(judge):
    log = Log()
    for _ in range(6):
        log.record()
        log.seal()
    data = written(log.bundle())
    assert judge(data, Key("log").id)["exit"] == 0
    assert judge(data, Key("log 2").id)["kind"] == "foreign"
    found = judge(data, copies=[checkpoints(LOG, 5)])
    assert (found["exit"], found["kind"]) == (1, "missing")


def test_checkpoints_of_another_log_are_named(judge):
    found = judge(written(LOG.bundle()), copies=[checkpoints(some_log("other"), 6)])
    assert (found["exit"], found["kind"]) == (1, "foreign")


@pytest.mark.parametrize("junk", [b"junk\n", b"{}\n", b"\xff\n", b"[" * 10_000], ids=repr)
def test_a_file_without_checkpoints_is_no_fault_of_the_bundle(judge, junk):
    found = judge(written(LOG.bundle()), copies=[junk[:20_000]])
    assert (found["exit"], found["kind"]) == (2, "incomplete")


def test_an_empty_file_of_checkpoints_proves_nothing(judge):
    assert judge(written(LOG.bundle()), copies=[b""])["exit"] == 2


# --- complete bundles -----------------------------------------------------------------------------


def test_a_complete_bundle_that_begins_late_may_lack_records(judge):
    lines = LOG.bundle({"tool": "send"}, complete=True)
    start = next(n for n, line in enumerate(lines) if '"n":2,' in line.get("block", ""))
    late = written([*lines[:3], *lines[start:]])
    found = judge(late)
    assert (found["exit"], found["what"]) == (
        2,
        "records before its first block may be asked for",
    )


def test_a_bundle_without_records_checks_nothing(judge):
    assert judge(written(LOG.bundle({"tool": "none"})))["exit"] == 2
