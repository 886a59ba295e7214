"""The strict JSON reader: what the stock reader lets through is refused, in bounded time."""

import json
from contextlib import suppress

import pytest

from tests.engine.refusals import faults_of, message_of
from tests.timing import assert_within
from toolpolicy.engine.faults import Faults
from toolpolicy.engine.strictjson import Limits, loads

LIMIT = 262_144
# Where a value can stand, each with the pointer to it.
PLACES = [
    ("%s", ""),
    ('{"a":%s}', "/a"),
    ("[0,%s]", "/1"),
    ('{"a":[{"b/c":[1,%s]}]}', "/a/0/b~1c/1"),
    ("[" * 30 + "%s" + "]" * 30, "/0" * 30),
]
BAD_VALUES = [
    *("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1E400", "9" * 400 + ".0"),
    *("18446744073709551616", "-9223372036854775809", "9" * 400, "9" * 4301, "-" + "9" * 5000),
    *(
        r'"\ud800"',
        r'"\uD800"',
        r'"\uDAFF"',
        r'"a\udfffb"',
        r'"\ude00\ud83d"',
        r'"\u0000"',
        r'"a\u0000b"',
    ),
]
GOOD_VALUES = [
    ("18446744073709551615", 2**64 - 1),
    ("-9223372036854775808", -(2**63)),
    ("9007199254740993", 2**53 + 1),
    ("1e308", 1e308),
    ("1e-400", 0.0),
    ("0." + "1" * 5000, 0.1111111111111111),
    (r'"\ud83d\ude00"', "\U0001f600"),
    (r'"\u0001 \\u0000 \" [{"', '\x01 \\u0000 " [{'),
    ('"\u202e"', "\u202e"),
    (" [ ] ", []),
]


@pytest.mark.parametrize(("place", "pointer"), PLACES)
@pytest.mark.parametrize("value", BAD_VALUES, ids=lambda text: text[:24])
def test_a_bad_value_is_named_with_its_pointer(place, pointer, value):
    assert faults_of(loads, (place % value).encode()) == [(pointer, "invalid")]


@pytest.mark.parametrize("place", [place for place, _ in PLACES])
@pytest.mark.parametrize(("text", "value"), GOOD_VALUES, ids=lambda value: str(value)[:24])
def test_what_stands_just_inside_the_bounds_is_read_exactly(place, text, value):
    read = loads((place % text).encode())
    assert read == json.loads(place % json.dumps(value))
    assert repr(value) in repr(read)


def test_the_integer_minus_zero_is_the_double():
    assert [str(number) for number in loads(b"[-0, 0, -0.0]")] == ["-0.0", "0", "-0.0"]


@pytest.mark.parametrize(("place", "pointer"), PLACES)
def test_a_member_that_stands_twice_is_refused_at_every_depth(place, pointer):
    twice = place % '{"x":1,"y":2,"x":3,"x":4,"y/":5,"y":2}'
    expected = [(f"{pointer}/x", "invalid"), (f"{pointer}/y", "invalid")]
    assert faults_of(loads, twice.encode()) == expected
    assert faults_of(loads, (place % r'{"a":1,"\u0061":1}').encode()) == [
        (f"{pointer}/a", "invalid")
    ]


def test_equal_keys_in_different_objects_are_no_repetition():
    assert loads(b'{"a":{"a":[{"a":1},{"a":1}]}}') == {"a": {"a": [{"a": 1}, {"a": 1}]}}


@pytest.mark.parametrize(("place", "pointer"), PLACES)
def test_a_key_with_a_bad_character_is_named_at_its_object(place, pointer):
    found = faults_of(loads, (place % r'{"\u0000":1,"\ud800":2,"fine":3}').encode())
    assert found == [(pointer, "invalid")] * 2


def test_all_faults_are_named_at_once_in_document_order():
    text = rb'{"a":[NaN,1,1e999],"a":{"b":"\ud800"},"c":[99999999999999999999,{"d":1,"d":2}]}'
    # The first `a` is shadowed, so only its second value can be walked.
    assert [pointer for pointer, _ in faults_of(loads, text)] == ["/a", "/a/b", "/c/0", "/c/1/d"]


def test_messages_show_no_raw_control_surrogate_or_endless_number():
    told = message_of(loads, rb'["\ud800\u202e\u0000", ' + b"9" * 5000 + b"]")
    assert told.isprintable()
    assert len(told) < 500


