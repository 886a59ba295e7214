"""What a hostile pattern costs: few steps in Python, pattern × text steps in C (SPEC §2).

Both matchers of globs are held to it: the reference, and the regular expressions of the indexes.
"""

import sys
from collections.abc import Callable
from itertools import product

import pytest

from tests.timing import assert_within
from toolpolicy.engine import globs, matchitems
from toolpolicy.engine.globs import any_glob, ascii_lower, glob_match
from toolpolicy.engine.indexes import glob_regex
from toolpolicy.engine.matchitems import excludes, match_items, split

# Each as (pattern, what its text repeats); none matches.
HOSTILE = [
    ("*a" * 500 + "*b", "a"),
    ("*a" * 500 + "*b*c", "a"),
    ("*" * 1_000 + "b", "a"),
    ("*" + "a" * 1_000 + "b", "a"),
    ("*" + "a" * 1_000 + "b*", "a"),
    ("*b" + "a" * 1_000 + "*", "a"),
    ("*a?" * 300 + "c", "a"),
    ("*" + "a?" * 500 + "b*", "a"),
    ("*?" * 500 + "b", "a"),
    ("a*" * 500 + "b", "a"),
    ("*ab" * 300 + "*c", "ab"),
    ("?" * 500 + "*" + "?" * 500 + "b", "a"),
]


def lines_run(pattern: str, text: str) -> int:
    """Count the lines of the module `globs` that one match runs."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if frame.f_code.co_filename != globs.__file__:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert not glob_match(pattern, text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(("pattern", "part"), HOSTILE)
def test_python_takes_a_few_steps_for_each_piece_whatever_the_text(pattern, part):
    pieces = pattern.count("*") + 1
    for size in (10, 1_000, 20_000):
        assert 0 < lines_run(pattern, part * size) <= 10 * pieces + 20


@pytest.mark.parametrize(("pattern", "part"), HOSTILE)
@pytest.mark.parametrize(
    "matches",
    [glob_match, lambda pattern, text: glob_regex(pattern).fullmatch(text)],
    ids=["reference", "index"],
)
def test_a_text_sixteen_times_as_long_costs_about_sixteen_times_as_much(matches, pattern, part):
    def match(size: int) -> None:
        assert not matches(pattern, part * size)

    assert_by_length(match)


def assert_by_length(work: Callable[[int], None]) -> None:
    """Compare two sizes inside one run: the machine's speed does not matter."""
    # Work by the square of the size would be 256 times as much.
    assert_within(100, lambda: work(64_000), lambda: work(4_000), times=1)


def texts(signs: str, longest: int) -> list[str]:
    return ["".join(some) for size in range(longest + 1) for some in product(signs, repeat=size)]


def naive(pattern: str, text: str) -> bool:
    """Keep the set of places that each sign of the pattern may end at."""
    places = {0}
    for sign in pattern:
        if sign == "*":
            places = set(range(min(places, default=len(text) + 1), len(text) + 1))
        else:
            places = {at + 1 for at in places if at < len(text) and sign in ("?", text[at])}
    return len(text) in places


def test_every_short_glob_matches_the_short_texts_that_a_naive_matcher_matches():
    short = texts("ab", 5)
    for pattern in texts("ab*?", 4):
        for text in short:
            assert glob_match(pattern, text) is naive(pattern, text), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text", "match"),
    [
        ("*a?b*", "aabab\n", True),
        ("*a?b*a?b", "a\nba\nb", True),
        ("*a?b*a?b", "a-bab", False),
        ("*\\?*", "a\\b", True),
        ("*\\?*", "a\\", False),
        ("*[?]*", "[x]", True),
        ("*.?*", "ab", False),
    ],
)
def test_a_piece_with_gaps_is_text_but_for_its_gaps(pattern, text, match):
    assert glob_match(pattern, text) is match
    assert naive(pattern, text) is match


def test_a_long_text_is_lowered_once_for_all_its_patterns(monkeypatch):
    lowered = []

    def noted(text: str) -> str:
        lowered.append(text)
        return ascii_lower(text)

    monkeypatch.setattr(globs, "ascii_lower", noted)
    assert not any_glob(("B*", "C", "?"), "\u00c9A")
    assert lowered == ["\u00c9A", "B*", "C", "?"]


def decoded_as_go_does(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        rest = decoded_as_go_does(data[error.start + 1 :])
        return f"{data[: error.start].decode()}\ufffd{rest}"


def test_every_byte_of_an_escape_that_is_no_utf8_becomes_one_replacement():
    for some in product(b"A\x80\xc3\xa9\xe2\x82\xac\xed\xf0\xff", repeat=3):
        quoted = "".join(f"%{byte:02x}" for byte in some)
        assert split((quoted,)) == [decoded_as_go_does(bytes(some)).lower()]


def test_a_hostile_escape_is_read_in_time_by_its_length():
    def match(size: int) -> None:
        assert not match_items("x", ("%ff" * size,))

    assert_by_length(match)


def test_a_selector_is_read_once_for_all_items_that_meet_it(monkeypatch):
    read = []

    def noted(patterns: tuple[str, ...]) -> list[str]:
        read.append(patterns)
        return ["a"]

    monkeypatch.setattr(matchitems, "split", noted)
    selector = ("read once, in this test alone",)
    assert [match_items(item, selector) for item in ("a", "b", "A")] == [True, False, True]
    assert not excludes("a", selector)
    assert read == [selector]
