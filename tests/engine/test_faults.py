"""What is told of a wrong input stays readable and small, however large and wrong it is."""

import difflib

import pytest

from toolpolicy.engine.documents import parse_layers, parse_policy
from toolpolicy.engine.faults import (
    LONGEST_NAME,
    MORE_FAULTS,
    MOST_HINTED,
    MOST_NAMED,
    Fault,
    FaultList,
    Faults,
    join,
    shown,
    total,
)
from toolpolicy.engine.mcp import read_tools
from toolpolicy.engine.questions import parse_question
from toolpolicy.engine.strictjson import loads

WRONG = 3 * MOST_NAMED
NUMBERED = dict.fromkeys(map(str, range(WRONG)))
# Readers, each with an input in which it finds so many faults and no others.
READERS = {
    "json": (loads, b'["\\u0000"%s]' % (b',"\\u0000"' * (WRONG - 1))),
    "policy": (parse_policy, {"format": "toolpolicy/1", "layers": [], **NUMBERED}),
    "layers": (parse_layers, [{"rules": [{"effect": "dney"}] * WRONG}]),
    "question": (parse_question, {"surface": "call", "tool": "x", **NUMBERED}),
    "tools": (
        lambda tools: read_tools(tools, family="box"),
        {"tools": [{"name": f" {number}"} for number in NUMBERED]},
    ),
}


def refused(read, value):
    with pytest.raises(Faults) as caught:
        read(value)
    return caught.value


@pytest.mark.parametrize("reader", READERS)
def test_a_thousand_faults_are_named_and_the_others_counted(reader):
    read, value = READERS[reader]
    *named, last = refused(read, value).faults
    assert len(named) == MOST_NAMED
    assert MORE_FAULTS not in {fault.code for fault in named}
    assert last.count == WRONG - MOST_NAMED
    assert (last.code, last.pointer) == (MORE_FAULTS, "")
    assert last.message == f"{last.count} more faults are not named"


@pytest.mark.parametrize(
    ("count", "last"), [(0, None), (1_000, "f999"), (1_001, "1 more fault is not named")]
)
def test_up_to_a_thousand_faults_are_told_as_they_are(count, last):
    told = FaultList(Fault("", f"f{number}") for number in range(count)).told()
    assert len(told) == total(told) == count
    assert [fault.message for fault in told[-1:]] == ([] if last is None else [last])


def test_faults_told_again_elsewhere_are_still_counted_once_each():
    first = refused(parse_layers, [{"rules": [{"effect": "dney"}] * WRONG}])
    moved = Faults(
        [Fault("/own", "wrong"), *(one.moved(f"/layers{one.pointer}") for one in first.faults)]
    )
    assert total(first.faults) == WRONG
    assert total(moved.faults) == WRONG + 1
    assert moved.faults[1].pointer == "/layers/0/rules/0/effect"
    assert [fault.code for fault in moved.faults].count(MORE_FAULTS) == 1


def test_what_a_shorter_list_left_out_is_counted_by_a_longer_one():
    few = FaultList((Fault("", f"f{number}") for number in range(50)), 20).told()
    again = FaultList([*few, Fault("", "own")]).told()
    assert [fault.message for fault in again[19:]] == ["f19", "own", "30 more faults are not named"]
    assert total(again) == 51


def test_the_first_hundred_have_a_hint_and_no_more_are_looked_for(monkeypatch):
    asked = []

    def near(word: str, *_: object, **__: object) -> list[str]:
        asked.append(word)
        return ["deny"]

    monkeypatch.setattr(difflib, "get_close_matches", near)
    told = refused(parse_layers, [{"rules": [{"effect": "dney"}] * 500}]).faults
    hinted = ["did you mean `deny`" in fault.message for fault in told]
    assert hinted == [True] * MOST_HINTED + [False] * (500 - MOST_HINTED)
    assert told[-1].message == "`dney` is not a known word"
    assert len(asked) == MOST_HINTED


@pytest.mark.parametrize("length", [LONGEST_NAME, LONGEST_NAME + 1, 100_000])
def test_a_long_name_is_cut_in_every_place(length):
    """Else a name of half the input would stand in as many places as the other half has faults."""
    cut = "k" * length if length == LONGEST_NAME else "k" * (LONGEST_NAME - 1) + "…"
    told = refused(loads, b'{"%s": ["\\u0000", "\\u0000"]}' % (b"k" * length)).faults
    assert [fault.pointer for fault in told] == [f"/{cut}/0", f"/{cut}/1"]
    assert join("/a", "~/" * 200) == "/a/" + "~0~1" * 127 + "~0…"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, "b'", 1.5], "c": {}}, repr({"a": [1, "b'", 1.5], "c": {}})),
        ([None, True, {"a": False}], "[null, true, {'a': false}]"),
        ([[], [[]]], "[[], [[]]]"),
        ("a" * 80, "a" * 80),
        ("a" * 81, "a" * 79 + "…"),
        (["a" * 200], "['" + "a" * 77 + "…"),
        ({"k" * 200: 1}, "{'" + "k" * 77 + "…"),
        (list(range(100)), repr(list(range(100)))[:79] + "…"),
        (2**64, "18446744073709551616"),
        (10**5_000, "an integer of 16610 bits"),
        (-(10**5_000), "an integer of 16610 bits"),
        ([10**5_000], "[an integer of 16610 bits]"),
        ("\u202ea\n", r"\u202ea\n"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_is_shown_up_to_eighty_characters(value, text):
    assert shown(value) == f"`{text}`"


def test_no_more_of_a_large_value_is_looked_at_than_is_shown():
    class Watched(list[list[str]]):
        looked = 0

        def __iter__(self):
            for item in super().__iter__():
                self.looked += 1
                yield item

    watched = Watched([["x"]] * 100_000)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert shown(watched) == "`" + ("[" + "['x'], " * 20)[:79] + "…`"
    assert 0 < watched.looked <= 20
    assert shown(deep) == f"`{'[' * 79}…`"
