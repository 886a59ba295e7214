"""Two documents line by line: what went, what came, and a few lines around; the rest is folded."""

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, Final, NamedTuple

from django.utils.translation import gettext, ngettext

from toolpolicy.engine.faults import printable

AROUND: Final = 3
MOST_LINES: Final = 1_500
MOST_EXACT: Final = 2_000


class Line(NamedTuple):
    """A line of a comparison; `fate` is kept, removed, added or folded, `text` what it says."""

    fate: str
    text: str


def compared(before: Any, after: Any) -> list[Line]:
    """Return the comparison of two JSON documents as a page shows it, its end left out if long."""
    found = list(islice(_lines(_laid_out(before), _laid_out(after)), MOST_LINES + 1))
    if len(found) > MOST_LINES:
        return [
            *found[:MOST_LINES],
            Line("folded", gettext("and more, which the documents themselves say")),
        ]
    return found


def _laid_out(document: Any) -> list[str]:
    return json.dumps(document, indent=2, ensure_ascii=False).splitlines()


def _lines(old: list[str], new: list[str]) -> Iterator[Line]:
    # What is the same at both ends is most of a document, and need not be searched.
    first = max(0, _same_start(old, new) - AROUND)
    end = max(0, _same_start(old[first:][::-1], new[first:][::-1]) - AROUND)
    one, other = old[first : len(old) - end], new[first : len(new) - end]
    # What stands on many lines is left out of a long search: exact would be slow.
    matcher = SequenceMatcher(None, one, other, autojunk=len(other) > MOST_EXACT)
    at = 0
    for group in matcher.get_grouped_opcodes(AROUND):
        yield from _fold(first + group[0][1] - at)
        for kind, i, j, k, m in group:
            fate = "kept" if kind == "equal" else "removed"
            yield from (Line(fate, printable(text)) for text in one[i:j])
            if kind != "equal":
                yield from (Line("added", printable(text)) for text in other[k:m])
        at = first + group[-1][2]
    if at:
        yield from _fold(len(old) - at)


def _fold(count: int) -> Iterator[Line]:
    if count > 0:
        said = ngettext("%(count)s line alike", "%(count)s lines alike", count)
        yield Line("folded", said % {"count": count})


def _same_start(old: list[str], new: list[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))
