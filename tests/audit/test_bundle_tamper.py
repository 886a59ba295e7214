"""Bundles changed by hand: every kind of line, every way, and how the verdict names it.

The changes are made by somebody without the key who writes a new last line, and by somebody who
does not think of it.
"""

from typing import Any

import pytest

from tests.audit.bundles import Line, canonical, judged, some_log, written

pytestmark = pytest.mark.usefixtures("signatures_once")
LOG = some_log()
ONE_TOOL = {"tool": "send"}
FORMS = {
    "proofs": LOG.bundle(ONE_TOOL, pruned={2: 16}),
    "complete": LOG.bundle(ONE_TOOL, complete=True),
}
# What nothing is signed or hashed over: a bundle can say it of itself, and the verdict trusts none.
UNSEALED = {("bundle", "made_by"), ("bundle", "made_at"), ("checkpoint", "sink")}


def places() -> list[Any]:
    """Return each line of both bundles as form, number and name."""
    return [
        pytest.param(form, n, id=f"{form}-{n + 1}-{line['type']}")
        for form, lines in FORMS.items()
        for n, line in enumerate(lines)
    ]


@pytest.fixture
def judge(tmp_path):
    return lambda lines: judged(tmp_path, written(lines))


@pytest.fixture
def judge_naively(tmp_path):
    """Judge lines under the last line of another bundle."""

    def judge(lines: list[Line], form: str) -> Line:
        end = written(FORMS[form]).splitlines(keepends=True)[-1]
        body = b"".join(canonical(line).encode() + b"\n" for line in lines)
        return judged(tmp_path, body + end)

    return judge


def block_number(line: Line) -> int:
    return 1 + [canonical(block) for block in LOG.blocks].index(line["block"])


def is_blind(form: str, line: Line) -> bool:
    """Tell lines that may lack without any trace: the verdict says so each time."""
    return line["type"] == "checkpoint" or (form == "proofs" and line["type"] == "record")


# --- lines deleted, doubled, swapped, cut off -----------------------------------------------------


@pytest.mark.parametrize(("form", "n"), places())
def test_a_line_that_is_gone_is_missing(judge, judge_naively, form, n):
    lines, line = [*FORMS[form]], FORMS[form][n]
    del lines[n]
    assert judge_naively(lines, form)["exit"] == 1
    found = judge(lines)
    if is_blind(form, line):
        assert (found["exit"], found["unknown"] != []) == (0, True)
    elif line["type"] == "other" and form == "proofs":
        assert found["exit"] == 2  # the pruning that explains a text that is gone
    else:
        assert (found["exit"], found["kind"]) == (1, "missing"), found
        if line["type"] in {"record", "other"}:
            assert found["place"]["seq"] == line["seq"]
        if line["type"] == "block" and lines[n].get("type") == "block":
            assert found["place"]["block"] == block_number(line)


@pytest.mark.parametrize(("form", "n"), places())
def test_a_line_that_is_there_twice_is_a_double_and_no_deletion(judge, judge_naively, form, n):
    lines, line = [*FORMS[form]], FORMS[form][n]
    lines.insert(n, line)
    naive, found = judge_naively(lines, form), judge(lines)
    assert naive["exit"] == 1
    if line["type"] == "checkpoint":
        assert found["exit"] == 0
        return
    assert naive["kind"] == found["kind"] == "duplicated", found
    assert found["place"]["line"] == n + 2
    assert found["place"].get("seq") == line.get("seq")
    if line["type"] == "block":
        assert found["place"]["block"] == block_number(line)


@pytest.mark.parametrize(("form", "n"), places())
def test_a_record_or_block_put_in_once_more_at_the_end_is_no_deletion(judge, form, n):
    lines, line = [*FORMS[form]], FORMS[form][n]
    if line["type"] not in {"record", "other", "block"}:
        return
    lines.insert(-1, line)
    found = judge(lines)
    assert found["exit"] == 1
    assert found["kind"] in {"duplicated", "reordered"}


