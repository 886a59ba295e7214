"""Glob patterns of strict layers and of every layer's target (SPEC §2).

`*` is any run of characters, `?` exactly one code point, anything else itself. ASCII letters match
in either case, and only those. No classes, escapes or separators.

The pieces between the stars are found one after the other, each once and at its first place: a
later place could only leave less text to the pieces after it. Python takes steps by the number of
pieces, whatever the text; the search for one piece is C and takes piece × text steps at most.
"""

import re
from functools import lru_cache
from typing import Final

_FOLD: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def ascii_lower(text: str) -> str:
    """Lower the 26 ASCII letters and nothing else (`str.lower` folds the Kelvin sign too)."""
    return text.lower() if text.isascii() else text.translate(_FOLD)


def same_text(one: str, other: str) -> bool:
    """Tell whether two texts are one to patterns: equal but for the case of ASCII letters."""
    return ascii_lower(one) == ascii_lower(other)


def glob_match(pattern: str, text: str) -> bool:
    """Tell whether `pattern` matches all of `text`.

    >>> glob_match("mcp_*", "MCP_slack"), glob_match("a?c", "abbc"), glob_match("[ab]", "a")
    (True, False, False)
    """
    return any_glob((pattern,), text)


def any_glob(patterns: tuple[str, ...], text: str) -> bool:
    """Tell whether any pattern matches; the empty list matches nothing."""
    lowered = ascii_lower(text)
    return any(_matches(ascii_lower(pattern), lowered) for pattern in patterns)


def _matches(pattern: str, text: str) -> bool:
    head, *pieces = pattern.split("*")
    if not pieces:
        return len(head) == len(text) and _find(head, text, 0, len(text)) == 0
    tail = pieces.pop()
    at, end = len(head), len(text) - len(tail)
    if at > end or _find(head, text, 0, at) != 0 or _find(tail, text, end, len(text)) != end:
        return False
    for piece in pieces:
        found = _find(piece, text, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _find(piece: str, text: str, start: int, end: int) -> int:
    """Return the first place from `start` where all of `piece` fits before `end`; -1 for none."""
    if "?" not in piece:
        return text.find(piece, start, end)
    found = _with_gaps(piece).search(text, start, end)
    return found.start() if found else -1


@lru_cache(maxsize=1_024)
def _with_gaps(piece: str) -> re.Pattern[str]:
    """Return a regex for a piece with `?`; without any repeat there is nothing to go back over."""
    return re.compile(re.escape(piece).replace(r"\?", "."), re.DOTALL)
