"""RFC 6901 pointers into tool arguments, as the published design reads them (vectors R15)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Missing(Enum):
    """Why a pointer has no value: nothing is there, or it stops at something it cannot enter."""

    ABSENT = "absent"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Found:
    """The value that a pointer leads to."""

    value: Any


def tokens(pointer: str) -> list[str]:
    """Split `pointer` into member names; a missing leading slash is supplied, "" is the whole.

    `~1` is undone before `~0`; a bad escape stays as it is written.
    """
    if pointer == "":
        return []
    parts = pointer.removeprefix("/").split("/")
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def _is_index(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or not text.startswith("0"))


def resolve(pointer: str, document: Any) -> Found | Missing:
    """Follow `pointer` through `document` (JSON values)."""
    return follow(tokens(pointer), document)


def follow(names: Sequence[str], document: Any) -> Found | Missing:
    """Follow the tokens of a pointer through `document`.

    ABSENT: a member that is not there, an index past the end, or null on the way.
    BLOCKED: it stops at a scalar, or at an array with a token that is no index.
    """
    here = document
    for name in names:
        if here is None:
            return Missing.ABSENT
        if isinstance(here, dict):
            if name not in here:
                return Missing.ABSENT
            here = here[name]
        elif isinstance(here, list) and _is_index(name):
            # The length is compared first: int() of a very long text is slow and needless.
            if len(name) > len(str(len(here))) or int(name) >= len(here):
                return Missing.ABSENT
            here = here[int(name)]
        else:
            return Missing.BLOCKED
    return Found(here)
