"""Where in the space of contexts a rule holds, and whether one rule holds wherever another does.

A box is a set of conditions on context keys, all of which must hold. One lies in another when each
condition of the other is implied by one of its own. Patterns are compared as languages, exactly:
whatever text a pattern matches is followed through the others at once.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final, NamedTuple

from toolpolicy.engine.globs import any_glob, ascii_lower
from toolpolicy.engine.matchitems import match_items, split
from toolpolicy.engine.values import Layer, OrderedRule, Patterns, Rule
from toolpolicy.engine.words import Scope

MOST_STEPS: Final = 2_000
MOST_PARTS: Final = 32

ANY: Final = 0
ONE: Final = 1
Token = int | str
"""Of a pattern: ANY run of characters, exactly ONE of them, or itself."""

_SPECIAL: Final = frozenset("*?!%+,")
_OTHER: Final = ""
"""Any character that no pattern names."""


class Asks(NamedTuple):
    """One condition on a context key; `items` says in which of the two dialects."""

    key: str
    patterns: Patterns
    items: bool

    def holds(self, value: str) -> bool:
        """Tell whether a value satisfies it."""
        matches = match_items if self.items else _glob
        return matches(value, self.patterns)


Box = frozenset[Asks]
EVERYWHERE: Final[Box] = frozenset()


def _glob(value: str, patterns: Patterns) -> bool:
    return any_glob(patterns, value)


def target_of(layer: Layer) -> Box:
    """Return where a layer applies."""
    place = layer.settings
    if place.scope is Scope.CONFIG:
        return EVERYWHERE
    return frozenset({Asks(str(place.scope), place.target or (), items=False)})


def box_of(layer: Layer, rule: Rule | OrderedRule) -> Box:
    """Return where a rule holds, the target of its layer included."""
    items = isinstance(rule, OrderedRule)
    return target_of(layer) | {Asks(key, patterns, items) for key, patterns in rule.when}


def implies(one: Asks, other: Asks) -> bool:
    """Tell whether whatever satisfies `one` surely satisfies `other`."""
    if one.key != other.key or one.items is not other.items:
        return False
    if one.patterns == other.patterns:
        return True
    mine, not_mine = _languages(one)
    theirs, not_theirs = _languages(other)
    return all(included(p, theirs) for p in mine) and all(included(p, not_mine) for p in not_theirs)


def parts(box: Box) -> list[Box]:
    """Split a box along the literal values that it lists: covering each of them covers it."""
    split_up = [tuple(_literals(asks)) for asks in box]
    count = 1
    for alternatives in split_up:
        count *= max(1, len(alternatives))
    if count > MOST_PARTS:
        return [box]
    return [frozenset(chosen) for chosen in product(*split_up)]


def _literals(asks: Asks) -> Iterator[Asks]:
    patterns = split(asks.patterns) if asks.items else list(asks.patterns)
    if not patterns or any(set(pattern) & _SPECIAL for pattern in asks.patterns):
        yield asks
        return
    for pattern in patterns:
        yield Asks(asks.key, (pattern,), asks.items)


def example(box: Box, seen: dict[str, tuple[str, ...]]) -> dict[str, str] | None:
    """Return a context in which the box holds, of values that were sent where there are such."""
    context: dict[str, str] = {}
    for key in sorted({asks.key for asks in box}):
        asked = [asks for asks in box if asks.key == key]
        tried = (*seen.get(key, ()), *(text for asks in asked for text in _texts(asks)))
        value = next((text for text in tried if all(asks.holds(text) for asks in asked)), None)
        if value is None:
            return None
        context[key] = value
    return context


def _texts(asks: Asks) -> Iterator[str]:
    kept = split(asks.patterns) if asks.items else asks.patterns
    for pattern in kept:
        if not (asks.items and pattern.startswith("!")):
            for inside in ("", "x"):
                yield pattern.replace("*", inside).replace("?", "?" if asks.items else "x")
    yield from ("x", "other")


# --- patterns as languages -----------------------------------------------------------------------

Tokens = tuple[Token, ...]


def glob_tokens(pattern: str) -> Tokens:
    """Read a glob."""
    words: dict[str, Token] = {"*": ANY, "?": ONE}
    return tuple(words.get(char, char) for char in ascii_lower(pattern))


def item_tokens(pattern: str) -> Tokens:
    """Read a match-item that is split and decoded: stars count at the ends alone."""
    last = len(pattern) - 1
    return tuple(
        ANY if char == "*" and at in (0, last) else char for at, char in enumerate(pattern)
    )


def _languages(asks: Asks) -> tuple[tuple[Tokens, ...], tuple[Tokens, ...]]:
    """Return what satisfies a condition, and what does not all the same."""
    if not asks.items:
        return tuple(map(glob_tokens, asks.patterns)), ()
    kept = split(asks.patterns)
    positive = tuple(item_tokens(p) for p in kept if not p.startswith("!"))
    negative = tuple(item_tokens(p[1:]) for p in kept if p.startswith("!"))
    if not asks.patterns or (negative and not positive):
        positive = ((ANY,),)
    return positive, negative


def included(one: Tokens, others: tuple[Tokens, ...]) -> bool:
    """Tell whether every text of `one` is surely a text of the others: False in doubt.

    >>> included(glob_tokens("a*"), (glob_tokens("a"), glob_tokens("a?*")))
    True
    >>> included(glob_tokens("a*b"), (glob_tokens("a?*b"),))
    False
    """
    if one in others:
        return True
    letters = {t for tokens in (one, *others) for t in tokens if isinstance(t, str)} | {_OTHER}
    start = frozenset(_closed(others, ((n, 0) for n in range(len(others)))))
    todo, known = [(0, start)], {(0, start)}
    while todo:
        at, states = todo.pop()
        if at == len(one):
            if not any(here == len(others[n]) for n, here in states):
                return False
            continue
        for reached in _steps(one, at, states, others, letters):
            if reached not in known:
                known.add(reached)
                todo.append(reached)
        if len(known) > MOST_STEPS:
            return False
    return True


_State = tuple[int, frozenset[tuple[int, int]]]


def _steps(
    one: Tokens,
    at: int,
    states: frozenset[tuple[int, int]],
    others: tuple[Tokens, ...],
    letters: Iterable[str],
) -> Iterator[_State]:
    token = one[at]
    if token == ANY:
        yield at + 1, states
    to = at if token == ANY else at + 1
    for letter in (token,) if isinstance(token, str) else letters:
        read = _read(others, states, letter)
        yield to, frozenset(_closed(others, read))


def _read(
    others: tuple[Tokens, ...], states: Iterable[tuple[int, int]], letter: str
) -> Iterator[tuple[int, int]]:
    for n, here in states:
        token = others[n][here] if here < len(others[n]) else None
        if token == ANY:
            yield n, here
        elif token in (ONE, letter):
            yield n, here + 1


def _closed(
    others: tuple[Tokens, ...], states: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the states, and those behind the stars at which they stand."""
    for n, here in states:
        yield n, here
        for at in range(here, len(others[n])):
            if others[n][at] != ANY:
                break
            yield n, at + 1
