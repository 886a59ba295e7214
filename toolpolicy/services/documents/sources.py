"""A policy as a file: JSON, YAML, or a prompt whose front matter carries it."""

import codecs
import json
from enum import StrEnum
from typing import Any, Final

from toolpolicy.conf import conf
from toolpolicy.engine import formats, strictjson
from toolpolicy.engine.faults import Fault, Faults
from toolpolicy.engine.strictjson import Limits
from toolpolicy.services.documents import yaml_text
from toolpolicy.services.documents.yaml_text import Text

# A policy of ten thousand rules; what nests deeper than this is none.
POLICY_DEPTH: Final = 32
POLICY_TOKENS: Final = 400_000
_FENCE: Final = b"---"


class Syntax(StrEnum):
    """How a file is written."""

    JSON = "json"
    YAML = "yaml"
    PROMPT = "prompt"


SYNTAXES: Final = {
    ".json": Syntax.JSON,
    ".yaml": Syntax.YAML,
    ".yml": Syntax.YAML,
    ".prompt": Syntax.PROMPT,
}


def policy_limits() -> Limits:
    """Return the caps on a policy that is imported."""
    return Limits(size=conf().max_import_bytes, depth=POLICY_DEPTH, tokens=POLICY_TOKENS)


def read(data: bytes, syntax: Syntax) -> Text:
    """Read the bytes of a file. Raises `Faults`; those of YAML have lines, counted in the file."""
    limits = policy_limits()
    data = data.removeprefix(codecs.BOM_UTF8)
    if syntax is Syntax.JSON:
        return Text(strictjson.loads(data, limits))
    if syntax is Syntax.YAML:
        text = yaml_text.loads(data, limits)
        if data.lstrip()[:1] not in (b"{", b"[") and not data.endswith(b"\n"):
            message = "the last line has no end: the file may have been cut off"
            raise _refused(message, data.count(b"\n") + 1)
        return text
    return _front_matter(data, limits)


def write(value: Any, *, as_yaml: bool = False) -> str:
    """Return a document as the text of a file, laid out, JSON unless it is wanted as YAML."""
    if as_yaml:
        return yaml_text.dumps(value)
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n"


def _front_matter(data: bytes, limits: Limits) -> Text:
    """Read what a prompt says of tools between its first line `---` and the next such line."""
    lines = data.split(b"\n")
    if lines[0].rstrip() != _FENCE:
        raise _refused("a prompt's front matter starts with a line `---`", 1)
    end = next((n for n, line in enumerate(lines) if n and line.rstrip() == _FENCE), None)
    if end is None:
        raise _refused("the front matter has no closing line `---`", len(lines))
    text = yaml_text.loads(b"\n".join(lines[1:end]), limits, first_line=2)
    found, faults = formats.pick(text.value)
    if faults:
        raise Faults(text.located(faults))
    return Text(found, text.root)


def _refused(message: str, line: int) -> Faults:
    return Faults([Fault("", message, "invalid_yaml", line)])


def guess(name: str) -> Syntax | None:
    """Return the syntax that a file's name says, None when it says none."""
    return next((syntax for end, syntax in SYNTAXES.items() if name.lower().endswith(end)), None)


def guess_pasted(text: str) -> Syntax | None:
    """Return the syntax of a text without a name, None where it may be more than one."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return Syntax.JSON if json.loads(text) else None
    except (ValueError, RecursionError):
        return None
