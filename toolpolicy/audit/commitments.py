"""Commitments: what stands in a record's text in the place of a value that it does not show.

A commitment is the SHA-256 of a random salt of its own and the value's canonical text, so that
equal values have different ones and none can be guessed. Whoever holds the salt and the value can
show that it was this value; once the salt is deleted, nobody can.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolpolicy.engine.canonical import dumps
from toolpolicy.engine.faults import token
from toolpolicy.engine.masking import Path, Spot

MARK: Final = "masked:sha256:"
SALT_BYTES: Final = 16
MASKED: Final = "masked"
"""The member of a record's text that lists what is masked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """What one commitment hides: its place, the salt in hex, the value's text ("": not kept)."""

    pointer: str
    salt: str
    text: str

    def columns(self) -> dict[str, str]:
        """Return it as the columns of a `MaskedValue`."""
        return {"pointer": self.pointer, "salt": self.salt, "value": self.text}


def pointer_of(path: Path) -> str:
    """Return a path as a JSON pointer, however long its names are."""
    return "".join(f"/{token(name)}" for name in path)


def commitment(salt: bytes, text: str) -> str:
    """Return the commitment to a value's canonical text."""
    return MARK + hashlib.sha256(salt + text.encode()).hexdigest()


def opens(said: str, *, salt: str, value: Any) -> bool:
    """Tell whether a commitment was made of this value (JSON) with this salt (hex)."""
    try:
        return hmac.compare_digest(said, commitment(bytes.fromhex(salt), dumps(value)))
    except (TypeError, ValueError):  # no hex, no JSON value, a commitment that is not ASCII
        return False


def hide(body: Mapping[str, Any], spots: Sequence[Spot]) -> tuple[dict[str, Any], list[Hidden]]:
    """Return a body with commitments at these places and the list of them, and what they hide.

    No place may stand inside another. The body that was given stays as it is.
    """
    hidden: list[Hidden] = []
    out: Any = body
    for spot in spots:
        out = _replaced(out, spot.path, spot, hidden)
    told = [
        {"pointer": one.pointer, "rule": spot.rule, "of": spot.of, "kept": spot.kept}
        for one, spot in zip(hidden, spots, strict=True)
    ]
    return {**out, MASKED: told}, hidden


def _replaced(value: Any, rest: Path, spot: Spot, hidden: list[Hidden]) -> Any:
    if not rest:
        salt, text = secrets.token_bytes(SALT_BYTES), dumps(value)
        kept = text if spot.kept else ""
        hidden.append(Hidden(pointer=pointer_of(spot.path), salt=salt.hex(), text=kept))
        return commitment(salt, text)
    name, below = rest[0], rest[1:]
    if isinstance(value, list):
        number = int(name)
        new = _replaced(value[number], below, spot, hidden)
        return [*value[:number], new, *value[number + 1 :]]
    return {**value, name: _replaced(value[name], below, spot, hidden)}
