"""Merkle trees of RFC 6962 over SHA-256: roots, audit paths, and roots from paths.

Digests are 32 raw bytes. A leaf and an inner node are hashed under different first bytes, so that
neither can be passed off as the other.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

_sha256 = hashlib.sha256
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()


def leaf(data: bytes) -> bytes:
    """Return the digest of a leaf that holds `data`."""
    return hashlib.sha256(b"\x00" + data).digest()


def node(left: bytes, right: bytes) -> bytes:
    """Return the digest of the node over two digests."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """The tree over digests of leaves, in their order.

    All levels are kept, about twice as many digests as there are leaves, so that each path costs
    O(log n). A last node without a sibling moves up as it is: the same shape as the RFC's split at
    the largest power of two.
    """

    __slots__ = ("_levels",)

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self._levels = [list(leaves)]
        while len(self._levels[-1]) > 1:
            self._levels.append(_level_above(self._levels[-1]))

    @property
    def root(self) -> bytes:
        """The root; that of no leaves is the digest of nothing."""
        return self._levels[-1][0] if self._levels[-1] else EMPTY_ROOT

    def path(self, index: int) -> list[bytes]:
        """Return the siblings from leaf number `index` (from 0) up to the root.

        Raise IndexError when there is no such leaf.
        """
        if not 0 <= index < len(self._levels[0]):
            msg = f"the tree has no leaf {index}"
            raise IndexError(msg)
        siblings = []
        for level in self._levels[:-1]:
            siblings += level[index ^ 1 : (index ^ 1) + 1]
            index >>= 1
        return siblings


def root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over digests of leaves."""
    return Tree(leaves).root


def root_from_path(digest: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """Return the root that `path` leads to from leaf number `index` of `size` leaves.

    Raise ValueError when a path of that leaf has another length: it proves nothing.
    """
    if not 0 <= index < size:
        msg = f"a tree of {size} leaves has no leaf {index}"
        raise ValueError(msg)
    siblings, used = list(path), 0
    while size > 1:
        if index ^ 1 < size:
            if used == len(siblings):
                raise ValueError("the path is too short")
            pair = (siblings[used], digest) if index & 1 else (digest, siblings[used])
            digest, used = node(*pair), used + 1
        index, size = index >> 1, (size + 1) >> 1
    if used < len(siblings):
        raise ValueError("the path is too long")
    return digest


def _level_above(level: list[bytes]) -> list[bytes]:
    pairs = zip(level[::2], level[1::2], strict=False)
    # What `node` does, without a call for each: verification makes one for every record.
    above = [_sha256(b"\x01" + left + right).digest() for left, right in pairs]
    return above + level[len(level) & ~1 :]
