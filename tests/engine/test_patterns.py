"""Pointers and the two pattern dialects, by example (SPEC §2)."""

import pytest

from toolpolicy.engine.globs import any_glob, ascii_lower, glob_match
from toolpolicy.engine.matchitems import excludes, go_lower, is_blank, match_items, split
from toolpolicy.engine.pointers import Found, Missing, follow, resolve, tokens

ABSENT, BLOCKED = Missing.ABSENT, Missing.BLOCKED
ARGUMENTS = {
    "a": {"b": [10, {"c": None}], "": "empty", "0": "zero"},
    "": {"": 1},
    "x/y": {"~": "tilde", "~1": "bad"},
    "n": None,
    "s": "text",
    "f": False,
    "l": [],
}
POINTERS = [
    ("", ARGUMENTS),
    ("/a/b/0", 10),
    ("a/b/0", 10),
    ("/a/b/1/c", None),
    ("/a/", "empty"),
    ("/a/0", "zero"),
    ("/", {"": 1}),
    ("//", 1),
    ("/x~1y/~0", "tilde"),
    ("/x~1y/~01", "bad"),
    ("/a/b/2", ABSENT),
    ("/a/b/99999999999999999999999", ABSENT),
    ("/l/0", ABSENT),
    ("/no", ABSENT),
    ("/no/further", ABSENT),
    ("/n/x", ABSENT),
    ("/a/b/1/c/deeper/still", ABSENT),
    ("/s/0", BLOCKED),
    ("/f/x", BLOCKED),
    ("/a/b/0/x", BLOCKED),
    ("/a/b/-", BLOCKED),
    ("/a/b/01", BLOCKED),
    ("/a/b/+1", BLOCKED),
    ("/a/b/1 ", BLOCKED),
    ("/a/b/\u0661", BLOCKED),
    ("/a/b/\u00b2", BLOCKED),
    ("/a/b/", BLOCKED),
    ("/a/b/length", BLOCKED),
]


@pytest.mark.parametrize(("pointer", "value"), POINTERS)
def test_a_pointer_finds_its_value_or_says_why_there_is_none(pointer, value):
    expected = value if isinstance(value, Missing) else Found(value)
    assert resolve(pointer, ARGUMENTS) == expected
    assert follow(tokens(pointer), ARGUMENTS) == expected


@pytest.mark.parametrize(("document", "found"), [(None, ABSENT), (1, BLOCKED), ([], BLOCKED)])
def test_the_whole_document_may_be_no_object(document, found):
    assert resolve("/a", document) is found
    assert resolve("", document) == Found(document)


def test_an_index_with_more_digits_than_the_length_is_never_made_a_number():
    class Watched(str):
        __slots__ = ()

        def __int__(self) -> int:
            raise AssertionError

    assert follow([Watched("9" * 5_000)], [1, 2, 3]) is ABSENT


GLOBS = [
    *(("", "", True), ("", "a", False), ("*", "", True), ("**", "", True), ("?", "", False)),
    *(("a*b", "ab", True), ("a*b", "a\nb/b", True), ("a*b", "abc", False), ("*a", "ba", True)),
    *(("a?c", "a\U0001f600c", True), ("??", "\U0001f600", False), ("*?", "", False)),
    *(
        ("ABC", "abc", True),
        ("abc", "ABC", True),
        ("\u00c9", "\u00e9", False),
        ("k", "\u212a", False),
    ),
    *(("[ab]", "a", False), ("[ab]", "[AB]", True), ("a\\*", "a\\x", True), ("{a,b}", "a", False)),
    *(("*a*a*", "aa", True), ("*a*a*", "a", False), ("a*", "*", False), ("*.*", ".", True)),
    *(
        ("@", "`", False),
        ("[", "{", False),
        ("*ab*ab", "abab", True),
        ("*abc*abd*", "abcabcabd", True),
    ),
]


@pytest.mark.parametrize(("pattern", "text", "match"), GLOBS)
def test_globs_by_example(pattern, text, match):
    assert glob_match(pattern, text) is match
    assert any_glob(("no such text", pattern), text) is match


def test_only_the_26_letters_are_folded():
    assert ascii_lower("AZ\u00c9\u212a\u0130[@`{") == "az\u00c9\u212a\u0130[@`{"
    assert ascii_lower("AZ[@`{") == "az[@`{"
    assert go_lower("AZ\u00c9\u212a\u0130\u03a3") == "az\u00e9ki\u03c3"


ITEMS = [
    *(((), "x", True), ((",",), "x", False), (("",), "", True), (("",), "x", False)),
    *((("a", "b"), "b", True), (("a,b",), "B", True), (("!a",), "b", True), (("!a",), "a", False)),
    *((("a*", "!ab"), "ab", False), (("!ab,a*",), "ac", True), ((" a , b ",), "b", True)),
    *(
        (("a*c",), "abc", False),
        (("a*c",), "a*c", True),
        (("*b*",), "abc", True),
        (("**",), "x", True),
    ),
    *(
        (("%2C",), ",", True),
        (("a+b",), "a b", True),
        (("a%20",), "a ", True),
        (("%zz",), "x", False),
    ),
    *(
        (("%zz", "x"), "x", True),
        (("!%zz",), "x", False),
        (("%2A",), "x", True),
        (("%21a",), "a", False),
    ),
    *(
        (("%E9",), "\ufffd", True),
        (("%E2%82",), "\ufffd\ufffd", True),
        (("%c3%a9x",), "\u00c9x", True),
    ),
    *((("!",), "", False), (("!",), "x", True), (("!!x",), "!x", False), (("! x",), "x", True)),
    *((("\u00a0x\u3000",), "x", True), (("\x1cx",), "x", False), (("%",), "%", False)),
    *((("a%FFb",), "a\ufffdb", True), (("a,,",), "a", True), (("!,a",), "a", True)),
]


@pytest.mark.parametrize(("patterns", "item", "match"), ITEMS)
def test_match_items_by_example(patterns, item, match):
    assert match_items(item, patterns) is match


def test_what_survives_splitting_is_trimmed_decoded_and_lowered():
    assert split((" A ,,%zz, B+%2c", "")) == ["a", "b ,", ""]


def test_exclusions_are_found_wherever_they_stand():
    assert excludes("AB", ("x, !a*",))
    assert not excludes("ab", ("ab", "!b"))


@pytest.mark.parametrize(
    ("patterns", "blank"),
    [
        ((), True),
        (("", " \t\u00a0"), True),
        ((",",), False),
        (("", "a"), False),
        (("\x1c",), False),
    ],
)
def test_a_selector_of_white_space_does_not_constrain(patterns, blank):
    assert is_blank(patterns) is blank