@pytest.mark.parametrize(("form", "n"), places())
def test_two_lines_that_changed_places_are_reordered(judge, judge_naively, form, n):
    lines = [*FORMS[form]]
    if n + 1 == len(lines):
        return
    lines[n], lines[n + 1] = lines[n + 1], lines[n]
    assert judge_naively(lines, form)["exit"] == 1
    found = judge(lines)
    assert (found["exit"], found["kind"]) == (1, "reordered"), found
    assert found["place"]["line"] in {n + 1, n + 2}


@pytest.mark.parametrize(("form", "n"), places())
@pytest.mark.parametrize("within", [True, False], ids=["in the line", "after it"])
def test_what_is_cut_off_is_incomplete(tmp_path, form, n, within):
    raw = written(FORMS[form]).splitlines(keepends=True)
    rest = raw[n][: len(raw[n]) // 2] if within else raw[n]
    found = judged(tmp_path, b"".join(raw[:n]) + rest)
    assert (found["exit"], found["kind"]) == (2, "incomplete"), found


@pytest.mark.parametrize("form", FORMS)
def test_blocks_that_changed_places_with_all_their_records_are_reordered(judge, form):
    lines = FORMS[form]
    starts = [n for n, line in enumerate(lines) if line["type"] == "block"]
    for one, other, end in zip(starts, starts[1:], starts[2:], strict=False):
        found = judge([*lines[:one], *lines[other:end], *lines[one:other], *lines[end:]])
        assert (found["exit"], found["kind"]) == (1, "reordered")
        assert found["place"]["block"] == block_number(lines[one])


def test_lines_behind_the_last_one_are_named(tmp_path):
    data = written(FORMS["proofs"])
    end = data.splitlines(keepends=True)[-1]
    for more, kind in ((b"\n", "inserted"), (b"junk", "inserted"), (end, "duplicated")):
        assert (judged(tmp_path, data + more)["kind"]) == kind
    moved = data.splitlines(keepends=True)
    moved[-1], moved[-2] = moved[-2], moved[-1]
    assert judged(tmp_path, b"".join(moved))["kind"] == "reordered"


# --- values changed -------------------------------------------------------------------------------


def other_value(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value[:-2] + chr(ord(value[-2]) ^ 1) + value[-1] if len(value) > 1 else value + "x"
    if isinstance(value, list):
        return [*value, "00" * 32]
    return {"agent": "x"} if isinstance(value, dict) else "x"


def changes(line: Line) -> list[tuple[str, Line]]:
    """Return the line with each member and each part of its header or proof changed."""
    found = [(name, {**line, name: other_value(line[name])}) for name in line]
    for name in ("header", "proof"):
        for n, value in enumerate(line.get(name, ())):
            parts = [*line[name]]
            parts[n] = other_value(value)
            found.append((f"{name} {n}", {**line, name: parts}))
    for name in line:
        rest = {key: value for key, value in line.items() if key != name}
        found += [(f"no {name}", rest), (f"{name} is a list", {**line, name: [[]]})]
    return [*found, ("more", {**line, "more": 1})]


@pytest.mark.parametrize(("form", "n"), places())
def test_a_value_that_is_another_is_found(judge, judge_naively, form, n):
    for name, changed in changes(FORMS[form][n]):
        lines = [*FORMS[form]]
        lines[n] = changed
        assert judge_naively(lines, form)["exit"] in {1, 2}
        found = judge(lines)
        if (FORMS[form][n]["type"], name) in UNSEALED:
            continue
        assert found["exit"] in {1, 2}, (name, found)
        open_ended = {"format", "expired", "no expired", "no text"}
        assert found["exit"] == 1 or name in open_ended, (name, found)


@pytest.mark.parametrize(("form", "n"), places())
def test_what_was_altered_in_a_record_is_called_so_and_its_place_is_named(judge, form, n):
    line = FORMS[form][n]
    if line["type"] not in {"record", "other"}:
        return
    altered = {*(f"header {k}" for k in range(25)), *(f"proof {k}" for k in range(9)), "text"}
    for name, changed in changes(line):
        if name not in altered or (name == "text" and line["text"] is None):
            continue
        lines = [*FORMS[form]]
        lines[n] = changed
        found = judge(lines)
        assert found["kind"] == "altered", (name, found)
        block = next(b for b in LOG.blocks if 0 <= line["seq"] - b["first"] < b["count"])
        assert found["place"].get("block", block["n"]) == block["n"]
        assert found["place"].get("seq", line["seq"]) == line["seq"]
        assert {"block", "line"} & found["place"].keys()


@pytest.mark.parametrize("form", FORMS)
def test_any_sign_of_a_signed_text_counts(judge, form):
    for n, line in enumerate(FORMS[form]):
        name = "statement" if line["type"] == "key" else "block"
        text = line.get(name) or ""
        for at in range(n % 7, len(text), 31):
            lines = [*FORMS[form]]
            lines[n] = {**line, name: text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :]}
            found = judge(lines)
            assert found["exit"] == 1, (at, found)


# --- lines put in ---------------------------------------------------------------------------------


def forged(line: Line, **changed: Any) -> Line:
    header = [*line["header"]]
    header[1] = "00000000-0000-0000-0000-000000000000"
    return {**line, "header": header, **changed}


@pytest.mark.parametrize("form", FORMS)
def test_a_record_put_in_under_a_number_that_is_taken_is_inserted(judge, form):
    for n, line in enumerate(FORMS[form]):
        if line["type"] == "record":
            found = judge([*FORMS[form][: n + 1], forged(line), *FORMS[form][n + 1 :]])
            assert (found["kind"], found["place"]["seq"]) == ("inserted", line["seq"])
            assert found["place"]["line"] == n + 2


@pytest.mark.parametrize("form", FORMS)
def test_a_record_under_a_number_that_no_block_sealed_is_named(judge, form):
    last = max(n for n, line in enumerate(FORMS[form]) if line["type"] == "record")
    line = forged(FORMS[form][last], seq=99)
    found = judge([*FORMS[form][: last + 1], line, *FORMS[form][last + 1 :]])
    assert (found["exit"], found["place"]["seq"]) == (1, 99)


def test_a_record_that_the_filter_does_not_ask_for_is_inserted(judge):
    lines = [{**FORMS["complete"][0], "filter": {"tool": "read"}}, *FORMS["complete"][1:]]
    found = judge(lines)
    assert (found["exit"], found["kind"]) == (1, "missing")  # the first that it asks for
    assert found["place"]["seq"] == 1
    everything = LOG.bundle()
    found = judge([{**everything[0], "filter": ONE_TOOL}, *everything[1:]])
    assert (found["kind"], found["place"]["seq"]) == ("inserted", 1)


def test_a_record_whose_text_is_held_back_is_missing_from_a_complete_bundle(judge):
    lines = [*FORMS["complete"]]
    n = next(n for n, line in enumerate(lines) if line["type"] == "record")
    lines[n] = {"type": "other", "seq": lines[n]["seq"], "header": lines[n]["header"]}
    found = judge(lines)
    assert (found["exit"], found["kind"]) == (1, "missing")
    assert found["place"] == {"line": n + 1, "seq": lines[n]["seq"], "block": 1}


def test_a_block_of_another_log_is_foreign(judge):
    lines, other = [*FORMS["proofs"]], some_log("other")
    other.key_lines = LOG.key_lines
    n = next(n for n, line in enumerate(lines) if line["type"] == "block")
    lines[n] = {"type": "block", **other.checkpoint(1)}
    found = judge(lines)
    assert (found["exit"], found["kind"], found["place"]["block"]) == (1, "foreign", 1)
