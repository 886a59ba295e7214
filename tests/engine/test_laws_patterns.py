"""Laws of the two pattern dialects (SPEC §2), each against an oracle made of regular expressions.

- glob: `*` is any run, `?` one code point, the 26 letters match in either case, all else is itself
- match-items: the oracle; the order of the patterns is immaterial; an exclusion that hits wins;
  a comma separates like two items; what is quoted matches itself
"""

import re
from dataclasses import dataclass
from urllib.parse import quote

from tests.engine.changes import shuffled
from tests.growing import Choices
from tests.strategies import law, several
from toolpolicy.engine.globs import any_glob, glob_match
from toolpolicy.engine.matchitems import excludes, go_lower, match_items

GLOB_SIGNS = "*a?bA*[K\u212a\u00e9\u00c9\n.\U0001f600"
ITEM_SIGNS = "a*bAB\u00c9 !"
WORDS = (
    "",
    "a",
    "b",
    "ab",
    "AB",
    "a b",
    "ba",
    "a!",
    "a*b",
    "\u00e9",
    "\u0130",
    "\u03a3",
    "1,2",
    "%",
)


def text_of(choices: Choices, signs: str, most: int) -> str:
    return "".join(choices.some(signs, most))


def hit_by(choices: Choices, pattern: str) -> str:
    """Grow a text that the glob matches, but for a change now and then."""
    grown = []
    for sign in pattern:
        run = text_of(choices, GLOB_SIGNS, 2) if sign == "*" else sign
        grown.append(choices.pick(GLOB_SIGNS) if sign == "?" else run)
        if choices.maybe(0.2):
            grown[-1] = grown[-1].swapcase()
    return "".join(grown)


def glob_oracle(pattern: str, text: str) -> bool:
    def part(sign: str) -> str:
        if sign.isascii() and sign.isalpha():
            return f"[{sign.lower()}{sign.upper()}]"
        return {"*": ".*", "?": "."}.get(sign, re.escape(sign))

    return re.fullmatch("".join(map(part, pattern)), text, re.DOTALL) is not None


@dataclass(frozen=True)
class GlobCase:
    pattern: str
    other: str
    text: str


def glob_case(choices: Choices) -> GlobCase:
    pattern = text_of(choices, GLOB_SIGNS, 6)
    text = hit_by(choices, pattern) if choices.maybe(0.7) else text_of(choices, GLOB_SIGNS, 6)
    return GlobCase(pattern, text_of(choices, GLOB_SIGNS, 3), text)


@law(cases=several(glob_case))
def test_a_glob_matches_what_its_regular_expression_matches(cases):
    for case in cases:
        found = [glob_match(pattern, case.text) for pattern in (case.pattern, case.other)]
        assert found == [glob_oracle(pattern, case.text) for pattern in (case.pattern, case.other)]
        assert any_glob((case.pattern, case.other), case.text) == any(found)
        assert not any_glob((), case.text)


def part_oracle(pattern: str, item: str) -> bool:
    middle = pattern.removeprefix("*") if pattern != "*" else ""
    start = ".*" if pattern.startswith("*") else ""
    end = ".*" if middle.endswith("*") or pattern == "*" else ""
    middle = middle.removesuffix("*")
    return re.fullmatch(f"{start}{re.escape(middle)}{end}", item, re.DOTALL) is not None


def items_oracle(item: str, patterns: list[str]) -> bool:
    """Match-items for patterns without escapes and blanks other than the space."""
    parts = [
        piece.strip(" ").lower()
        for pattern in patterns
        for piece in pattern.split(",")
        if piece.strip(" ") or "," not in pattern
    ]
    wanted = [part for part in parts if not part.startswith("!")]
    unwanted = [part[1:] for part in parts if part.startswith("!")]
    if any(part_oracle(part, item.lower()) for part in unwanted):
        return False
    if not wanted:
        return bool(unwanted) or not patterns
    return any(part_oracle(part, item.lower()) for part in wanted)


@dataclass(frozen=True)
class ItemCase:
    item: str
    patterns: list[str]
    order: int


def item_case(choices: Choices) -> ItemCase:
    patterns = [text_of(choices, ITEM_SIGNS + ",!*", 5) for _ in range(choices.number(4))]
    return ItemCase(text_of(choices, ITEM_SIGNS, 3), patterns, choices.number(100))


@law(cases=several(item_case))
def test_match_items_selects_what_its_regular_expressions_select(cases):
    for case in cases:
        expected = items_oracle(case.item, case.patterns)
        assert match_items(case.item, tuple(case.patterns)) == expected
        assert match_items(case.item, tuple(shuffled(case.patterns, case.order))) == expected


@law(pairs=several(lambda choices: (choices.pick(WORDS), choices.pick(WORDS[1:]))))
def test_exclusions_win_commas_separate_and_what_is_quoted_matches_itself(pairs):
    for item, other in pairs:
        plain = quote(other, safe="")
        assert match_items(item, (plain,)) == (go_lower(item) == go_lower(other))
        assert match_items(item, (f"!{plain}",)) == (go_lower(item) != go_lower(other))
        assert not match_items(other, ("*", f"!{plain}", plain))
        assert excludes(other, (f"a, !{plain}",))
        both = match_items(item, (f"{plain},b*",))
        assert both == match_items(item, (plain, "b*")) == match_items(item, (f" b* ,{plain} ",))
        assert match_items(item, (plain, f"{plain}%zz")) == match_items(item, (plain,))
