"""What is wrong in a bundle is named by its record, and how: as the server's verification does."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.audit.bundles import NAMES, Line, Log, canonical, hash_of, judged, some_log, written

pytestmark = pytest.mark.usefixtures("signatures_once")
LOG = some_log()
COMPLETE = LOG.bundle({"tool": "send"}, complete=True)
FIRST_BLOCK = range(1, 6)
Change = Callable[[list[Line]], None]


@pytest.fixture
def judge(tmp_path):
    return lambda lines: judged(tmp_path, written(lines))


def place_of(seq: int, lines: list[Line] = COMPLETE) -> int:
    return next(n for n, line in enumerate(lines) if line.get("seq") == seq)


def other_value(value: Any) -> Any:
    return {str: f"{value}x", int: 7, type(None): 7}[type(value)]


# --- headers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", NAMES)
@pytest.mark.parametrize("seq", [2, 3], ids=["asked for", "another"])
def test_a_column_that_was_altered_names_its_record(judge, column, seq):
    lines, n = [*COMPLETE], place_of(seq)
    header = [*lines[n]["header"]]
    place = 1 + NAMES.index(column)
    header[place] = "2026-11-30T06:00:59.000000Z" if column == "at" else other_value(header[place])
    lines[n] = {**lines[n], "header": header}
    found = judge(lines)
    assert (found["kind"], found["what"]) == ("altered", "its header is not as sealed")
    assert found["place"] == {"line": n + 1, "seq": seq, "block": 1}
    assert len(found["breaks"]) == 1


def exchange(lines: list[Line], one: int, other: int) -> None:
    """Let two records keep their numbers and exchange the rest."""
    a, b = place_of(one, lines), place_of(other, lines)
    lines[a], lines[b] = {**lines[b], "seq": one}, {**lines[a], "seq": other}


def double(lines: list[Line], seq: int) -> None:
    """Let the record before stand in the place of a record too."""
    lines[place_of(seq, lines)] = {**lines[place_of(seq - 1, lines)], "seq": seq}


def drop(lines: list[Line], seq: int) -> None:
    """Take a record away, let those behind move up, and put another one at the end."""
    for number in range(seq, FIRST_BLOCK.stop - 1):
        lines[place_of(number, lines)] = {**lines[place_of(number + 1, lines)], "seq": number}
    last = place_of(FIRST_BLOCK.stop - 1, lines)
    lines[last] = {**lines[place_of(6, lines)], "seq": FIRST_BLOCK.stop - 1}


def put_in(lines: list[Line], seq: int) -> None:
    """Put another record in, and let those behind move down."""
    for number in range(FIRST_BLOCK.stop - 1, seq, -1):
        lines[place_of(number, lines)] = {**lines[place_of(number - 1, lines)], "seq": number}
    header = [*lines[place_of(seq, lines)]["header"]]
    header[1] = "00000000-0000-0000-0000-000000000000"
    lines[place_of(seq, lines)] = {"type": "other", "seq": seq, "header": header}


CHANGES: dict[str, tuple[Change, str, int]] = {
    "two exchanged": (lambda lines: exchange(lines, 2, 4), "reordered", 2),
    "two exchanged, one not asked for": (lambda lines: exchange(lines, 1, 2), "reordered", 1),
    "one doubled over another": (lambda lines: double(lines, 3), "duplicated", 3),
    "one gone, the rest moved up": (lambda lines: drop(lines, 2), "missing", 2),
    "one put in, the rest moved down": (lambda lines: put_in(lines, 2), "inserted", 2),
}


@pytest.mark.parametrize("name", CHANGES)
def test_records_renumbered_to_hide_a_change_are_told_apart(judge, name):
    change, kind, seq = CHANGES[name]
    lines = [*COMPLETE]
    change(lines)
    found = judge(lines)
    assert (found["exit"], found["kind"], found["place"]["seq"]) == (1, kind, seq), found


@pytest.mark.parametrize("seq", FIRST_BLOCK)
def test_a_leaf_altered_alone_names_its_record(judge, seq):
    lines = [*COMPLETE]
    n = next(n for n, line in enumerate(lines) if line["type"] == "block")
    leaves = [*lines[n]["leaves"]]
    leaves[seq - 1] = "00" * 32
    lines[n] = {**lines[n], "leaves": leaves}
    found = judge(lines)
    assert (found["kind"], found["place"]["seq"]) == ("altered", seq)
    assert found["what"] == "its header is not that of its leaf"


def with_its_leaf(column: str, value: Any, seq: int) -> list[Line]:
    """Alter a column of a record in the first block of the complete bundle, and its leaf."""
    log = some_log()
    log.headers[seq - 1][1 + NAMES.index(column)] = value
    lines = [*COMPLETE]
    lines[place_of(seq)] = {**lines[place_of(seq)], "header": log.headers[seq - 1]}
    n = next(n for n, line in enumerate(lines) if line["type"] == "block")
    leaves = [digest.hex() for digest in log.leaves(1, 5)]
    lines[n] = {**lines[n], "leaves": leaves}
    return lines


def test_a_column_altered_with_its_leaf_names_the_record_where_the_text_says_otherwise(judge):
    found = judge(with_its_leaf("kind", "listing", 2))
    assert (found["kind"], found["place"]["seq"]) == ("altered", 2)
    assert found["what"] == "its header and its text tell two things: kind"


def test_a_column_altered_with_its_leaf_names_the_block_where_nothing_tells_more(judge):
    found = judge(with_its_leaf("policy_version", 17, 2))
    assert (found["kind"], found["place"]) == ("altered", {"block": 1})
    assert found["what"] == "a leaf of it was altered, or more with its header"


@pytest.mark.parametrize("leaves", [[], ["x"] * 5, [None] * 5, [["00"]] * 5, ["00" * 32] * 4])
def test_leaves_that_are_none_are_a_break(judge, leaves):
    lines = [*COMPLETE]
    n = next(n for n, line in enumerate(lines) if line["type"] == "block")
    lines[n] = {**lines[n], "leaves": leaves}
    found = judge(lines)
    assert (found["exit"], found["kind"], found["place"]["block"]) == (1, "altered", 1)


@pytest.mark.parametrize("complete", [True, False])
def test_texts_that_were_exchanged_are_reordered(judge, complete):
    lines = LOG.bundle({"tool": "send"}, complete=complete)
    one, other = place_of(2, lines), place_of(4, lines)
    texts = lines[one]["text"], lines[other]["text"]
    lines[one], lines[other] = {**lines[one], "text": texts[1]}, {**lines[other], "text": texts[0]}
    found = judge(lines)
    assert (found["kind"], found["place"]["seq"]) == ("reordered", 2)
    lines[other] = {**lines[other], "text": texts[1]}
    assert judge(lines)["kind"] == "reordered"  # record 4 is told later: its own text, elsewhere
    lines[one] = {**lines[one], "text": texts[0] + " "}
    assert judge(lines)["kind"] == "altered"


# --- what a block counts --------------------------------------------------------------------------

MISCOUNTED: list[tuple[str, Any]] = [
    ("outcomes", {"allow": 2}),
    ("outcomes", {"allow": 1, "deny": 2}),
    ("outcomes", {}),
    ("outcomes", {"allow": 2, "deny": 1, "": 0}),
    ("outcomes", {"allow": "2", "deny": [1]}),
    ("from", None),
    ("from", "2026-11-30T06:00:02.000000Z"),
    ("to", "2027-11-30T06:00:02.000000Z"),
]


@pytest.mark.parametrize(("member", "value"), MISCOUNTED, ids=str)
def test_what_a_block_counts_is_counted_again(judge, member, value):
    log = Log()
    for outcome in ("allow", "deny", "allow"):
        log.record(outcome=outcome)
    log.seal(**{member: value})
    found = judge(log.bundle(complete=True))
    assert (found["kind"], found["place"]) == ("altered", {"block": 1})
    assert found["what"] == f"its records have other {member}"


@pytest.mark.parametrize(
    ("member", "value"), [("outcomes", {"allow": 1}), ("to", "2026-11-30T06:00:02.000000Z")]
)
def test_an_empty_block_counts_nothing(judge, member, value):
    log = Log()
    log.record()
    log.seal()
    log.seal()
    assert judge(log.bundle(complete=True))["exit"] == 0
    log.seal(**{member: value})
    log.seal()
    found = judge(log.bundle(complete=True))
    assert (found["kind"], found["place"]["block"]) == ("altered", 3)
    assert found["what"] == f"its records have other {member}"


# --- what a text says of the columns --------------------------------------------------------------

ACTOR = {"kind": "client", "label": "ci", "key_id": "abcd1234"}
DECISION: Line = {
    "asker": ACTOR,
    "origin": {"request_id": "r-1"},
    "context": {"agent": "bot", "session": "s"},
    "policy": {"version": 4, "digest": "x"},
    "answer": {
        "surface": "call",
        "outcome": "deny",
        "reason_code": "rule",
        "tool": {"family": None, "name": "send\0all" * 40},
        "blocked_by": {"layer": "baseline", "rule": "no-send", "index": 0},
    },
}
COLUMNS: Line = {
    "surface": "call",
    "outcome": "deny",
    "reason_code": "rule",
    "family": "",
    "tool": ("send\\0all" * 40)[:128],
    "agent": "bot",
    "channel": "",
    "session": "s",
    "client_key_id": "abcd1234",
    "layer": "baseline",
    "rule": "no-send",
    "policy_version": 4,
    "actor_label": "ci",
    "request_id": "r-1",
}


def one_record(kind: str, text: Line, **columns: Any) -> Log:
    log = Log()
    log.record(kind, more=text, **{"outcome": "", **columns})
    log.seal()
    return log


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("kind", ["decision", "simulation"])
def test_a_text_and_columns_that_agree_are_good(judge, kind, complete):
    log = one_record(kind, DECISION, **COLUMNS)
    assert judge(log.bundle(complete=complete))["exit"] == 0


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("value", ["other", ""])
def test_a_column_that_the_text_contradicts_is_named(judge, column, value, complete):
    value = 5 if column == "policy_version" else value
    value = "other" if value == COLUMNS[column] else value
    log = one_record("decision", DECISION, **{**COLUMNS, column: value})
    found = judge(log.bundle(complete=complete))
    assert found["what"] == f"its header and its text tell two things: {column}"
    assert (found["kind"], found["place"]) == ("altered", {"line": 4, "seq": 1, "block": 1})


def test_an_answer_that_no_layer_blocked_has_no_layer(judge):
    text = {**DECISION, "answer": {**DECISION["answer"], "blocked_by": None}}
    log = one_record("decision", text, **{**COLUMNS, "layer": "", "rule": ""})
    assert judge(log.bundle())["exit"] == 0
    found = judge(one_record("decision", text, **COLUMNS).bundle())
    assert found["what"] == "its header and its text tell two things: layer, rule"


@pytest.mark.parametrize("kind", ["change", "export", "key", "sign_in"])
def test_of_other_records_who_did_it_is_compared(judge, kind):
    text = {"actor": ACTOR, "origin": {}, "context": {"agent": "x"}, "answer": {"outcome": "x"}}
    told = {"actor_label": "ci", "client_key_id": "abcd1234"}
    assert judge(one_record(kind, text, **told).bundle())["exit"] == 0
    found = judge(one_record(kind, text, **{**told, "actor_label": "ann"}).bundle())
    assert found["what"] == "its header and its text tell two things: actor_label"


@pytest.mark.parametrize("kind", ["decision", "listing", "change"])
@pytest.mark.parametrize("text", [{}, {"actor": "x", "origin": [], "context": 1, "policy": []}])
def test_what_a_text_does_not_say_contradicts_nothing(judge, kind, text):
    assert judge(one_record(kind, text, **COLUMNS).bundle())["exit"] == 0


@pytest.mark.parametrize("answer", ["x", 1, [1], True])
def test_a_sealed_text_of_another_form_gets_a_verdict(judge, answer):
    found = judge(one_record("decision", {"answer": answer}, **COLUMNS).bundle())
    assert (found["exit"], found["place"]["line"]) == (1, 4)


def test_the_tests_write_texts_as_their_hashes_say():
    log = one_record("decision", DECISION, **COLUMNS)
    assert log.headers[0][6] == hash_of(b"\0", log.texts[0])
    assert canonical({"a": 1}) == '{"a":1}'
