"""The pattern dialect of ordered layers: MatchItems of flanksource/commons (SPEC §2).

The newer of the two published revisions. Comma lists, query-unescaped, `!` excludes and wins, `*`
only at the ends, compared lower-cased code point by code point as Go does it.
"""

import re
from functools import lru_cache
from urllib.parse import unquote_to_bytes

# Go's unicode.IsSpace; Python's strip() would also take U+001C..U+001F.
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_MALFORMED = re.compile(r"%(?![0-9A-Fa-f]{2})")
# What `surrogateescape` writes for a byte that it cannot decode; no UTF-8 decodes to these.
_BAD_BYTE = re.compile("[\udc80-\udcff]")


def trim(text: str) -> str:
    """Trim the white space that Go trims."""
    return text.strip(_SPACE)


def go_lower(text: str) -> str:
    r"""Lower-case code point by code point, without context and without growing.

    >>> go_lower("\u0130X")
    'ix'
    """
    return text.lower() if text.isascii() else "".join(c.lower()[0] for c in text)


def _utf8(data: bytes) -> str:
    """Decode; every byte that is not part of valid UTF-8 becomes one U+FFFD, as Go's range does."""
    return _BAD_BYTE.sub("\ufffd", data.decode(errors="surrogateescape"))


def _unescape(text: str) -> str | None:
    """Query-unescape (`+` is a blank); None for a malformed escape."""
    if _MALFORMED.search(text):
        return None
    if "%" not in text:
        return text.replace("+", " ")
    return _utf8(unquote_to_bytes(text.replace("+", " ")))


def split(patterns: tuple[str, ...]) -> list[str]:
    """Return the patterns that survive splitting, trimming and decoding, lower-cased."""
    parts: list[str] = []
    for pattern in patterns:
        pieces = [trim(piece) for piece in pattern.split(",")]
        parts += [piece for piece in pieces if piece] if len(pieces) > 1 else pieces
    decoded = (_unescape(part) for part in parts)
    return [go_lower(text) for text in decoded if text is not None]


def _matches(pattern: str, item: str) -> bool:
    starts, ends = pattern.startswith("*"), pattern.endswith("*")
    if pattern == "*":
        return True
    if starts and ends:
        return pattern[1:-1] in item
    if starts:
        return item.endswith(pattern[1:])
    if ends:
        return item.startswith(pattern[:-1])
    return pattern == item


@lru_cache(maxsize=1_024)
def _read(patterns: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a selector wants and what it excludes; read once for all items that meet it."""
    kept = split(patterns)
    wanted = tuple(text for text in kept if not text.startswith("!"))
    return wanted, tuple(text[1:] for text in kept if text.startswith("!"))


def excludes(item: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether an exclusion (`!p`) among the patterns hits `item`."""
    lowered = go_lower(item)
    return any(_matches(pattern, lowered) for pattern in _read(patterns)[1])


def match_items(item: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether `item` is selected by `patterns`.

    >>> match_items("slack_post", ("slack_*, !*_delete",)), match_items("x", (",",))
    (True, False)
    """
    if not patterns:
        return True
    wanted, unwanted = _read(patterns)
    if not (wanted or unwanted) or excludes(item, patterns):
        return False
    lowered = go_lower(item)
    return not wanted or any(_matches(pattern, lowered) for pattern in wanted)


def is_blank(patterns: tuple[str, ...]) -> bool:
    """Tell whether a selector holds nothing but white space, so that it does not constrain."""
    return all(trim(pattern) == "" for pattern in patterns)
