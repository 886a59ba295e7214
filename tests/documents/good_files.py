"""One good file of every form that is imported, with the command that imports it."""

import json
from typing import Any

TOOLS = ("tools", "import", "{file}", "--family", "box")
SPECS = (*TOOLS, "--format", "toolspec")
POLICY = ("policy", "import", "{file}")


def dumped(document: Any) -> str:
    return json.dumps(document, indent=1)


RULE = {"id": "r", "effect": "deny", "match": {"name": "rm_*"}}
LAYER = {"name": "house", "rules": [RULE]}
ENVELOPE = {"scope": "config", "position": 0, "combining": "deny_overrides", "policy": LAYER}
# form → the command, the file's name, a good text
GOOD: dict[str, tuple[tuple[str, ...], str, str]] = {
    "mcp": (
        TOOLS,
        "box.json",
        dumped(
            {
                "tools": [
                    {"name": "run", "inputSchema": {}},
                    {"name": "stop", "annotations": {"readOnlyHint": True}},
                ]
            }
        ),
    ),
    "toolspec": (
        SPECS,
        "box.json",
        dumped([{"name": "run", "input_schema": {}}, {"name": "stop", "read_only": True}]),
    ),
    "policy json": (
        POLICY,
        "p.json",
        dumped({"format": "toolpolicy/1", "layers": [ENVELOPE]}),
    ),
    "policy yaml": (
        POLICY,
        "p.yaml",
        """\
format: toolpolicy/1
layers:
- scope: config
  position: 0
  combining: deny_overrides
  policy:
    name: house
    rules:
    - id: r
      effect: deny
      match: {name: 'rm_*'}
""",
    ),
    "layers json": (POLICY, "p.json", dumped([LAYER, {"name": "guests", "rules": []}])),
    "layers yaml": (
        POLICY,
        "p.yaml",
        """\
- name: house
  rules:
  - effect: deny
    match: {name: 'rm_*'}
- name: guests
  rules: []
""",
    ),
    "ordered json": (
        POLICY,
        "p.json",
        dumped([{"id": "a", "match": {"name": "x"}, "mode": "on"}]),
    ),
    "ordered yaml": (
        POLICY,
        "p.yaml",
        "toolPolicy:\n- id: a\n  match: {name: x}\n  mode: on\n",
    ),
    "front matter": (
        POLICY,
        "p.prompt",
        "---\nmodel: m\ntoolPolicy:\n- id: a\n  match: {name: x}\n  mode: on\n---\nHello\n",
    ),
    "legacy map": (POLICY, "p.yaml", "toolPreferences:\n  mail: deny\n  files: ask\n"),
}
