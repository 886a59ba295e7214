"""Patterns that look as if they were written in another dialect.

Strict layers, targets and arguments have globs: `*` and `?`. Ordered layers have match-items: comma
lists, `!`, `*` at the ends. A pattern that matches something known as it stands is left alone.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple

from toolpolicy.engine.faults import shown
from toolpolicy.engine.lint.findings import Finding, FindingCode
from toolpolicy.engine.lint.known import Known
from toolpolicy.engine.lint.placed import Placed
from toolpolicy.engine.slots import GlobSlot, ItemSlot
from toolpolicy.engine.values import (
    AnyTagIs,
    ArgumentIs,
    OrderedRule,
    Patterns,
    Rule,
    Selector,
    TextIs,
)

_CLASS: Final = re.compile(r"\[[^\[\]]+\]")
_BRACES: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")
_REGEX: Final = "a regular expression"
_UNMISTAKABLE: Final = re.compile(r"^\^|^\.[*+]|\\[.dwsb]")
_LOOKS: Final[dict[str, re.Pattern[str]]] = {
    "a character class, `[a-z]`": _CLASS,
    "alternatives in braces, `{a,b}`": _BRACES,
    _REGEX: re.compile(r"\.[*+]|^\^|\$$|\\[.dwsb]"),
}
_IN_GLOBS: Final = {"a comma list": re.compile(",")}
_IN_ITEMS: Final = {
    "a glob with `?`": re.compile(r"\?"),
    "a glob with `*` inside": re.compile(r"[^*,!\s]\*+[^*,\s]"),
}


Tell = Callable[..., Finding]


class _Asked(NamedTuple):
    """Patterns with the place where they stand, their dialect, and the values known there."""

    field: str
    patterns: Patterns
    items: bool
    values: frozenset[str] | None
    """None where values are free text: there only what is unmistakable counts."""


class _Odd(NamedTuple):
    """A pattern that looks like another dialect, and how it is told."""

    asked: _Asked
    pattern: str
    look: str
    tell: Tell


def check_dialects(known: Known) -> Iterator[Finding]:
    """Find patterns that look like another dialect."""
    odd: dict[tuple[frozenset[str], bool], list[_Odd]] = {}
    for asked, tell in _places(known):
        for pattern in asked.patterns:
            look = _look(pattern, items=asked.items, free=asked.values is None)
            if look:
                alike = odd.setdefault((asked.values or frozenset(), asked.items), [])
                alike.append(_Odd(asked, pattern, look, tell))
    for (values, items), some in odd.items():
        meant = _matched([one.pattern for one in some], values, items=items)
        read = [_readings(one.pattern, items=items) for one in some]
        helps = _matched(read, values, items=items)
        for number, one in enumerate(some):
            sure = one.look != _REGEX or _UNMISTAKABLE.search(one.pattern)
            if not meant >> number & 1 and (sure or helps >> number & 1):
                yield _told(one)


def _places(known: Known) -> Iterator[tuple[_Asked, Tell]]:
    """Yield every list of patterns, with the way to tell a finding about it."""
    values = _Values(known)
    for compiled in known.layers:
        layer = compiled.layer
        target, scope = layer.settings.target or (), str(layer.settings.scope)
        tell = partial(Finding, layer=layer.name)
        yield _Asked("target", target, items=False, values=values.sent(scope)), tell
    for placed in known.rules:
        tell = partial(Finding, layer=placed.layer.name, rule=placed.rule.id, number=placed.number)
        for asked in _asked(placed, values):
            yield asked, tell


def _matched(patterns: Iterable[str | Iterable[str]], values: Iterable[str], *, items: bool) -> int:
    """Return which patterns, or lists of them, match any of the values: a bit each."""
    slot: GlobSlot | ItemSlot = ItemSlot(0) if items else GlobSlot(0)
    for number, some in enumerate(patterns):
        slot.add(1 << number, (some,) if isinstance(some, str) else tuple(some) or ("!*",))
    found = 0
    for value in values:
        found |= slot.satisfied(value)
    return found


class _Values:
    """The values of each field over the registered tools, and those that callers sent."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._fields: dict[str, frozenset[str]] = {}

    def of(self, field: str) -> frozenset[str]:
        """Return the registered values of a text field or of the tags."""
        if field not in self._fields:
            found = (getattr(row.subject, field) for row in self._known.rows)
            lists = (value if isinstance(value, tuple) else (value,) for value in found if value)
            self._fields[field] = frozenset(text for texts in lists for text in texts)
        return self._fields[field]

    def sent(self, key: str) -> frozenset[str]:
        """Return the values of a context key that callers sent, as far as they are known."""
        return frozenset(self._known.seen_values.get(key, ()))


def _asked(placed: Placed, values: _Values) -> Iterator[_Asked]:
    rule = placed.rule
    items = isinstance(rule, OrderedRule)
    for key, patterns in rule.when:
        yield _Asked(f"when/{key}", patterns, items, values.sent(key))
    conditions = rule.match
    if isinstance(rule, Rule):
        conditions = (*rule.match, *(rule.exception or ()))
    for condition in conditions:
        match condition:
            case TextIs(field, patterns) | Selector(field, patterns):
                yield _Asked(field, patterns, items, values.of(field))
            case AnyTagIs(patterns):
                yield _Asked("tags", patterns, items, values.of("tags"))
            case ArgumentIs(_, patterns):
                yield _Asked("arg", patterns, items, None)
            case _:
                pass


def _look(pattern: str, *, items: bool, free: bool) -> str | None:
    looks: Iterable[tuple[str, re.Pattern[str]]] = _LOOKS.items()
    if free:
        # In free text a dot before a star, or a comma, is as likely to be meant.
        looks = ((look, how) for look, how in looks if look != _REGEX)
        return next((look for look, how in looks if how.search(pattern)), None)
    looks = (*looks, *(_IN_ITEMS if items else _IN_GLOBS).items())
    return next((look for look, how in looks if how.search(pattern)), None)


def _told(odd: _Odd) -> Finding:
    asked = odd.asked
    return odd.tell(
        code=FindingCode.OTHER_DIALECT,
        message=_message(asked.field, odd.pattern, odd.look, items=asked.items),
        witness={
            "field": asked.field,
            "pattern": odd.pattern,
            "looks_like": odd.look.replace("`", ""),
            "means": _readings(odd.pattern, items=asked.items),
        },
    )


def _message(field: str, pattern: str, look: str, *, items: bool) -> str:
    here = (
        "match-items, in which only `*` at the ends is special"
        if items
        else ("globs, in which only `*` and `?` are special")
    )
    return f"{shown(pattern)} in `{field}` looks like {look}, but here are {here}"


def _readings(pattern: str, *, items: bool) -> list[str]:
    """Return patterns of this dialect that say what was most likely meant; none where none do."""
    braces = _BRACES.search(pattern)
    if braces:
        head, tail = pattern[: braces.start()], pattern[braces.end() :]
        return [f"{head}{part.strip()}{tail}" for part in braces[1].split(",")]
    if not items and "," in pattern:
        return [part.strip() for part in pattern.split(",") if part.strip()]
    plain = pattern.removeprefix("^").removesuffix("$").replace(".*", "*").replace("\\.", ".")
    return [plain] if plain != pattern and not _CLASS.search(plain) else []