NOT_JSON = [
    *(b"", b" ", b"{", b"[1,]", b'{"a":1,}', b"{'a':1}", b"[1 2]", b"nul", b"[01]", b"[+1]"),
    *(b"[.5]", b"[1.]", b'{"a"}', b"{1:2}", b'["\\x"]', b'["\\u12"]', b'["\t"]', b'["\x00"]'),
    *(b"[1]x", b"[1][2]", b"}", b"]", b"\xef\xbb\xbf{}", b"/**/1", b'"', b'"abc', b'["\\', b"-"),
]
NOT_UTF8 = [b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xe2\x82"', "[1]".encode("utf-16")]


@pytest.mark.parametrize("data", [*NOT_JSON, *NOT_UTF8])
def test_what_is_no_json_or_no_utf8_is_refused_as_a_whole(data):
    assert faults_of(loads, data) == [("", "invalid_json")]


@pytest.mark.parametrize("unit", [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":[', b"]}]")])
def test_documents_are_read_down_to_32_levels_and_no_deeper(unit):
    opening, closing = unit
    levels = opening.count(b"[") + opening.count(b"{")
    fits, beyond = 32 // levels, 32 // levels + 1
    assert faults_of(loads, opening * fits + b"0" + closing * fits) == []
    for depth in (beyond, 1_100, 100_000 // len(opening)):
        assert faults_of(loads, opening * depth) == [("", "too_deep")]
        assert faults_of(loads, opening * depth + b"0" + closing * depth) == [("", "too_deep")]


def test_brackets_inside_strings_are_no_nesting():
    assert loads(b'["' + b"[" * 1_000 + b'\\"{{"]') == ["[" * 1_000 + '"{{']


def test_size_and_tokens_are_bounded_before_anything_is_parsed():
    assert faults_of(loads, b" " * (LIMIT - 1) + b"1") == []
    assert faults_of(loads, b" " * LIMIT + b"1") == [("", "too_large")]
    few, many = (b"[" + b"0," * count + b"0]" for count in (99_998, 99_999))
    assert faults_of(loads, few) == []
    assert faults_of(loads, many) == [("", "too_large")]
    assert faults_of(loads, b"[1,2]", Limits(size=4)) == [("", "too_large")]
    assert faults_of(loads, b"[1,2]", Limits(tokens=2)) == [("", "too_large")]
    assert faults_of(loads, b"[[1]]", Limits(depth=1)) == [("", "too_deep")]


HOSTILE = {
    "one string without an end": b'"' + b"a" * (LIMIT - 1),
    "escaped quotes without an end": b'"' + rb"\"" * (LIMIT // 2 - 1),
    "quotes": b'"' * LIMIT,
    "backslashes": b"\\" * LIMIT,
    "a backslash after each quote": rb'"\\' * (LIMIT // 3),
    "opening brackets": b"[" * LIMIT,
    "closing brackets": b"]" * LIMIT,
    "commas": b"," * LIMIT,
    "digits": b"9" * LIMIT,
    "a fraction": b"0." + b"9" * (LIMIT - 2),
    "an exponent": b"1e" + b"9" * (LIMIT - 2),
    "minus signs": b"-" * LIMIT,
    "blanks": b" " * LIMIT,
    "half an escape each": rb'["\u00' * (LIMIT // 6),
    "equal keys": b"{" + b'"a":1,' * 24_000 + b'"a":1}',
    "different keys": b"{" + b",".join(b'"%d":1' % n for n in range(24_000)) + b"}",
    "numbers too large": b"[" + b"1e999," * 40_000 + b"1]",
}


def read(data: bytes) -> None:
    with suppress(Faults):
        loads(data)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_costs_no_more_than_many_plain_ones_of_its_size(name):
    # A quadratic reader would take some ten thousand times as long.
    plain = b"[" + b'"plain text",' * (LIMIT // 14) + b"1]"
    assert_within(100, lambda: read(HOSTILE[name]), lambda: read(plain))


def test_twenty_megabytes_cost_no_more_than_a_few_plain_readings():
    schema = {"type": "object", "properties": {"path": {"type": "string", "maxLength": 4096}}}
    tool = {"name": "read_file", "description": "Reads a file. " * 10, "inputSchema": schema}
    data = json.dumps({"tools": [tool] * 70_000}).encode()
    assert 18_000_000 < len(data) < 20_971_520
    limits = Limits(size=20_971_520, tokens=len(data) // 5)
    assert_within(8, lambda: loads(data, limits), lambda: json.loads(data))
