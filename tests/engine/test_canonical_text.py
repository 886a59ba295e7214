"""Canonical JSON text: one value, one text (SPEC §10, vectors R17)."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpolicy.engine.canonical import digest, dumps, number_text
from toolpolicy.engine.words import Effect

NUMBERS = [
    *((0, "0"), (-1, "-1"), (2**53 + 1, "9007199254740993"), (2**64 - 1, "18446744073709551615")),
    *((2**64, "1.8446744073709552e+19"), (-(2**63), "-9223372036854775808")),
    *((-(2**63) - 1, "-9.223372036854776e+18"), (1000.0, "1000.0")),
    *((1.5, "1.5"), (0.0, "0.0"), (-0.0, "-0.0"), (1e15, "1000000000000000.0"), (1e16, "1e+16")),
    *((123456789012345680.0, "1.2345678901234568e+17"), (9999999999999998.0, "9999999999999998.0")),
    *((0.1, "0.1"), (0.00001, "0.00001"), (0.000012, "0.000012"), (1e-6, "1e-6")),
    *(
        (1.25e-7, "1.25e-7"),
        (5e-324, "5e-324"),
        (-1.7976931348623157e308, "-1.7976931348623157e+308"),
    ),
    *((10**30, "1e+30"), (100.25, "100.25"), (1e22, "1e+22")),
]


@pytest.mark.parametrize(("number", "text"), NUMBERS)
def test_numbers_are_written_in_one_way(number, text):
    assert number_text(number) == text
    assert dumps(number) == text


def test_keys_stand_by_code_point_without_white_space():
    value = {"b": [1, True, None], "\U0001f600": {}, "\uffff": (), "a": "é\u2028\x7f", "": False}
    expected = '{"":false,"a":"é\u2028\x7f","b":[1,true,null],"\uffff":[],"\U0001f600":{}}'
    assert dumps(value) == expected


def test_only_quotes_backslashes_and_controls_are_escaped():
    assert dumps('"\\/\b\f\n\r\t\x00\x1f é') == r'"\"\\/\b\f\n\r\t\u0000\u001f é"'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, -(10**400)])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="no JSON text"):
        dumps([value])


@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}, [{"a": "b\ud83d"}]])
def test_lone_surrogates_are_refused_wherever_they_stand(value):
    with pytest.raises(ValueError, match="lone surrogate"):
        dumps(value)


@pytest.mark.parametrize("value", [b"a", {1, 2}, object(), 1j, [object()]])
def test_other_types_are_refused(value):
    with pytest.raises(ValueError, match="is no JSON value"):
        dumps(value)


@pytest.mark.parametrize("key", [1, 1.5, True, None, b"a", ("a",)])
def test_a_name_that_is_no_string_is_refused(key):
    for value in ({key: 2}, {"a": 1, key: 2}, [{"a": {key: 2}}]):
        with pytest.raises(ValueError, match=f"{type(key).__name__} is no name of a member"):
            dumps(value)


def test_words_of_an_enum_are_written_as_their_text():
    assert dumps({Effect.DENY: Effect.ALLOW}) == '{"deny":"allow"}'


@given(text=st.text())
def test_a_text_is_written_as_the_json_library_writes_it(text):
    expected = json.dumps(text, ensure_ascii=False)
    assert dumps(text) == expected
    assert dumps({text: [text]}) == f"{{{expected}:[{expected}]}}"


def test_every_character_is_written_as_the_json_library_writes_it():
    text = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x11000))))
    assert dumps(text) == json.dumps(text, ensure_ascii=False)


def test_a_digest_is_that_of_the_utf8_bytes():
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest("") == f"sha256:{empty}"
    assert digest("é") == "sha256:4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"
