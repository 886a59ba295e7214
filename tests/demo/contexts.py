"""Who might ask, and with which arguments: enough to meet every rule of the demo."""

from typing import Any

from toolpolicy.engine.registry import Entry
from toolpolicy.engine.values import ABSENT

CONTEXTS: dict[str, dict[str, str]] = {
    "nobody": {},
    "support": {"agent": "support-bot", "channel": "slack-support"},
    "coder": {"agent": "coder-7", "channel": "ide"},
    "coder at night": {"agent": "coder", "channel": "ide", "shift": "night"},
    "read-only coder": {"agent": "coder", "sandbox_mode": "read_only"},
    "bookkeeper": {"agent": "bookkeeper", "channel": "web"},
    "greeter": {"agent": "greeter", "channel": "telegram-shop"},
    "fooled support": {"agent": "support-bot", "untrusted_content": "true"},
}
ANY_TOOLS: tuple[Any, ...] = (ABSENT, None, {}, "text")
ONE_TOOLS: tuple[dict[str, Any], ...] = (
    {"path": "/srv/shop/.env"},
    {"path": "/srv/shop/readme.md"},
    {"path": {"not": "a path"}},
    {"paths": ["/srv/readme.md", "/home/ada/.ssh/id"]},
    {"source": "/srv/server.pem", "destination": "/srv/copy"},
    {"channel_id": "C0ANNOUNCE-ALL", "text": "hello"},
    {"channel_id": "C0SUPPORT", "text": "hello"},
    {"branch": "main"},
    {"branch": "fix"},
    {"command": "rm -r build"},
    {"command": "ls"},
    {"recipient_email": "ada@example.com"},
    {"recipient_email": "warehouse@tidewell.example"},
    {"tool_slug": "GMAIL_SEND_EMAIL", "arguments": {"recipient_email": "x@tidewell.example"}},
    {"tool_slug": "GMAIL_DELETE_EMAIL", "arguments": {}},
    {"tools": [{"tool_slug": "GMAIL_FETCH_EMAILS"}, {"tool_slug": "GMAIL_DELETE_EMAIL"}]},
)


def samples(entry: Entry) -> tuple[Any, ...]:
    """Return arguments for this tool: what any tool may be given, and what its schema knows."""
    known = set(entry.subject.input_schema.get("properties", {}))
    return (*ANY_TOOLS, *(args for args in ONE_TOOLS if args.keys() <= known))
