"""The known name that a written one was most likely meant for."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from toolpolicy.engine.globs import ascii_lower

# What many names share says little of any of them, and would cost the most.
_COMMON: Final = 32
_LOOKED: Final = 16
_LONGEST: Final = 128
_ALIKE: Final = 0.4
_WILD: Final = frozenset("*?!%,")


class Nearest:
    """Names by the pieces of two and three letters that they are made of."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[str, set[str]] = {name: _pieces(name) for name in sorted(set(names))}
        self._by_piece: dict[str, list[str]] = {}
        for name, pieces in self._names.items():
            for piece in pieces:
                held = self._by_piece.setdefault(piece, [])
                if len(held) < _COMMON:
                    held.append(name)

    def find(self, pattern: str) -> str | None:
        """Return the nearest name to the literal text of a pattern; None when none is near.

        >>> Nearest(["github_search", "slack_post"]).find("githb_search*")
        'github_search'
        """
        pieces = _pieces("".join(char for char in pattern[:_LONGEST] if char not in _WILD))
        shared: Counter[str] = Counter()
        for piece in pieces:
            shared.update(self._by_piece.get(piece, ()))
        looked_at = (name for name, _ in shared.most_common(_LOOKED))
        best = max(((self._share(pieces, name), name) for name in looked_at), default=(0.0, ""))
        return best[1] if best[0] >= _ALIKE else None

    def _share(self, pieces: set[str], name: str) -> float:
        """Say how much of the shorter one is in the other, the longer one counting a little."""
        theirs = self._names[name]
        sizes = sorted((len(pieces), len(theirs)))
        return len(pieces & theirs) / (sizes[0] * 0.75 + sizes[1] * 0.25)


def _pieces(text: str) -> set[str]:
    """Return the pieces of a text; its ends count as letters."""
    padded = f" {ascii_lower(text)} "
    return {padded[at : at + size] for size in (2, 3) for at in range(len(padded) - size + 1)}
