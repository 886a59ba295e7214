"""The signed text of a block, read and written; the format is in docs/audit.md."""

import hashlib
import json
from dataclasses import dataclass, fields
from typing import Any, Final

from toolpolicy.engine.canonical import dumps

FORM: Final = 1
NOTHING_BEFORE: Final = "0" * 64
# Members whose names are no names in Python.
_NAMES: Final = {"since": "from", "until": "to"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockText:
    """What a block says: which records it seals, after which block, and what was noticed."""

    log: str
    n: int
    segment: int
    first: int
    count: int
    root: str
    previous: str
    at: str
    since: str | None
    until: str | None
    outcomes: dict[str, int]
    gaps: list[list[Any]]
    key: str
    note: str

    @property
    def end(self) -> int:
        """The number of the first record after it."""
        return self.first + self.count

    def dump(self) -> str:
        """Return the canonical text that is signed."""
        own = {_NAMES.get(f.name, f.name): getattr(self, f.name) for f in fields(self)}
        return dumps({"v": FORM, **own})


_TYPES: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("log", "root", "previous", "at", "key", "note"), (str,)),
    **dict.fromkeys(("n", "segment", "first", "count"), (int,)),
    **dict.fromkeys(("since", "until"), (str, type(None))),
    "outcomes": (dict,),
    "gaps": (list,),
}


def parse(text: str) -> BlockText:
    """Read a block's text. Raise ValueError when it is not exactly what a sealer writes."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("the block's text is no JSON") from error
    if not isinstance(found, dict) or found.pop("v", None) != FORM:
        raise ValueError("the block's text is of no known form")
    values = {name: found.pop(_NAMES.get(name, name), ...) for name in _TYPES}
    wrong = [name for name, kinds in _TYPES.items() if type(values[name]) not in kinds]
    if wrong or found:
        raise ValueError(f"the block's text has the wrong members {[*wrong, *sorted(found)]}")
    block = BlockText(**values)
    if block.dump() != text:
        raise ValueError("the block's text is not in canonical form")
    return block


def block_hash(text: str) -> str:
    """Return the hash that the next block names, in hex."""
    return hashlib.sha256(b"\x02" + text.encode()).hexdigest()


def checkpoint_line(text: str, signature: str) -> str:
    """Return a signed block as one line of JSON, as it is kept outside the database."""
    return dumps({"block": text, "signature": signature})


def parse_line(line: str) -> tuple[str, str]:
    """Read such a line as (text, signature). Raise ValueError when it is none."""
    found = json.loads(line)
    match found:
        case {"block": str(text), "signature": str(signature), **others} if not others:
            return text, signature
        case _:
            raise ValueError("the line is no checkpoint")
