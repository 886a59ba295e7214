"""Tool lists for the tests: small ones of our own, and the published ones when they are at hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolpolicy.engine.registry import Entry
from toolpolicy.models import Record
from toolpolicy.services import registry
from toolpolicy.services.actors import Actor
from toolpolicy.services.registry import ImportReport

HERE = Path(__file__).parent
TICKETS = HERE / "data" / "tickets.json"
PUBLISHED = HERE.parents[2] / "shared" / "data" / "mcp"
PUBLISHED_COUNTS = {
    "chrome-devtools": 32,
    "everything": 13,
    "filesystem": 14,
    "github": 26,
    "memory": 9,
    "mongodb": 27,
    "notion": 24,
    "playwright": 25,
    "sentry": 22,
    "slack": 8,
}
needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the published lists are not beside this repository"
)


def published(name: str) -> Any:
    return json.loads((PUBLISHED / f"{name}.json").read_text(encoding="utf-8"))


def tickets() -> Any:
    return json.loads(TICKETS.read_text(encoding="utf-8"))


def tool(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **members}


def named(*names: str) -> dict[str, Any]:
    return {"tools": [tool(name) for name in names]}


ADMIN = Actor.system("a test")


def imported(document: Any, **place: Any) -> ImportReport:
    return registry.import_tools(actor=ADMIN, document=document, **{"family": "box", **place})


def entry(name: str, family: str = "box") -> Entry:
    found = registry.live().resolve(name, family).entry
    assert found is not None
    return found


def last_record() -> tuple[Record, dict[str, Any]]:
    record = Record.objects.select_related("body").newest_first()[0]
    return record, json.loads(record.body.text)
