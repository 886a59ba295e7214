"""Pattern indexes: which rules a text satisfies, as an integer with one bit a rule.

Looking a text up costs a few dictionary hits and searches of sorted lists, whatever the number of
rules; only patterns with a star or a question mark inside are tried one by one, behind their
literal heads, each by a regex that never goes back behind a settled star: pattern × text steps at
most.
"""

import re
from bisect import bisect_right
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

# What was looked up is remembered up to this many, and no key longer than this: no caller can make
# the memory grow.
REMEMBERED: Final = 4_096
LONGEST: Final = 256

_FIRST_WILD: Final = re.compile(r"[*?]")


def keep(memory: dict[Key, Value], key: Key, value: Value, *, most: int = REMEMBERED) -> Value:
    """Keep `value` under `key` in a memory bounded in number, and return it."""
    if len(memory) >= most:
        memory.clear()
    memory[key] = value
    return value


def remember(seen: dict[Key, Value], key: Key, value: Value) -> Value:
    """Keep `value` under a key that a caller chose: not if it is long."""
    return value if length_of(key) > LONGEST else keep(seen, key, value)


def length_of(key: Any) -> int:
    """Return how much text a key holds: code points, all its members together."""
    if isinstance(key, str):
        return len(key)
    return sum(map(length_of, key)) if isinstance(key, (tuple, frozenset)) else 1


@lru_cache(maxsize=REMEMBERED)
def glob_regex(pattern: str) -> re.Pattern[str]:
    """Return a regex for a lower-cased glob; each star settles on the first place that fits."""
    head, *pieces = pattern.split("*")
    parts = [_literal(head)]
    if pieces:
        parts += [f"(?>.*?{_literal(piece)})" for piece in pieces[:-1] if piece]
        parts.append(f".*{_literal(pieces[-1])}")
    return re.compile("".join(parts), re.DOTALL)


def _literal(text: str) -> str:
    return "".join("." if char == "?" else re.escape(char) for char in text)


class _Node(NamedTuple):
    """A stored head: its rules, what is to be tried behind it, and the next shorter head in it."""

    head: str
    shorter: int
    bits: int
    tries: tuple[tuple[re.Pattern[str], int], ...]


class HeadIndex:
    """Literal heads of texts, sorted: those that a text starts with are found by one bisection.

    Whatever sorts between a text's longest head and the text starts with that head too; so the
    entry before the text is that head, or one that continues it.
    """

    __slots__ = ("_bits", "_nodes", "_sorted", "_tries")

    def __init__(self) -> None:
        self._bits: dict[str, int] = {}
        self._tries: dict[str, dict[re.Pattern[str], int]] = {}
        self._sorted: list[str] | None = None
        self._nodes: list[_Node] = []

    def add(self, head: str, bit: int) -> None:
        """Note that what starts with `head` satisfies; "" is anything."""
        self._bits[head] = self._bits.get(head, 0) | bit
        self._sorted = None

    def add_try(self, head: str, regex: re.Pattern[str], bit: int) -> None:
        """Note that what starts with `head` and matches `regex` satisfies."""
        self.add(head, 0)
        table = self._tries.setdefault(head, {})
        table[regex] = table.get(regex, 0) | bit

    def find(self, text: str) -> int:
        """Return the rules that a text satisfies."""
        heads = self._sorted
        if heads is None:
            heads = self._settle()
        nodes = self._nodes
        at = bisect_right(heads, text) - 1
        while at >= 0 and not text.startswith(nodes[at].head):
            at = nodes[at].shorter
        bits = 0
        while at >= 0:
            _, at, some, tries = nodes[at]
            bits |= some
            for regex, behind in tries:
                if regex.fullmatch(text):
                    bits |= behind
        return bits

    def _settle(self) -> list[str]:
        heads = sorted(self._bits)
        nodes: list[_Node] = []
        open_heads: list[int] = []
        for at, head in enumerate(heads):
            while open_heads and not head.startswith(heads[open_heads[-1]]):
                open_heads.pop()
            shorter = open_heads[-1] if open_heads else -1
            tries = tuple(self._tries.get(head, {}).items())
            nodes.append(_Node(head, shorter, self._bits[head], tries))
            open_heads.append(at)
        # In this order: another thread that sees the heads has to find the nodes.
        self._nodes = nodes
        self._sorted = heads
        return heads


class TextIndex:
    """Patterns over lower-cased texts, each with the bits of the rules that it satisfies."""

    __slots__ = ("_any_contained", "_contained", "_ends", "_exact", "_starts")

    def __init__(self) -> None:
        self._exact: dict[str, int] = {}
        self._starts: HeadIndex | None = None
        self._ends: HeadIndex | None = None
        """Over reversed texts."""
        self._contained: dict[str, int] = {}
        self._any_contained: re.Pattern[str] | None = None

    def add_exact(self, text: str, bit: int) -> None:
        """Note that exactly `text` satisfies."""
        self._exact[text] = self._exact.get(text, 0) | bit

    def add_prefix(self, text: str, bit: int) -> None:
        """Note that what starts with `text` satisfies; "" is anything."""
        self._heads().add(text, bit)

    def add_suffix(self, text: str, bit: int) -> None:
        """Note that what ends with `text` satisfies."""
        self._ends = self._ends or HeadIndex()
        self._ends.add(text[::-1], bit)

    def add_contained(self, text: str, bit: int) -> None:
        """Note that what contains `text` satisfies."""
        self._contained[text] = self._contained.get(text, 0) | bit
        self._any_contained = None

    def add_glob(self, pattern: str, bit: int) -> None:
        """Note that what the lower-cased glob matches satisfies, kept as simply as it can be."""
        core = pattern.strip("*")
        if "?" in core or "*" in core:
            head = _FIRST_WILD.split(pattern, maxsplit=1)[0]
            self._heads().add_try(head, glob_regex(pattern), bit)
        elif core == pattern:
            self.add_exact(pattern, bit)
        elif not core or not pattern.startswith("*"):
            self.add_prefix(core, bit)
        elif not pattern.endswith("*"):
            self.add_suffix(core, bit)
        else:
            self.add_contained(core, bit)

    def add_item(self, pattern: str, bit: int) -> None:
        """Note that what the lower-cased match-item matches satisfies: stars count at the ends."""
        starts, ends = pattern.startswith("*"), pattern.endswith("*")
        if pattern == "*":
            self.add_prefix("", bit)
        elif starts and ends:
            self.add_contained(pattern[1:-1], bit)
        elif starts:
            self.add_suffix(pattern[1:], bit)
        elif ends:
            self.add_prefix(pattern[:-1], bit)
        else:
            self.add_exact(pattern, bit)

    def find(self, text: str) -> int:
        """Return the rules that a lower-cased text satisfies."""
        bits = self._exact.get(text, 0)
        if self._starts is not None:
            bits |= self._starts.find(text)
        if self._ends is not None:
            bits |= self._ends.find(text[::-1])
        return bits | self._find_contained(text) if self._contained else bits

    def _heads(self) -> HeadIndex:
        self._starts = self._starts or HeadIndex()
        return self._starts

    def _find_contained(self, text: str) -> int:
        """Try each literal, unless one search says that there is none."""
        some_of_them = self._any_contained
        if some_of_them is None:
            some_of_them = re.compile("|".join(map(re.escape, self._contained)))
            self._any_contained = some_of_them
        bits = 0
        if some_of_them.search(text):
            for literal, some in self._contained.items():
                if literal in text:
                    bits |= some
        return bits
