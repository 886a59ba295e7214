"""A strict JSON reader: bounded before it parses, and every fault named with its pointer.

The stock reader keeps the last of two equal keys, turns 1e400 into infinity, accepts NUL and lone
surrogates and recurses without bound; a decision point must not judge another value than the tool
will see (RELIABILITY §8, OWASP ASVS 5.0 1.5.3).
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from toolpolicy.engine.canonical import LARGEST_INT, SMALLEST_INT
from toolpolicy.engine.faults import Fault, FaultList, Faults, join, shown

# A string, also one without an end, so that no suffix is scanned twice.
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?+', re.DOTALL)
# Only so can a text hold NUL or a surrogate: as bytes, neither is JSON in UTF-8.
_ESCAPED: Final = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_NESTING: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_TOKEN: Final = bytes(set(range(256)) - set(b'"[]{},:'))
_NO_NESTING: Final = bytes(set(range(256)) - set(_NESTING))
_MAX_DIGITS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps on one document: bytes of text, nesting, and structural tokens."""

    size: int = 262_144
    depth: int = 32
    tokens: int = 100_000


@dataclass(frozen=True, slots=True)
class _Bad:
    """Stands in the parsed tree for a value that is refused, until the walk knows its pointer."""

    message: str


class _Twice(dict[str, Any]):
    """An object in which member names were repeated."""

    names: tuple[str, ...] = ()


def loads(data: bytes, limits: Limits | None = None) -> Any:
    """Parse UTF-8 JSON bytes. Raises `Faults` (codes too_large, too_deep, invalid_json, invalid).

    The integer `-0` is the double -0.0, as in the published design.
    """
    limits = limits or Limits()
    if len(data) > limits.size:
        message = f"the document has {len(data)} bytes; at most {limits.size} are read"
        raise Faults([Fault("", message, "too_large")])
    _check_shape(data, limits)
    hooks = _Hooks()
    value = _parse(data, hooks)
    if hooks.refused or _ESCAPED.search(data):
        faults = FaultList(_walk(value, "")).told()
        if faults:
            raise Faults(faults)
    return value


def _check_shape(data: bytes, limits: Limits) -> None:
    marks = _STRING.sub(b'"', data).translate(None, _NO_TOKEN)
    steps = map(_NESTING.__getitem__, marks.translate(None, _NO_NESTING))
    if max(accumulate(steps), default=0) > limits.depth:
        message = f"the document is nested deeper than {limits.depth} levels"
        raise Faults([Fault("", message, "too_deep")])
    if len(marks) > limits.tokens:
        message = f"the document has more than {limits.tokens} tokens"
        raise Faults([Fault("", message, "too_large")])


def _parse(data: bytes, hooks: "_Hooks") -> Any:
    try:
        text = data.decode()
        return json.loads(
            text,
            object_pairs_hook=hooks.pairs,
            parse_constant=hooks.constant,
            parse_float=hooks.read_float,
            parse_int=hooks.read_int,
        )
    except UnicodeDecodeError as error:
        message = f"the document is not UTF-8 (byte {error.start})"
        raise Faults([Fault("", message, "invalid_json")]) from None
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg.lower()} at line {error.lineno}, column {error.colno}"
        raise Faults([Fault("", message, "invalid_json")]) from None


class _Hooks:
    """What the stock reader asks of us; `refused` tells whether the tree holds what is not read."""

    def __init__(self) -> None:
        self.refused = False

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        self.refused = True
        seen: set[str] = set()
        twice = _Twice(members)
        twice.names = tuple(dict.fromkeys(k for k, _ in pairs if k in seen or seen.add(k)))  # type: ignore[func-returns-value]
        return twice

    def constant(self, word: str) -> _Bad:
        return self._bad(f"{shown(word)} is not JSON")

    def read_float(self, literal: str) -> float | _Bad:
        number = float(literal)
        if math.isfinite(number):
            return number
        return self._bad(f"the number {shown(literal)} is too large")

    def read_int(self, literal: str) -> float | _Bad:
        if literal == "-0":
            return -0.0
        if len(literal) <= _MAX_DIGITS and SMALLEST_INT <= (number := int(literal)) <= LARGEST_INT:
            return number
        return self._bad(f"the integer {shown(literal)} is outside -2^63 to 2^64-1")

    def _bad(self, message: str) -> _Bad:
        self.refused = True
        return _Bad(message)


def _walk(value: Any, at: str) -> Iterator[Fault]:
    if isinstance(value, _Bad):
        yield Fault(at, value.message)
    elif isinstance(value, str):
        yield from text_faults(value, at)
    elif isinstance(value, dict):
        names = value.names if isinstance(value, _Twice) else ()
        yield from (Fault(join(at, name), "this member stands twice") for name in names)
        for key, item in value.items():
            yield from text_faults(key, at)
            yield from _walk(item, join(at, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _walk(item, join(at, number))


def text_faults(text: str, at: str) -> Iterator[Fault]:
    """Say what is wrong with a text as such, whatever it means."""
    if "\0" in text:
        yield Fault(at, f"the text {shown(text)} holds a NUL character")
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        yield Fault(at, f"the text {shown(text)} holds a lone surrogate")
