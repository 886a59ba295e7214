"""The JSON Schema of a policy document, made of the tables that the readers use (SPEC §10).

A schema says less than the readers: that names and ids are unique, that settings name a rule of
their layer and that times are in order is checked by `parse_policy` alone.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from toolpolicy.engine import ordered_wire, strict_wire
from toolpolicy.engine.canonical import LARGEST_INT, SMALLEST_INT
from toolpolicy.engine.documents import (
    DOCUMENT_MEMBERS,
    ENVELOPE_MEMBERS,
    FORMAT,
    MAX_PATTERN_LENGTH,
    MAX_PATTERNS,
    RULE_SETTINGS_MEMBERS,
    SETTINGS_MEMBERS,
)
from toolpolicy.engine.words import (
    Category,
    Combining,
    Default,
    Effect,
    Exposure,
    Hint,
    Mode,
    Permission,
    Scope,
    SideEffect,
    Surface,
)

Schema = dict[str, Any]
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_TEXT: Final[Schema] = {"type": "string"}
_SWITCH: Final[Schema] = {"type": "boolean"}
_TIME: Final[Schema] = {
    "type": "string",
    "pattern": r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$",
}


def policy_schema() -> Schema:
    """Return the schema of a `toolpolicy/1` document."""
    members = {"format": {"const": FORMAT}, "layers": _list(_ref("layer"))}
    whole = _object(DOCUMENT_MEMBERS, members, required=DOCUMENT_MEMBERS)
    return {
        "$schema": DIALECT,
        "title": f"Policy document {FORMAT}",
        **whole,
        "$defs": {
            "patterns": _patterns(),
            "when": {"type": "object", "additionalProperties": _ref("patterns")},
            "layer": _layer(),
            "settings": _settings(),
            "rule_settings": _rule_settings(),
            "strict_policy": _strict_policy(),
            "strict_rule": _strict_rule(),
            "matcher": _matcher(),
            "ordered_policy": _ordered_policy(),
            "ordered_rule": _ordered_rule(),
            "selectors": _selectors(),
        },
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _words(words: Iterable[str]) -> Schema:
    return {"enum": [str(word) for word in words]}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _object(
    names: Iterable[str], members: Mapping[str, Schema], required: Iterable[str] = ()
) -> Schema:
    """Return the schema of an object with just these members, in the readers' order."""
    out: Schema = {"type": "object", "properties": {name: members[name] for name in names}}
    if needed := list(required):
        out["required"] = needed
    return {**out, "additionalProperties": False}


def _patterns() -> Schema:
    text = {"type": "string", "maxLength": MAX_PATTERN_LENGTH}
    return {"anyOf": [text, {**_list(text), "maxItems": MAX_PATTERNS}]}


# --- layers --------------------------------------------------------------------------------------


def _layer() -> Schema:
    members = {
        "scope": _words(Scope),
        "target": _ref("patterns"),
        "position": {"type": "integer", "minimum": SMALLEST_INT, "maximum": LARGEST_INT},
        "combining": _words(Combining),
        "settings": _ref("settings"),
        "policy": {"type": "object"},
    }
    needed = [name for name in ENVELOPE_MEMBERS if name not in ("target", "settings")]
    envelope = _object(ENVELOPE_MEMBERS, members, required=needed)
    no_target = {"not": {"required": ["target"]}}
    not_fail_safe = {"properties": {"settings": {"not": {"required": ["fail_safe"]}}}}
    ordered = {"allOf": [{"properties": {"policy": _ref("ordered_policy")}}, not_fail_safe]}
    return {
        **envelope,
        "allOf": [
            _when("scope", Scope.CONFIG, no_target, {"required": ["target"]}),
            _when(
                "combining",
                Combining.LAST_MATCH,
                ordered,
                {"properties": {"policy": _ref("strict_policy")}},
            ),
        ],
    }


def _when(member: str, word: str, then: Schema, otherwise: Schema) -> Schema:
    condition = {"properties": {member: {"const": str(word)}}, "required": [member]}
    return {"if": condition, "then": then, "else": otherwise}


def _settings() -> Schema:
    members = dict.fromkeys(("enabled", "fail_safe", "may_waive_approval", "observe"), _SWITCH)
    rules = {"type": "object", "additionalProperties": _ref("rule_settings")}
    times = dict.fromkeys(("valid_from", "valid_until"), _TIME)
    return _object(SETTINGS_MEMBERS, {**members, **times, "description": _TEXT, "rules": rules})


def _rule_settings() -> Schema:
    members = {
        "enabled": _SWITCH,
        "observe": _SWITCH,
        "expires_at": _TIME,
        "examples": {"type": "array"},
        "approval": {"type": "object"},
    }
    return _object(RULE_SETTINGS_MEMBERS, members)


# --- strict rules --------------------------------------------------------------------------------


def _strict_policy() -> Schema:
    members = {"name": _name(), "default": _words(Default), "rules": _list(_ref("strict_rule"))}
    return _object(strict_wire.LAYER_MEMBERS, members, required=["name"])


def _name() -> Schema:
    return {"type": "string", "minLength": 1}


def _strict_rule() -> Schema:
    members = {
        **_labels(),
        "effect": _words(Effect),
        "on": _list(_words(Surface)),
        "match": _ref("matcher"),
        "except": _or_null(_ref("matcher")),
        "when": _ref("when"),
    }
    return _object(strict_wire.RULE_MEMBERS, members, required=["effect"])


def _labels() -> dict[str, Schema]:
    return {"id": _or_null(_TEXT), "reason": _or_null(_TEXT)}


def _matcher() -> Schema:
    argument = {
        "type": "object",
        "properties": {"pointer": _TEXT, "value": _ref("patterns")},
        "required": ["pointer", "value"],
    }
    fields = {
        **dict.fromkeys((*strict_wire.TEXT_FIELDS, "tags"), _ref("patterns")),
        "category": _list(_words(Category)),
        "exposure": _list(_words(Exposure)),
        "permission_at_least": _words(Permission),
        "permission_at_most": _words(Permission),
        "side_effects": _list(_words(SideEffect)),
        "hints": _object(Hint, dict.fromkeys(map(str, Hint), _SWITCH)),
        "arg": argument,
    }
    return _object(strict_wire.MATCHER_FIELDS, {name: _or_null(s) for name, s in fields.items()})


# --- ordered rules -------------------------------------------------------------------------------


def _ordered_policy() -> Schema:
    members = {"name": _name(), "rules": _list(_ref("ordered_rule"))}
    return _object(ordered_wire.LAYER_MEMBERS, members, required=["name"])


def _ordered_rule() -> Schema:
    members = {**_labels(), "match": _ref("selectors"), "mode": _mode(), "when": _ref("when")}
    return _object(ordered_wire.RULE_MEMBERS, members, required=["match", "mode"])


def _mode() -> Schema:
    """Return the schema of a mode: any ASCII case, white space around it."""
    letters = ["".join(f"[{c.upper()}{c}]" for c in mode) for mode in Mode]
    return {"type": "string", "pattern": rf"^\s*({'|'.join(letters)})\s*$"}


def _selectors() -> Schema:
    patterns = dict.fromkeys(ordered_wire.SELECTORS, _or_null(_ref("patterns")))
    hints = dict.fromkeys(ordered_wire.HINTS, _or_null(_SWITCH))
    schema = _object((*ordered_wire.SELECTORS, *ordered_wire.HINTS), {**patterns, **hints})
    return {**schema, "minProperties": 1}
