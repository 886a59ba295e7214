"""Forged bundles: what somebody without the key can put together never comes out as good.

Or it is good as it stands, and the verdict tells what of it nobody signed: the filter, whether it
is complete, when it was made, and where it ends.
"""

import json

import pytest

from tests.audit.bundles import (
    PRUNING,
    Key,
    Line,
    Log,
    canonical,
    judged,
    places,
    some_log,
    written,
)
from toolpolicy.audit import verify_bundle

pytestmark = pytest.mark.usefixtures("signatures_once")
LOG = some_log()
SEND, READ = {"tool": "send"}, {"tool": "read"}


@pytest.fixture
def judge(tmp_path):
    return lambda lines, key="", copies=(): judged(tmp_path, written(lines), key, copies)


def kept(log: Log, *numbers: int) -> bytes:
    return b"".join(canonical(log.checkpoint(n)).encode() + b"\n" for n in numbers)


# --- the end cut off ------------------------------------------------------------------------------


@pytest.mark.parametrize("complete", [True, False])
def test_the_newest_blocks_left_out_are_missed_by_a_checkpoint(judge, complete):
    lines = LOG.bundle(complete=complete, sinks=())
    cut = lines[: places(lines, "block")[5]]
    found = judge(cut, copies=[kept(LOG, 5, 6)])
    assert (found["exit"], found["kind"], found["place"]["block"]) == (1, "missing", 6)
    assert judge(cut)["until"] == [5, LOG.blocks[4]["at"]]


def test_a_bundle_that_says_to_be_older_than_what_it_leaves_out_is_told_to_end_there(judge):
    lines = LOG.bundle(complete=True, sinks=())
    lines[0] = {**lines[0], "made_at": LOG.blocks[4]["at"]}
    cut = lines[: places(lines, "block")[5]]
    found = judge(cut, copies=[kept(LOG, 1, 2, 3, 4, 5, 6)])
    assert (found["exit"], found["made_at"]) == (0, LOG.blocks[4]["at"])
    assert "what follows block 5: a given checkpoint is of a later one" in found["unknown"]


def test_what_follows_the_last_checkpoint_is_told_to_be_the_word_of_the_key_alone(judge):
    found = judge(LOG.bundle(complete=True), copies=[kept(LOG, 2, 4)])
    assert found["exit"] == 0
    assert any("what follows block 4" in text for text in found["unknown"])
    found = judge(LOG.bundle(complete=True), copies=[kept(LOG, 2, 6)])
    assert not any("what follows" in text for text in found["unknown"])


@pytest.mark.parametrize("n", range(1, 7))
def test_the_last_record_of_a_block_left_out_is_missing(judge, n):
    block = LOG.blocks[n - 1]
    last = block["first"] + block["count"] - 1
    lines = LOG.bundle(complete=True)
    found = judge([line for line in lines if line.get("seq") != last])
    if block["count"]:
        assert (found["exit"], found["kind"], found["place"]["seq"]) == (1, "missing", last)


# --- proofs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 7, 8, 9])
def test_a_proof_leads_from_no_other_record_and_no_other_place(judge, size):
    log = Log()
    for _ in range(size):
        log.record()
    log.seal()
    good = log.bundle()
    records = places(good, "record")
    for one in records:
        for other in records:
            if one != other:
                lines = [*good]
                lines[one] = {**lines[one], "proof": good[other]["proof"]}
                assert size == 1 or judge(lines)["kind"] == "altered"


def test_a_node_is_no_leaf_and_a_leaf_is_no_node(judge):
    good = LOG.bundle()
    n = places(good, "record")[0]
    path = good[n]["proof"]
    for proof in (path[1:], path[:-1], [path[0], *path], [*path, path[0]], path[::-1], []):
        found = judge([*good[:n], {**good[n], "proof": proof}, *good[n + 1 :]])
        assert (found["exit"], found["place"]["seq"]) == (1, 1)


