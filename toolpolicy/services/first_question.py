"""What a newcomer pastes: a first question asked over REST, in a shell or in Python."""

import json
import shlex
from collections.abc import Mapping
from pprint import pformat
from typing import Any, Final

SERVER: Final = "http://127.0.0.1:8000"
PATH: Final = "/api/v1/decisions/"
FIRST_QUESTION: Final[Mapping[str, Any]] = {
    "surface": "call",
    "tool": {"family": "github", "name": "mcp__github__create_issue"},
    "arguments": {"owner": "acme", "repo": "website", "title": "The search box is empty"},
    "context": {"agent": "support-bot"},
}


def curl_line(
    key: str, *, server: str = SERVER, question: Mapping[str, Any] = FIRST_QUESTION
) -> str:
    """Return the shell command that asks `question` with `key` (or `$NAME`, a shell variable)."""
    return (
        f"curl -s {shlex.quote(server.rstrip('/') + PATH)} \\\n"
        f'  -H "Authorization: Bearer {key}" \\\n'
        f"  -H 'Content-Type: application/json' \\\n"
        f"  -d {shlex.quote(json.dumps(question))}"
    )


def python_lines(
    key: str, *, server: str = SERVER, question: Mapping[str, Any] = FIRST_QUESTION
) -> str:
    """Return Python that asks `question` with `key`, from the standard library alone.

    It treats all but a parsed allow as a no, as every caller should.
    """
    return f"""\
import json
from urllib.request import Request, urlopen

question = {pformat(dict(question), width=88, sort_dicts=False)}
request = Request(
    {server.rstrip("/") + PATH!r},
    data=json.dumps(question).encode(),
    headers={{"Authorization": {f"Bearer {key}"!r}, "Content-Type": "application/json"}},
)
try:
    answer = json.load(urlopen(request, timeout=5))
except (OSError, ValueError) as error:  # no answer is a no
    answer = {{"outcome": "deny", "message": str(error)}}
if answer["outcome"] == "allow":
    print("run the tool")
else:
    print("do not run it:", answer["message"])
"""
