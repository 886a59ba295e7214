"""A rule as its members (those of the API), as the values of form fields, and as JSON."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from django import forms

from toolpolicy.admin import rule_parts as parts
from toolpolicy.admin.rule_parts import APPROVAL, WHEN
from toolpolicy.engine.reading import time_text
from toolpolicy.models import Rule

if TYPE_CHECKING:
    from django.http import QueryDict

Members = Mapping[str, Any]
# Members that are one field each, by the field's name; the others are many.
SINGLE: Final[Mapping[str, str]] = {
    "rule_id": "id",
    "effect": "effect",
    "surfaces": "on",
    "reason": "reason",
    "enabled": "enabled",
    "observe": "observe",
    "expires_at": "expires_at",
    "examples": "examples",
}
MATCH, EXCEPT = "match", "except"
ROWS: Final = (WHEN, APPROVAL)
"""Members whose fields are rows of a key and a value."""
NOTHING: Final[Members] = {
    "id": "",
    "on": [],
    MATCH: {},
    EXCEPT: None,
    WHEN: {},
    "reason": "",
    "enabled": True,
    "observe": False,
    "expires_at": None,
    "examples": [],
    APPROVAL: {},
}
_FIRST: Final = ("id", "effect", "on", MATCH, EXCEPT, WHEN, "reason")
IN_ORDER: Final = (*_FIRST, *(name for name in NOTHING if name not in _FIRST))
ONLY_STRICT: Final = ("on", EXCEPT)
"""Members that no ordered rule has."""


def stored(rule: Rule) -> dict[str, Any]:
    """Return the members of a stored rule."""
    found = {member: getattr(rule, name) for name, member in SINGLE.items()}
    rows = {WHEN: rule.when, APPROVAL: rule.approval}
    return {**found, MATCH: rule.match, EXCEPT: rule.except_match, **rows}


def tidy(members: Members) -> dict[str, Any]:
    """Return members as JSON has them: in order, and without what stands at its default."""
    names = [*IN_ORDER, *(name for name in members if name not in IN_ORDER)]
    return {
        name: time_text(value) if isinstance(value := members[name], datetime) else value
        for name in names
        if name in members
        and (name == MATCH or name not in NOTHING or members[name] != NOTHING[name])
    }


def changed(members: Members, before: Members) -> dict[str, Any]:
    """Return the members that say something else than before; one left out is at its default."""
    full = {**NOTHING, **members}
    return {
        name: value
        for name, value in full.items()
        if name not in before or _comparable(value) != _comparable(before[name])
    }


def _comparable(value: Any) -> Any:
    """Return a value in which a list of one pattern is that pattern, and times are texts."""
    if isinstance(value, dict):
        return {name: _comparable(part) for name, part in value.items()}
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    if isinstance(value, datetime):
        return time_text(value)
    # 1 and true are not the same, though Python says so.
    return (type(value), value) if isinstance(value, bool | int | float) else value


def flat(members: Members) -> dict[str, Any]:
    """Return members as the values of form fields. What has no field has a name of none."""
    by_member = {member: name for name, member in SINGLE.items()}
    found: dict[str, Any] = {}
    for member, value in members.items():
        if member in (MATCH, EXCEPT) and isinstance(value, dict):
            found |= parts.from_wire(member, value)
            if member == EXCEPT and not value:
                found[EXCEPT] = value  # carves out everything, which no field can say
        elif member == WHEN and isinstance(value, dict):
            # As a list, a stored pattern is told from a line of them that was typed.
            lists = {key: [one] if isinstance(one, str) else one for key, one in value.items()}
            found |= parts.rows_from_wire(member, lists)
        elif member == APPROVAL and isinstance(value, dict):
            found |= parts.rows_from_wire(member, value)
        elif value is not None and value != NOTHING["on"]:  # an ordered rule has no such field
            found[by_member.get(member, member)] = value
    if isinstance(end := found.get("expires_at"), str):
        found["expires_at"] = _moment(end)
    return found


def _moment(text: str) -> Any:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return text


def gathered(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that these cleaned fields say."""
    found = {member: values[name] for name, member in SINGLE.items() if name in values}
    found[MATCH] = parts.to_wire(MATCH, values)
    found[EXCEPT] = parts.to_wire(EXCEPT, values) or None
    return found | {member: parts.rows_to_wire(member, values) for member in ROWS}


def sent(
    fields: Mapping[str, forms.Field], values: Mapping[str, Any], data: "QueryDict"
) -> "QueryDict":
    """Return `data` with these values as a browser would send them."""
    out = data.copy()
    for name, field in fields.items():
        out.pop(name, None)
        value = field.prepare_value(values.get(name, field.initial))
        if isinstance(field, forms.MultipleChoiceField) and not value:
            continue
        if isinstance(value, list):
            out.setlist(name, cast("list[str]", value))
        elif isinstance(field, forms.BooleanField):
            out.update({name: "on"} if value else {})
        elif isinstance(value, datetime):
            out[name] = value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
        else:
            out[name] = "" if value is None else str(value)
    return out