def test_leaves_that_are_the_nodes_above_lead_to_the_root_and_are_refused(judge):
    lines = LOG.bundle(complete=True)
    n = places(lines, "block")[3]
    tree = LOG.tree(9, 7)
    above = [digest.hex() for digest in tree._levels[1]]
    assert tree.root == verify_bundle.root_of([bytes.fromhex(digest) for digest in above])
    found = judge([*lines[:n], {**lines[n], "leaves": above}, *lines[n + 1 :]])
    assert (found["exit"], found["place"]["block"]) == (1, 4)


# --- blocks and keys ------------------------------------------------------------------------------


def test_a_record_in_an_empty_block_has_no_block(judge):
    log = Log()
    log.record()
    log.seal()
    log.seal()
    lines = log.bundle(complete=True)
    record = lines[places(lines, "record")[0]]
    for seq in (1, 2):
        extra = {**record, "seq": seq}
        assert judge([*lines[:-1], extra, lines[-1]])["exit"] == 1


def signed_by(name: str, log: Log) -> list[Line]:
    """Return the bundle of a log with every signature made by another key."""
    key, lines = Key(name), log.bundle(complete=True, sinks=())
    resigned = []
    for line in lines:
        changed = {**line}
        if line["type"] == "block":
            text = line["block"].replace(log.key.id, key.id)
            changed |= {"block": text, "signature": key.sign(text)}
        resigned.append(changed)
    return resigned


def test_a_bundle_signed_with_another_key_is_not_of_the_key_that_was_given(judge):
    log = Log()
    log.record()
    log.seal()
    thief, lines = Key("thief"), signed_by("thief", log)
    own = {"key": thief.id, "public": thief.public}
    forged = [{**lines[0], "key": thief.id}, {**lines[1], **own}, *lines[2:]]
    assert judge(forged)["exit"] == 0  # nothing else can tell
    assert judge(forged, log.key.id)["kind"] == "foreign"
    assert judge(forged, copies=[kept(log, 1)])["exit"] == 1
    named = {**lines[1], "public": thief.public}
    assert judge([lines[0], named, *lines[2:]], log.key.id)["exit"] == 1
    assert judge(lines)["exit"] == 1


def test_a_thief_who_introduces_the_key_of_the_log_cannot_put_blocks_before_its_own(judge):
    thief = Log("log")
    thief.key = Key("thief")
    thief.key_lines = [thief._key_line(None, None)]
    thief.record(outcome="allow")
    thief.seal()
    thief.rotate("log")  # its statement about a key that is not the thief's
    genuine = Log("log")
    genuine.record(outcome="deny")
    genuine.seal()
    genuine.record()
    genuine.seal()
    own = genuine.bundle(complete=True, sinks=())
    start = places(own, "block")[1]
    forged = thief.bundle(complete=True, sinks=())
    found = judge([*forged, *own[start:]], Key("log").id)
    assert (found["exit"], found["place"]["block"]) == (1, 2)
    assert found["what"] == "it does not follow block 1: one was rewritten"


def test_blocks_of_two_logs_with_one_key_do_not_mix(judge):
    other = Log("log")
    other.id = "another log of the same key"
    for log in (other, own := Log("log")):
        log.record()
        log.seal()
        log.record()
        log.seal()
    lines, foreign = own.bundle(complete=True), other.bundle(complete=True)
    n = places(lines, "block")[1]
    found = judge([*lines[:n], *foreign[n:]])
    assert (found["exit"], found["kind"], found["place"]["block"]) == (1, "foreign", 2)


# --- what nobody signed: the first line -----------------------------------------------------------


def test_records_of_another_bundle_of_the_log_are_not_what_the_filter_asks_for(judge):
    one, other = LOG.bundle(SEND), LOG.bundle(READ)
    mixed = [*one]
    n = places(one, "block")[0]
    extra = next(line for line in other if line.get("seq") == 1)
    mixed.insert(n + 1, extra)
    found = judge(mixed)
    assert (found["exit"], found["kind"], found["place"]["seq"]) == (1, "inserted", 1)


