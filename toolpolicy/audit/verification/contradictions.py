"""What a record's own text says against its columns.

A column is a copy of what the text says. Where both the column and its leaf were altered, the hash
of the whole block is wrong and no single one is: then the text tells which record it was.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from toolpolicy.audit.headers import COLUMNS
from toolpolicy.engine.canonical import dumps

_ENVELOPE: Final = {
    "uid": ("id",),
    "kind": ("kind",),
    "at": ("at",),
    "writer_id": ("writer", "id"),
    "writer_n": ("writer", "n"),
}
_COPIED: Final = tuple(
    name for name in COLUMNS if name not in {*_ENVELOPE, "leaf_hash", "client_id", "policy_version"}
)


def columns(header: bytes | None) -> dict[str, Any]:
    """Return the columns of a header by their names; nothing when it cannot be read."""
    try:
        _, *values = json.loads(header or b"")
        return dict(zip(COLUMNS, values, strict=True))
    except (ValueError, TypeError, RecursionError):
        return {}


def against_envelope(header: bytes, text: bytes) -> list[str]:
    """Return the columns of which the text says something else, among those it always names."""
    said, told = columns(header), _read(text)
    return [name for name, place in _ENVELOPE.items() if _at(told, place) != said.get(name)]


def contradicted(header: bytes, text: bytes | None) -> list[str]:
    """Return the columns whose values the text does not hold; nothing when there is no text.

    Good enough to tell which of some records was altered, not that one was.
    """
    if text is None:
        return []
    said = columns(header)
    if not said:
        return ["all"]
    held = text.decode("utf-8", "replace")
    copies = [name for name in _COPIED if not _holds(held, said[name])]
    return against_envelope(header, text) + copies


def _holds(text: str, value: object) -> bool:
    return isinstance(value, str) and dumps(value)[1:-1] in text


def _read(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _at(document: Any, place: Sequence[str]) -> Any:
    for name in place:
        document = document.get(name) if isinstance(document, dict) else None
    return document
