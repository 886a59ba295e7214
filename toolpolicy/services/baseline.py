"""The three layers that every deployment starts with (SPEC §6).

They are ordinary, visible layers, known by their names: whoever changes, adds or removes a layer
of such a name needs the permission `change_baseline`.
"""

from typing import Any, Final

_READ_ONLY: Final = {"hints": {"read_only": True}}
_RISKY: Final = ("network", "external_service", "payment", "destructive", "writes_files")

# Each as an entry of a policy document, without its position.
BASELINE_LAYERS: Final[tuple[dict[str, Any], ...]] = (
    {
        "scope": "config",
        "combining": "deny_overrides",
        # Not fail-safe: a tool that does not say whether it needs approval is no tool that does.
        "settings": {"description": "Tools that declare that they need approval get it."},
        "policy": {
            "name": "baseline: declared approval",
            "default": "allow",
            "rules": [
                {
                    "id": "declares-needs-approval",
                    "effect": "require_approval",
                    "match": {"hints": {"needs_approval": True}},
                    "reason": "the tool declares that its calls need approval",
                }
            ],
        },
    },
    {
        "scope": "config",
        "combining": "deny_overrides",
        "settings": {
            "description": "In a read-only sandbox, whatever may destroy something is approved"
            " first; a tool that does not say counts as one that may.",
            "fail_safe": True,
        },
        "policy": {
            "name": "baseline: read-only sandbox",
            "default": "allow",
            "rules": [
                {
                    "id": f"destructive-{by}",
                    "effect": "require_approval",
                    "match": match,
                    "except": _READ_ONLY,
                    "when": {"sandbox_mode": "read_only"},
                    "reason": "the sandbox is read-only and the tool may be destructive",
                }
                for by, match in (
                    ("hint", {"hints": {"destructive": True}}),
                    ("side-effect", {"side_effects": ["destructive"]}),
                )
            ],
        },
    },
    {
        "scope": "config",
        "combining": "deny_overrides",
        "settings": {
            "description": "After untrusted content was read, tools that reach outside or change"
            " something are approved first. Observing until it is switched on.",
            "observe": True,
        },
        "policy": {
            "name": "baseline: untrusted content",
            "default": "allow",
            "rules": [
                {
                    "id": "risky-after-untrusted-content",
                    "effect": "require_approval",
                    "match": {"side_effects": list(_RISKY)},
                    "except": _READ_ONLY,
                    "when": {"untrusted_content": "true"},
                    "reason": "untrusted content was read and the tool reaches outside or changes"
                    " something",
                }
            ],
        },
    },
)
BASELINE_NAMES: Final = frozenset(entry["policy"]["name"] for entry in BASELINE_LAYERS)
