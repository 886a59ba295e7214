"""What somebody with the key can sign that is no log: a verdict all the same."""

import json

import pytest

from tests.audit.bundles import Key, Log, canonical, hash_of, judged, written

COLUMNS = {"id": "uid", "kind": "kind", "at": "at", "writer": "writer_id, writer_n"}
VALUES = ["", "x", "0" * 64, 0, -1, 10**20, 1.5, True, None, [], [[]], {}, {"a": 1}, "\ud7ff\0"]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_signed_block_may_say_anything(tmp_path, value):
    """Whoever holds the key can sign nonsense; it is a verdict all the same."""
    log = Log()
    log.record()
    for member in (*log.seal(), "more"):
        text = canonical({**log.blocks[0], member: value})
        lines = log.bundle(sinks=())
        lines[2] = {"type": "block", "block": text, "signature": Key("log").sign(text)}
        found = judged(tmp_path, written(lines))
        free = {"gaps", "note", "outcomes", "n", "from", "to"}  # nothing in the bundle tells more
        assert found["exit"] in {1, 2} or member in free or text == canonical(log.blocks[0])


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_signed_statement_about_a_key_may_say_anything(tmp_path, value):
    log = Log()
    log.rotate("second")
    log.seal()
    said = json.loads(log.key_lines[1]["statement"])
    for member in (*said, "more"):
        text = canonical({**said, member: value})
        log.key_lines[1] |= {"statement": text, "signature": Key("log").sign(text)}
        assert judged(tmp_path, written(log.bundle()))["exit"] == 1


@pytest.mark.parametrize(
    ("n", "value"),
    [
        (0, "toolpolicy-record/2"),
        (3, "2026"),
        (5, "1"),
        (11, None),
        (15, True),
        (19, 1.5),
        (25, ""),
    ],
)
@pytest.mark.parametrize("complete", [True, False])
def test_a_sealed_header_of_another_form_is_refused(tmp_path, n, value, complete):
    log = Log()
    log.record()
    log.headers[0][n : n + 1] = [value]  # one more at the end
    log.seal()
    assert judged(tmp_path, written(log.bundle(complete=complete)))["exit"] == 1


@pytest.mark.parametrize("name", ["id", "kind", "at", "writer"])
@pytest.mark.parametrize("value", ["x", {"id": "f" * 32, "n": 2}, None], ids=str)
@pytest.mark.parametrize("complete", [True, False])
def test_a_text_that_says_otherwise_than_its_header_was_altered_before_it_was_sealed(
    tmp_path, name, value, complete
):
    log = Log()
    log.record()
    log.texts[0] = canonical({**json.loads(log.texts[0]), name: value})
    log.headers[0][6] = hash_of(b"\0", log.texts[0])
    log.seal()
    found = judged(tmp_path, written(log.bundle(complete=complete)))
    n_alone = name == "writer" and isinstance(value, dict)
    columns = "writer_n" if n_alone else COLUMNS[name]
    assert found["what"] == f"its header and its text tell two things: {columns}"
    assert (found["kind"], found["place"]) == ("altered", {"line": 4, "seq": 1, "block": 1})


@pytest.mark.parametrize("text", ["", "[]", "{}", "17", "{", "[" * 100_000, '{"a":1,"a":1}', "NaN"])
def test_a_sealed_text_that_is_no_record_is_refused(tmp_path, text):
    log = Log()
    log.record()
    log.texts[0], log.headers[0][6] = text, hash_of(b"\0", text)
    log.seal()
    assert judged(tmp_path, written(log.bundle()))["kind"] == "altered"


def test_a_pruning_explains_no_text_that_came_after_it(tmp_path):
    log = Log()
    log.record("prune", "", {"bodies": [[2, 2]]})
    log.record()
    log.record("prune", "", {"bodies": [[2, 2]]})
    log.seal()
    for why, code in ((1, 2), (2, 2), (3, 0)):
        assert judged(tmp_path, written(log.bundle(pruned={2: why})))["exit"] == code
