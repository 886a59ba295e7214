"""One change as a report tells it: who, what, which way it moved answers, and what differs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from toolpolicy.engine.policy_grades import Direction
from toolpolicy.engine.reading import time_text
from toolpolicy.models import Record
from toolpolicy.models.choices import RecordKind, ToolState
from toolpolicy.services import _policy_diff, records
from toolpolicy.services.differences import members
from toolpolicy.services.differences import told as told_of
from toolpolicy.services.policies import direction_of

Wire = dict[str, Any]
CHANGES: Final = (
    *(RecordKind.CHANGE, RecordKind.PUBLISH, RecordKind.IMPORT, RecordKind.FREEZE, RecordKind.KEY),
    *(RecordKind.PERMISSION, RecordKind.ACCESS),
    *(RecordKind.PRUNE, RecordKind.HOLD, RecordKind.ERASE, RecordKind.ROTATION, RecordKind.REPAIR),
)
# Until sign-ins were a kind of their own, they stood beside changes of accounts.
SIGN_INS: Final = ("sign_in", "sign_out", "sign_in_failed")
# States in which every use of a tool is refused.
PUT_ASIDE: Final = frozenset({ToolState.QUARANTINED, ToolState.RETIRED})


def entry_of(record: Record) -> tuple[Wire, Wire] | None:
    """Return a change as the report tells it, and its text; None for what is no change.

    Of a record whose text is no longer kept, only what stands beside the text.
    """
    body = records.document_of(record)
    if body is not None and body.get("action") in SIGN_INS:
        return None
    told = body or {}
    differences = _differences(told)
    entry = {
        "at": time_text(record.at),
        "id": str(record.uid),
        "kind": record.kind,
        "area": _area(record.kind, told),
        "who": record.actor_label,
        "about": record.object_label,
        "comment": str(told.get("summary") or told.get("what") or ""),
        "policy_version": record.policy_version,
        "effect": _effect(told, differences),
        "sentences": list(_sentences(told, differences)),
        "differences": differences,
        "actor": told.get("actor"),
        "origin": told.get("origin"),
        "details": _details(told),
    }
    return entry, told


def is_policy(body: Mapping[str, Any]) -> bool:
    """Tell whether a change is one of the policy's document."""
    return isinstance(body.get("after"), dict) and "layers" in body["after"]


def tools_of(body: Mapping[str, Any]) -> list[Wire]:
    """Return before and after of each tool or family that a change of the registry names."""
    if "registry" not in body or "report" in body:
        return []
    found: list[Wire] = body["tools"] if "tools" in body else [dict(body)]
    return [{name: one.get(name) for name in ("before", "after")} for one in found]


def state_change(pair: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return a tool's state before and after; None where it was or is not there."""
    before, after = pair["before"] or {}, pair["after"] or {}
    return before.get("state"), after.get("state")


def _area(kind: str, body: Mapping[str, Any]) -> str:
    """Say what was changed: one kind of record is about the policy, tools and settings alike."""
    if kind != RecordKind.CHANGE or not body or is_policy(body):
        return str(kind)
    return "registry" if "registry" in body else "settings"


def _differences(body: Mapping[str, Any]) -> list[Wire]:
    return _policy_diff.diff(body["before"], body["after"]) if is_policy(body) else []


def _details(body: Mapping[str, Any]) -> Wire:
    """Return what the text tells beside; of the policy's whole documents, the differences do."""
    named = ("freeze", "key", "object", "tools", "report", "reviewed", "changes", "digests")
    documents = () if is_policy(body) else ("before", "after")
    return {name: body[name] for name in (*named, *documents) if name in body}


def _effect(body: Mapping[str, Any], differences: list[Wire]) -> str | None:
    """Say which way a change can only have moved answers; None where that is not proven."""
    if differences:
        return direction_of(differences)
    if "freeze" in body:
        lifted = body.get("action") == "lift"
        return str(Direction.LOOSENS if lifted else Direction.TIGHTENS)
    ways = {_way(*state_change(pair)) for pair in tools_of(body)}
    return ways.pop() if len(ways) == 1 else None


def _way(before: str | None, after: str | None) -> str | None:
    """Say what a tool's new state does to its calls: put aside, every one of them is refused."""
    if before is None or after is None or (before in PUT_ASIDE) == (after in PUT_ASIDE):
        return None
    return str(Direction.TIGHTENS if after in PUT_ASIDE else Direction.LOOSENS)


def _sentences(body: Mapping[str, Any], differences: list[Wire]) -> Iterator[str]:
    """Yield in words what differs, a line each."""
    for change in differences:
        yield _sentence(change)
    if differences or is_policy(body):
        return
    for pair in tools_of(body):
        yield from _members(pair["before"], pair["after"])
    if "freeze" in body:
        yield f"reason: {body['freeze']['reason']}"
        yield f"until: {body['freeze']['until'] or 'it is lifted'}"
    if "key" in body:
        yield from _members({}, body["key"])
    if "registry" not in body and isinstance(body.get("object"), dict):
        yield from _members(body.get("before"), body.get("after"))


def _sentence(change: Mapping[str, Any]) -> str:
    grade = f", {change['grade']}" if "grade" in change else ""
    kind = change["change"]
    name = (
        f"{change['layer']} / {change['rule']}" if "rule" in change else f"layer {change['layer']}"
    )
    head = f"{name} ({kind}{grade})"
    lines = [] if kind == "moved" else told_of(change).lines()
    return f"{head}: {'; '.join(lines)}" if lines else head


def _members(before: Any, after: Any) -> Iterator[str]:
    """Yield each member that differs; of what is new, those that it has."""
    for one in members(before or {}, after or {}):
        if before in (None, {}) and one.after in ("", [], {}):
            continue
        yield str(replace(one, new=one.before is None))
