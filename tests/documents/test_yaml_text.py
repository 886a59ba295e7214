"""YAML read as strictly as JSON, with the line of every fault (SPEC §10)."""

import json
import random

import pytest

from tests.timing import assert_within
from toolpolicy.engine.faults import Fault, Faults
from toolpolicy.engine.strictjson import Limits
from toolpolicy.services.documents import yaml_text
from toolpolicy.services.documents.sources import Syntax, guess, read


def faults_of(data, **options):
    with pytest.raises(Faults) as caught:
        yaml_text.loads(data if isinstance(data, bytes) else data.encode(), **options)
    return [(fault.line, fault.pointer) for fault in caught.value.faults]


def faults_or_none(data):
    try:
        yaml_text.loads(data)
    except Faults as refused:
        return [(fault.line, fault.pointer) for fault in refused.faults]
    return []


def message_of(data, **options):
    with pytest.raises(Faults) as caught:
        yaml_text.loads(data.encode(), **options)
    return caught.value.faults[0].message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("True", "True"),
        ("~", "~"),
        ("2026-01-01", "2026-01-01"),
        ("0x1f", "0x1f"),
        ("010", "010"),
        ("1_000", "1_000"),
        (".5", ".5"),
        (".inf", ".inf"),
        ("+1", "+1"),
        ("12:30", "12:30"),
        ("true", True),
        ("false", False),
        ("null", None),
        ("7", 7),
        ("-7.5e3", -7500.0),
        ("'true'", "true"),
        ('"1"', "1"),
        ("|\n two\n lines\n", "two\nlines\n"),
        ("{on: off, 1: [yes]}", {"on": "off", "1": ["yes"]}),
        ("<<: {a: b}", {"<<": {"a": "b"}}),
    ],
)
def test_only_what_json_knows_is_anything_but_text(text, value):
    read_value = yaml_text.loads(text.encode()).value
    assert json.dumps(read_value) == json.dumps(value)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("a: 1\nb: 2\na: 3\n", [(3, "/a")]),
        ("a: &x [1]\nb: *x\n", [(1, "/a"), (2, "/b")]),
        ("a: !!int 1\n\nb: !own {}\n", [(1, "/a"), (3, "/b")]),
        ("? &k a\n: 1\n", [(1, "")]),
        ("a:\nb:\n  - \n  - c\n", [(1, "/a"), (3, "/b/0")]),
        ("? [a]\n: b\n", [(1, "")]),
        ("a: 1e999\nb: 18446744073709551616\n", [(1, "/a"), (2, "/b")]),
        ('a: "\\0"\n"\\0": b\n', [(1, "/a"), (2, "")]),
        ("a: b: c\n", [(1, "")]),
        ("a: 1\na: 2\nb: [", [(2, "/a"), (4, "")]),
        ("", [(1, "")]),
        ("--- a\n--- b\n", [(2, "")]),
        ("a: 1\nb: \x07\n", [(2, "")]),
        (b"a: 1\nb: \xff\n", [(2, "")]),
        ("a/b:\n  ~x: 1\n  ~x: 1\n", [(3, "/a~1b/~0x")]),
    ],
)
def test_each_fault_has_its_line_and_its_pointer(text, places):
    assert faults_of(text) == places


def test_lines_are_counted_from_the_first_line_that_is_given():
    assert faults_of("a: 1\na: 2\n", first_line=10) == [(11, "/a")]
    assert faults_of("a: [", first_line=10) in ([(10, "")], [(11, "")])
    assert faults_of(b"\xff", first_line=10) == [(10, "")]


def test_a_pointer_that_is_not_there_has_the_line_of_what_is_around_it():
    text = yaml_text.loads(b"a:\n  - b: 1\n    c/d: 2\n")
    assert [text.line(at) for at in ("", "/a", "/a/0", "/a/0/b", "/a/0/c~1d")] == [1, 1, 2, 2, 3]
    assert (text.line("/a/0/x/y"), text.line("/z")) == (2, 1)
    assert text.located([Fault("/a/0/x", "m")]) == (Fault("/a/0/x", "m", line=2),)
    assert yaml_text.Text({}).located([Fault("/a", "m")]) == (Fault("/a", "m"),)


def test_the_bounds_are_those_of_json_and_are_met_before_anything_is_built():
    limits = Limits(size=1000, depth=4, tokens=20)
    assert "1001 bytes" in message_of("a" * 1001, limits=limits)
    assert yaml_text.loads(b"[[[[]]]]", limits).value == [[[[]]]]
    assert "deeper than 4" in message_of("[[[[[]]]]]", limits=limits)
    assert "deeper than 4" in message_of("a: {b: {c: {d: {}}}}", limits=limits)
    assert yaml_text.loads(f"[{'a,' * 9}]".encode(), limits).value == ["a"] * 9
    assert "more than 10 values" in message_of(f"[{'a,' * 10}]", limits=limits)


