"""Names that look like another registered one: a warning, never a refusal.

A model, or a person who approves, may take one for the other. Names that differ by case only are
refused before this (SPEC §8), and other alphabets are no names at all (SPEC §1).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from toolpolicy.engine.globs import ascii_lower

_SEPARATORS: Final = str.maketrans("", "", "_-./:")
# In shorter names one other letter is another word; longer ones are only compared as a whole.
_SHORTEST, _LONGEST = 5, 64
# So that no flood of names makes the work, or the warnings, grow with the square of their number.
LOOKED_AT, TOLD = 8, 3
Identity = tuple[str, str]
_Index = dict[str, list[tuple[Identity, str]]]


@dataclass(frozen=True, slots=True, order=True)
class NearName:
    """A tool whose name looks like another's; both are (family, name)."""

    tool: Identity
    like: Identity
    how: str

    def __str__(self) -> str:
        one, other = ("/".join(identity) for identity in (self.tool, self.like))
        return f"`{one}` looks like `{other}`: they differ by {self.how}"

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"name": self.tool[1], "like": "/".join(self.like), "message": str(self)}


def near_names(new: Iterable[Identity], known: Iterable[Identity] = ()) -> tuple[NearName, ...]:
    """Return which of the new names look like another new or known one; each pair once.

    Near are names that differ by `_ - . / :` alone, anywhere, and names of different families that
    differ by one character, unless both have a digit there: those are numbered. The same name in
    two families is no near name. Of one name at most three are told; the work grows with the number
    of names, not with its square.
    """
    asked = {tool: tuple(_keys(_squashed(tool[1]))) for tool in sorted(set(new))}
    index = _index(sorted({*asked, *known}), asked) if asked else {}
    found: dict[frozenset[Identity], NearName] = {}
    for tool, keys in asked.items():
        for near in islice(_near(tool, keys, index), TOLD):
            found.setdefault(frozenset((near.tool, near.like)), near)
    return tuple(found.values())


def _index(names: Iterable[Identity], asked: Mapping[Identity, tuple[str, ...]]) -> _Index:
    """Return the names by those of their keys that an asked one has too."""
    index: _Index = {key: [] for keys in asked.values() for key in keys}
    lengths = {len(key) + more for key in index for more in (0, 1)}
    for identity in names:
        squashed = _squashed(identity[1])
        if len(squashed) not in lengths:
            continue
        for key in asked.get(identity) or _keys(squashed):
            held = index.get(key)
            if held is not None and len(held) < LOOKED_AT:
                held.append((identity, squashed))
    return index


def _near(tool: Identity, keys: Iterable[str], index: _Index) -> Iterator[NearName]:
    squashed = _squashed(tool[1])
    for key in keys:
        for like, other in index[key]:
            if like[1] == tool[1]:
                continue
            if other == squashed:
                yield NearName(tool, like, "separators only")
            elif like[0] != tool[0] and _one_apart(squashed, other):
                yield NearName(tool, like, "one character")


def _squashed(name: str) -> str:
    return ascii_lower(name).translate(_SEPARATORS)


def _keys(squashed: str) -> Iterator[str]:
    """Yield the name, and the name without each of its characters.

    Two names that are one character apart have such a key in common.
    """
    yield squashed
    if _SHORTEST <= len(squashed) <= _LONGEST:
        # In their order: the same warnings are given in every process.
        yield from dict.fromkeys(squashed[:at] + squashed[at + 1 :] for at in range(len(squashed)))


def _one_apart(one: str, other: str) -> bool:
    """Tell whether one character was put in, left out or is another; no digit for a digit."""
    if min(len(one), len(other)) < _SHORTEST:
        return False
    start = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if start is None:  # one is the other and a last character
        return not max(one, other, key=len)[-1].isdigit()
    if len(one) == len(other):
        numbered = one[start].isdigit() and other[start].isdigit()
        return one[start + 1 :] == other[start + 1 :] and not numbered
    short, long = sorted((one, other), key=len)
    return short[start:] == long[start + 1 :]
