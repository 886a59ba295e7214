"""What differs between two sentences: their words, those that came or went marked.

A list in a sentence (`a`, `b` or `c`) is compared by its elements, so that one which stays is
never told to have gone.
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby
from typing import Final, NamedTuple

from toolpolicy.engine.sentences import Part, PartKind, Parts, Place, Sentence


class Fate(StrEnum):
    """What became of some words."""

    KEPT = "kept"
    REMOVED = "removed"
    ADDED = "added"


class Run(NamedTuple):
    """Words beside each other that share one fate; of a list, one element or one joint."""

    fate: Fate
    parts: Parts

    @property
    def is_joint(self) -> bool:
        """Whether it only joins elements of a list."""
        return all(part.place is Place.JOINT for part in self.parts)


# Where each of two sentences has a list, what is in them is compared apart.
_LIST: Final = Part(PartKind.TEXT, "\0")


def changed_words(before: Parts, after: Parts) -> list[Run]:
    """Return the words of both sentences in one order, the removed ones before the added ones."""
    old, new = list(_tokens(before)), list(_tokens(after))
    runs: list[Run] = []
    for kept, start, end, first, last in _matched([*map(_key, old)], [*map(_key, new)]):
        if kept:
            for one, other in zip(old[start:end], new[first:last], strict=True):
                runs += _list_changes(one, other)
        else:
            both = ((Fate.REMOVED, old[start:end]), (Fate.ADDED, new[first:last]))
            runs += [Run(fate, sum(tokens, ())) for fate, tokens in both if tokens]
    return list(_joined(runs))


def _matched(old: list[Part], new: list[Part]) -> Iterator[tuple[bool, int, int, int, int]]:
    """Yield the spans of both that are alike, and those that are not."""
    for kind, *places in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        start, end, first, last = places
        yield kind == "equal", start, end, first, last


def only_lists_differ(before: Sentence, after: Sentence) -> bool:
    """Tell whether two sentences say the same but for the elements of their lists."""
    old, new = ([_key(token) for token in _tokens(one.parts)] for one in (before, after))
    return before.verb == after.verb and old == new


def _key(token: Parts) -> Part:
    return token[0] if token[0].place is Place.WORDS else _LIST


def _list_changes(before: Parts, after: Parts) -> Iterator[Run]:
    """Yield the elements of two lists in one order, each joint before its element."""
    if before == after:
        yield Run(Fate.KEPT, after)
        return
    (leads, old), (new_leads, new) = _items(before), _items(after)
    for kept, start, end, first, last in _matched(old, new):
        if kept:
            for place in range(end - start):
                yield from _kept(leads[start + place], new_leads[first + place])
                yield Run(Fate.KEPT, (old[start + place],))
            continue
        for place in range(start, end):
            yield from _run(Fate.REMOVED, leads[place], (old[place],))
        for place in range(first, last):
            yield from _run(Fate.ADDED, new_leads[place], (new[place],))


def _items(token: Parts) -> tuple[list[Parts], list[Part]]:
    """Return the elements of a list, and before each the joint that leads to it."""
    return [(), *((joint,) for joint in token[1::2])], list(token[::2])


def _run(fate: Fate, *pieces: Parts) -> Iterator[Run]:
    return (Run(fate, parts) for parts in pieces if parts)


def _kept(was: Parts, now: Parts) -> Iterator[Run]:
    """Yield the joint of an element that stays, where it has one before or after."""
    if was == now:
        yield from _run(Fate.KEPT, now)
    else:
        yield from _run(Fate.REMOVED, was)
        yield from _run(Fate.ADDED, now)


def _joined(runs: list[Run]) -> Iterator[Run]:
    """Yield the runs, those that stay beside each other as one."""
    for stays, some in groupby(runs, key=lambda run: run.fate is Fate.KEPT):
        if stays:
            yield Run(Fate.KEPT, sum((run.parts for run in some), ()))
        else:
            yield from some


def _tokens(parts: Parts) -> Iterator[Parts]:
    """Split plain text at its spaces; a key and a list are one token each."""
    for words, some in groupby(parts, key=lambda part: part.place is Place.WORDS):
        if not words:
            yield tuple(some)
            continue
        for part in some:
            text = part.kind is PartKind.TEXT
            pieces = re.findall(r"\s+|[^\s]+", part.text) if text else [part.text]
            yield from ((Part(part.kind, piece),) for piece in pieces)