@pytest.mark.parametrize("wanted", [{"tool": "none"}, {"first": 4, **SEND}, {"agent": "x"}])
def test_a_filter_that_was_narrowed_is_told(judge, wanted):
    forged = LOG.bundle(wanted, complete=True)
    found = judge(forged)
    assert (found["exit"], found["filter"], found["complete"]) == (0, wanted, True)


def test_a_bundle_that_is_made_incomplete_to_leave_records_out_is_told(judge):
    lines = LOG.bundle(SEND)
    found = judge([line for line in lines if line.get("seq") != 4])
    assert (found["exit"], found["complete"]) == (0, False)
    assert "whether the filter asks for more records" in found["unknown"][-1]


@pytest.mark.parametrize("complete", [True, False])
def test_a_bundle_is_not_made_complete_by_its_word(judge, complete):
    lines = LOG.bundle(complete=complete)
    found = judge([{**lines[0], "complete": not complete}, *lines[1:]])
    assert (found["exit"], found["kind"]) == (1, "altered")


def test_an_older_form_proves_no_less(judge):
    lines = LOG.bundle(complete=True)
    found = judge([{**lines[0], "format": "toolpolicy-bundle/1"}, *lines[1:]])
    assert (found["exit"], found["kind"]) == (2, "incomplete")
    assert found["what"] == "its format 'toolpolicy-bundle/1' is not known"


# --- texts held back ------------------------------------------------------------------------------


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("spans", [[], [[3, 3]], [[1, 1], [3, 9]], [[2, 1]], [[3, 2]]], ids=str)
def test_a_text_held_back_is_not_explained_by_a_pruning_of_others(judge, spans, complete):
    log = some_log()
    log.texts[15] = canonical({**json.loads(log.texts[15]), "bodies": spans})
    log.headers[15][6] = verify_bundle.hashed(b"\0", log.texts[15].encode()).hex()
    log.blocks[4:], log.signatures[4:] = [], []
    log.seal()
    lines = log.bundle(SEND, complete=complete, pruned={2: PRUNING})
    found = judge(lines)
    assert (found["exit"], found["kind"]) == (2, "incomplete")
    assert found["what"] == "1 texts are gone, and no pruning that is shown tells of them"


@pytest.mark.parametrize("complete", [True, False])
def test_a_pruning_without_its_text_explains_nothing(judge, complete):
    lines = LOG.bundle(SEND, complete=complete, pruned={2: PRUNING})
    assert judge(lines)["exit"] == 0
    n = next(n for n, line in enumerate(lines) if line.get("seq") == PRUNING)
    bare = {name: value for name, value in lines[n].items() if name != "text"}
    assert judge([*lines[:n], bare, *lines[n + 1 :]])["exit"] == 2
    text = bare | {"text": lines[n]["text"].replace("[2,4]", "[1,9]")}
    assert judge([*lines[:n], text, *lines[n + 1 :]])["kind"] == "altered"


BODIES = ["x", 7, [1], [["a", "b"]], [[1]], [[1, 2, 3]], {"a": 1}, None]
TIMES = ["x", 7, [1], {"decision": 7}, {"decision": None}, {"decision": "0"}, [["decision", 7]], 0]


@pytest.mark.parametrize(
    "said",
    [*({"bodies": odd} for odd in BODIES), *({"bodies": [[1, 1]], "before": odd} for odd in TIMES)],
    ids=str,
)
@pytest.mark.parametrize("at", ["2026-11-30", "0001-01-01", "2026-13-31"])
def test_a_sealed_pruning_of_another_form_gets_a_verdict(judge, said, at):
    log = Log()
    log.record()
    log.record("prune", "", {**said, "at": f"{at}T00:00:00.000000Z"}, at=f"{at}T00:00:00.000000Z")
    log.seal()
    assert judge(log.bundle(pruned={1: 2}))["exit"] in {1, 2}