@pytest.mark.parametrize("opening", ["[", "- "])
def test_ten_times_as_deep_costs_no_more_than_ten_times_the_text(opening):
    def refuse(depth: int) -> None:
        assert "nest" in message_of(opening * depth, limits=Limits())

    assert_within(40, lambda: refuse(100_000), lambda: refuse(10_000), times=3)


def test_a_long_key_with_many_members_costs_no_more_than_its_text():
    limits = Limits(size=2_000_000)

    def read(key: str) -> None:
        text = f"{key!r}: {{{', '.join(f'{n}: 0' for n in range(20_000))}}}".encode()
        assert len(yaml_text.loads(text, limits).value[key]) == 20_000

    assert_within(4, lambda: read("k" * 500), lambda: read("k"))


def test_of_many_faults_a_thousand_are_named_and_a_long_key_is_cut_in_each():
    key = "k" * 1_000
    with pytest.raises(Faults) as caught:
        yaml_text.loads(f"{key}:\n".encode() + b"  - !x 1\n" * 1_500)
    *named, last = caught.value.faults
    places = [(fault.line, fault.pointer) for fault in named]
    assert places == [(n + 2, f"/{key[:255]}\u2026/{n}") for n in range(1_000)]
    assert last.message == "500 more faults are not named"
    text = yaml_text.loads(f"a: 1\n{key}:\n  - 1\n".encode())
    assert text.line(f"/{key[:255]}\u2026/0") == 3


def test_what_is_written_has_every_text_in_quotes():
    text = yaml_text.dumps({"on": "off", "name": ["a", 1, 1.0, None, True], "x": {}, "y": []})
    assert text == ('\'on\': "off"\nname:\n- "a"\n- 1\n- 1.0\n- null\n- true\nx: {}\ny: []\n')


def test_what_occurs_twice_is_written_twice():
    twice = ["a"]
    assert yaml_text.dumps({"a": twice, "b": twice}) == 'a:\n- "a"\nb:\n- "a"\n'


# --- prompts --------------------------------------------------------------------------------------

PROMPT = b"""---
model: gpt
tools: [a]
toolPolicy:
  - match: {name: "*"}
    mode: on
---
Say hello.
---
"""


def test_the_front_matter_of_a_prompt_is_read_and_its_lines_count_in_the_file():
    text = read(PROMPT, Syntax.PROMPT)
    assert text.value == {"toolPolicy": [{"match": {"name": "*"}, "mode": "on"}]}
    assert text.line("/toolPolicy/0/mode") == 6
    assert read(PROMPT.replace(b"\n", b"\r\n"), Syntax.PROMPT).value == text.value
    assert read(b"\xef\xbb\xbf" + PROMPT, Syntax.PROMPT).value == text.value


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"hello\n", 1, "starts with a line `---`"),
        (b"---\na: 1\n", 3, "no closing line"),
        (b"---\na: 1\n---\n", 2, "has no `toolPolicy` and no `toolPreferences`"),
        (b"---\n- a\n---\n", 2, "expected an object, found a list"),
        (b"---\na: 1\ntoolpolicy: []\n---\n", 3, "did you mean `toolPolicy`"),
        (b"---\na: 1\na: 2\n---\n", 3, "stands twice"),
    ],
)
def test_a_prompt_without_a_readable_policy_is_refused_at_its_line(data, line, message):
    with pytest.raises(Faults, match=message) as caught:
        read(data, Syntax.PROMPT)
    assert [fault.line for fault in caught.value.faults] == [line]


def test_the_name_of_a_file_says_how_it_is_written():
    names = ("a.json", "a.YAML", "a.yml", "a.prompt", "a.txt", "json")
    assert [guess(name) for name in names] == ["json", "yaml", "yaml", "prompt", None, None]


# --- hostile text ---------------------------------------------------------------------------------


def test_any_damage_to_a_document_is_read_or_refused_with_a_line():
    whole = yaml_text.dumps({"a": [{"b": "c", "d": [1, None]}, "on"], "e": {"f": "g\n"}}).encode()
    source = random.Random(7)  # noqa: S311  (test data)
    for _ in range(400):
        cut = bytearray(whole[: source.randrange(len(whole))])
        if cut:
            cut[source.randrange(len(cut))] = source.randrange(256)
        assert all(line for line, _ in faults_or_none(bytes(cut)))
