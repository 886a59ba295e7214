"""Members of a published tool that nobody reads and that are nearly ones that are: a warning.

A list may say more than the protocol knows, so an unknown member is kept and refuses nothing. But
a schema under `inputschema` or a hint under `readonlyHint` is lost without a word.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final

from toolpolicy.engine.faults import shown

_NEAR: Final = 0.8


@dataclass(frozen=True, slots=True)
class Misspelt:
    """A member of a tool (`annotations.` before it where it stands there), and what it may mean."""

    family: str
    name: str
    member: str
    meant: str

    def __str__(self) -> str:
        said = f"`{self.family}/{self.name}` says {shown(self.member)}, which nobody reads"
        return f"{said}; did you mean `{self.meant}`"

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"name": self.name, "message": str(self)}


def misspelt(said: Iterable[str], known: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield each member that is nearly a known one, and that one."""
    for member in said:
        meant = _nearest(member, known)
        if meant not in (None, member):
            yield member, str(meant)


@lru_cache(maxsize=1024)
def _nearest(member: str, known: tuple[str, ...]) -> str | None:
    return next(iter(get_close_matches(member[:64], known, n=1, cutoff=_NEAR)), None)
