"""The header of a record: every column of it, as the text that its leaf in the log covers.

A header still verifies when the record's text is gone: it holds the text's hash. The form is part
of the bundle's format (docs/audit.md) and never changes; another form gets another first word.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

FORM: Final = "toolpolicy-record/1"
COLUMNS: Final = (
    *("uid", "kind", "at", "writer_id", "writer_n", "leaf_hash"),
    *("surface", "outcome", "reason_code", "family", "tool", "agent", "channel", "session"),
    *("client_id", "client_key_id", "layer", "rule", "policy_version"),
    *("actor_label", "object_label", "request_id", "idempotency_key", "request_digest"),
)
"""The columns of `Record` in the order of the header; read with `values_list(*COLUMNS)`."""
NAMES: Final = tuple("text_hash" if name == "leaf_hash" else name for name in COLUMNS)
"""What the members of a header are called, after the first: that one is the form."""
KIND, AT, WRITER, WRITER_N, TEXT_HASH, OUTCOME = (
    COLUMNS.index(name) for name in ("kind", "at", "writer_id", "writer_n", "leaf_hash", "outcome")
)
encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Return the text of a header given by its members."""


def moment(at: datetime) -> str:
    """Return a time as records write it: UTC, six digits of the second, `Z`."""
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def members(row: Sequence[Any]) -> list[Any]:
    """Return the members of the header of a record given by its `COLUMNS`."""
    uid, kind, at, *others = row
    return [FORM, str(uid), kind, moment(at), *others]


def header(row: Sequence[Any]) -> str:
    """Return the header's text."""
    return encode(members(row))


def leaf(row: Sequence[Any]) -> bytes:
    """Return the hash of the header as a leaf of the log's trees (RFC 6962): 32 bytes."""
    return hashlib.sha256(b"\x00" + header(row).encode()).digest()
