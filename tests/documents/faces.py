"""The three faces of policies as files: the command, REST and the admin, each asked alike."""

import io
import sys
from typing import Any

from django.core.management import call_command

# What each recipe is told, in one case.
TOLD: dict[str, dict[str, Any]] = {
    "agent-allowlist": {"agent": "coder-*", "allow": ["read_*", "git_*"], "deny": ["git_push"]},
    "channel-ceiling": {"channel": "public-*", "level": "ReadOnly"},
    "server-filter": {"family": "github", "deny": ["mcp__github__delete_*"]},
    "connector-curation": {"actions": "GMAIL_*", "curated": ["GMAIL_FETCH_EMAILS"]},
    "user-toggles": {"session": "s-1", "toggles": {"mail": "off", "mail_read": "on", "x": "ask"}},
    "approval-allowlist": {"allow": ["read_*"]},
}


def command(*arguments: str, given: str = "") -> str:
    """Return what `manage.py policy` prints; `given` is its standard input."""
    out, stdin = io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()))
    try:
        call_command("policy", *arguments, stdout=out)
    finally:
        sys.stdin = stdin
    return out.getvalue()


def as_options(told: dict[str, Any]) -> list[str]:
    """Return what the command is told for these values."""
    found: list[str] = []
    for name, value in told.items():
        items = [f"{k}={v}" for k, v in value.items()] if isinstance(value, dict) else value
        found += [f"--{name}", *([items] if isinstance(items, str) else items)]
    return found


def as_fields(told: dict[str, Any]) -> dict[str, str]:
    """Return what the admin's form is sent for these values."""
    found: dict[str, str] = {}
    for name, value in told.items():
        if isinstance(value, dict):
            for tool, mode in value.items():
                found[mode] = f"{found.get(mode, '')}{tool}\n"
        else:
            found[name] = value if isinstance(value, str) else "\n".join(value)
    return found
