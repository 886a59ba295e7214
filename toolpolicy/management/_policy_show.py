"""The policy and its versions as lines for a terminal."""

import json
from collections.abc import Iterator
from typing import Any

from toolpolicy.engine.faults import printable
from toolpolicy.engine.reading import time_text
from toolpolicy.models import PolicyVersion


def version_line(version: PolicyVersion) -> str:
    """Return one line on a version: its number, when, who, and what was done."""
    moment = f"{version.published_at:%Y-%m-%d %H:%M:%S} UTC"
    by = printable(f"{version.published_by_label}: {version.comment}")
    return f"{version}  {moment}  {by}"


def version_wire(version: PolicyVersion) -> dict[str, Any]:
    """Return the same as JSON."""
    return {
        "number": version.number,
        "digest": version.document_id,
        "published_at": time_text(version.published_at),
        "published_by": version.published_by_label,
        "comment": version.comment,
    }


def policy_lines(document: dict[str, Any]) -> Iterator[str]:
    """Return each layer with its rules, a line a rule."""
    for entry in document["layers"]:
        policy, settings = entry["policy"], dict(entry.get("settings", {}))
        beside, description = settings.pop("rules", {}), settings.pop("description", "")
        words = [f"{entry['scope']} {entry['position']}", entry["combining"]]
        if "target" in entry:
            words.append(f"target {_compact(entry['target'])}")
        if "default" in policy:
            words.append(f"default {policy['default']}")
        words += [f"{name} {_compact(value)}" for name, value in settings.items()]
        yield ""
        yield f"{policy['name']}  ({', '.join(words)})"
        if description:
            yield f"  {description}"
        for rule in policy["rules"]:
            yield f"  - {_rule_line(rule, beside.get(rule['id'], {}))}"


def _rule_line(rule: dict[str, Any], settings: dict[str, Any]) -> str:
    members = {**rule, **settings}
    names = [
        name for name in ("on", "match", "except", "when", *settings, "reason") if name in members
    ]
    parts = [f"{name} {_compact(members[name])}" for name in names]
    return f"{rule['id']}: {rule.get('effect') or rule['mode']}  {'  '.join(parts)}"


def _compact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
