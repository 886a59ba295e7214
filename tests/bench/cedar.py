"""The same rules in Cedar, decided through cedarpy with parsed handles.

A rule is a `permit` or a `forbid`, its exception an `unless`; Cedar refuses by default and a forbid
beats every permit, as a strict layer that refuses by default does.
"""

import json
from typing import Any

import cedarpy

from tests.bench.workload import Call, Wire, Workload
from toolpolicy.engine.values import Subject
from toolpolicy.engine.words import Permission


class Cedar:
    """A workload as the peer wants it: everything that can be prepared is."""

    def __init__(self, workload: Workload) -> None:
        text = "\n".join(_policy(rule) for rule in workload.rules)
        self.policies = cedarpy.PolicySet.from_str(text)
        self.entities = cedarpy.Entities.from_json_str(
            json.dumps([_entity(tool) for tool in workload.tools])
        )

    @staticmethod
    def request(call: Call) -> dict[str, Any]:
        """Return a call as a request: made once, its conversion is the peer's own."""
        return {
            "principal": 'Agent::"any"',
            "action": 'Action::"call"',
            "resource": f'Tool::"{call.tool.name}"',
            "context": {**call.context, "args": call.args},
        }

    def decide(self, request: dict[str, Any]) -> bool:
        """Tell whether a call is admitted."""
        return bool(cedarpy.is_authorized(request, self.policies, self.entities).allowed)

    def deciders(self, request: dict[str, Any]) -> set[int]:
        """Return the numbers of the rules that the peer names as deciding."""
        answer = cedarpy.is_authorized(request, self.policies, self.entities)
        return {int(name.removeprefix("policy")) for name in answer.diagnostics.reasons}

    def decide_all(self, requests: list[dict[str, Any]]) -> list[bool]:
        """Decide a batch in one call of the peer."""
        answers = cedarpy.is_authorized_batch(requests, self.policies, self.entities)
        return [bool(answer.allowed) for answer in answers]


def _entity(tool: Subject) -> Wire:
    attrs: Wire = {"name": tool.name, "family": tool.family, "tags": list(tool.tags)}
    attrs["category"] = tool.category
    if tool.permission is not None:
        attrs["rank"] = tool.permission.rank
    return {"uid": {"type": "Tool", "id": tool.name}, "attrs": attrs, "parents": []}


def _policy(rule: Wire) -> str:
    word = "permit" if rule["effect"] == "allow" else "forbid"
    text = f'{word} (principal, action == Action::"call", resource)'
    tests = [*_matcher(rule["match"])]
    for key, glob in rule.get("when", {}).items():
        tests.append(f'context has {key} && context.{key} like "{glob}"')
    if tests:
        text += f" when {{ {' && '.join(tests)} }}"
    if "except" in rule:
        text += f" unless {{ {' && '.join(_matcher(rule['except'])) or 'true'} }}"
    return f"{text};"


def _matcher(match: Wire) -> list[str]:
    tests = []
    for field, value in match.items():
        if field in ("name", "family"):
            tests.append(f'resource.{field} like "{value}"')
        elif field == "tags":
            tests.append(f'resource.tags.contains("{value}")')
        elif field == "category":
            tests.append(f"{json.dumps(value)}.contains(resource.category)")
        elif field == "permission_at_least":
            tests.append(f"resource has rank && resource.rank >= {Permission(value).rank}")
        else:
            member = value["pointer"].removeprefix("/")
            glob = value["value"]
            tests.append(f'context.args has {member} && context.args.{member} like "{glob}"')
    return tests
