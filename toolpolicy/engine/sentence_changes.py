"""What differs between two sentences: the words of both, those that came or went marked."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

from toolpolicy.engine.sentences import Part, PartKind, Parts, Sentence


class Fate(StrEnum):
    """What became of some words."""

    KEPT = "kept"
    REMOVED = "removed"
    ADDED = "added"


class Run(NamedTuple):
    """Words beside each other that share one fate."""

    fate: Fate
    parts: Parts


def changed_words(before: Parts, after: Parts) -> list[Run]:
    """Return the words of both sentences in one order, the removed ones before the added ones."""
    old, new = list(_words(before)), list(_words(after))
    runs = []
    for _, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if old[start:end] == new[first:last]:
            runs.append(Run(Fate.KEPT, tuple(old[start:end])))
            continue
        both = ((Fate.REMOVED, old[start:end]), (Fate.ADDED, new[first:last]))
        runs += [Run(fate, tuple(words)) for fate, words in both if words]
    return runs


def written(before: Sentence, after: Sentence) -> str:
    """Return a changed sentence as plain text: `[-removed-]`, `{+added+}`."""
    signs = {Fate.KEPT: "{}", Fate.REMOVED: "[-{}-]", Fate.ADDED: "{{+{}+}}"}
    verb = after.verb
    if before.verb != verb:
        verb = f"[-{before.verb}-] {{+{verb}+}}"
    runs = changed_words(before.parts, after.parts)
    return f"{verb} " + "".join(
        signs[fate].format("".join(map(str, parts))) for fate, parts in runs
    )


def _words(parts: Parts) -> Iterator[Part]:
    """Split plain text at its spaces; a key and a pattern are one word each."""
    for part in parts:
        if part.kind is PartKind.TEXT:
            yield from (Part(PartKind.TEXT, word) for word in re.findall(r"\s+|[^\s]+", part.text))
        else:
            yield part
