"""A cache whose values are made by one thread while the others that want the same wait for it.

After a publication, and in a new process, all threads want the same large value at once; each
making its own would take as many times as long, and as much memory.
"""

from collections.abc import Callable
from functools import lru_cache, update_wrapper
from threading import Lock
from typing import Final, Generic, TypeVar, TypeVarTuple

Key = TypeVarTuple("Key")
Made = TypeVar("Made")
# So many values can be made at the same time, unless two of them share a lock by chance.
_LOCKS: Final = 16


class MadeOnce(Generic[Made, *Key]):
    """A function of hashable arguments, cached as by `lru_cache`; an error is not kept."""

    def __init__(self, make: Callable[[*Key], Made], kept: int) -> None:
        self._cached = lru_cache(maxsize=kept)(make)
        self._locks = tuple(Lock() for _ in range(_LOCKS))
        self.cache_clear = self._cached.cache_clear
        update_wrapper(self, make)

    def __call__(self, *key: *Key) -> Made:
        with self._locks[hash(key) % _LOCKS]:
            return self._cached(*key)


def made_once(kept: int) -> Callable[[Callable[[*Key], Made]], MadeOnce[Made, *Key]]:
    """Return a decorator that keeps so many values of a function, each made once."""
    return lambda make: MadeOnce(make, kept)
