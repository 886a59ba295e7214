"""Requests and answers shown in the OpenAPI description. A test asks and answers each of them."""

from typing import Any, Final

from drf_spectacular.utils import OpenApiExample

QUESTION: Final[dict[str, Any]] = {
    "surface": "call",
    "tool": {"family": "mail", "name": "send_mail"},
    "arguments": {"to": "someone@example.com"},
    "context": {"agent": "support-bot", "session": "s-1"},
}
DESCRIBED: Final[dict[str, Any]] = {
    "surface": "call",
    "subject": {
        "name": "delete_branch",
        "family": "code",
        "permission": "Dangerous",
        "hints": {"destructive": True, "needs_approval": True},
    },
    "context": {"agent": "support-bot"},
}
ANSWER: Final[dict[str, Any]] = {
    "decision_id": "0b5a4f5e-8f0e-4a66-8f3c-0d9c2f4e5a11",
    "surface": "call",
    "tool": {"family": "mail", "name": "send_mail"},
    "outcome": "allow",
    "reason_code": "allowed",
    "message": "Tool 'send_mail' may be used.",
    "visible": True,
    "callable": True,
    "approval": "default",
    "blocked_by": None,
    "policy": {
        "version": 3,
        "digest": "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    },
}
BATCH: Final[dict[str, Any]] = {
    "defaults": {"surface": "call", "context": {"agent": "support-bot"}},
    "items": [{"tool": "send_mail", "arguments": {}}, {"tool": "read_mail", "arguments": {}}],
}
LISTING: Final[dict[str, Any]] = {
    "surface": "search",
    "query": "mail",
    "context": {"agent": "support-bot"},
}
LAYER: Final[dict[str, Any]] = {
    "name": "house rules",
    "scope": "config",
    "description": "What nobody may do.",
}
RULE: Final[dict[str, Any]] = {
    "layer": 4,
    "id": "no-mail-outside",
    "effect": "deny",
    "on": ["call"],
    "match": {"name": "send_mail", "arg": {"pointer": "/to", "value": "*@example.org"}},
    "reason": "mail stays inside",
}
CLIENT: Final[dict[str, Any]] = {
    "name": "support bot",
    "scopes": ["decide"],
    "pinned_context": {"agent": "support-bot"},
}

FREEZE: Final[dict[str, Any]] = {
    "kind": "agent",
    "value": "research",
    "reason": "posting loop, ticket 2214",
    "until": "2090-01-01T18:00:00Z",
}
HOLD: Final[dict[str, Any]] = {
    "name": "case 2026-118",
    "reason": "claim of a customer, letter of 3 March",
    "filter": {"agent": "research", "from": "2026-01-01T00:00:00.000000Z"},
}


def _sent(name: str, value: dict[str, Any]) -> OpenApiExample:
    return OpenApiExample(name, value=value, request_only=True)


DECIDE: Final = (
    _sent("a registered tool", QUESTION),
    _sent("a tool that is described", DESCRIBED),
    OpenApiExample("allowed", value=ANSWER, response_only=True, status_codes=["200"]),
)
DECIDE_BATCH: Final = (_sent("two calls of one agent", BATCH),)
LIST: Final = (_sent("a search", LISTING),)
EXPLAIN: Final = (_sent("a registered tool", QUESTION),)
CREATE_LAYER: Final = (_sent("a strict layer", LAYER),)
CREATE_RULE: Final = (_sent("a rule about an argument", RULE),)
CREATE_CLIENT: Final = (_sent("a key bound to one agent", CLIENT),)
FREEZE_AGENT: Final = (_sent("one agent, until the evening", FREEZE),)
PLACE_HOLD: Final = (_sent("all of one agent since the new year", HOLD),)
