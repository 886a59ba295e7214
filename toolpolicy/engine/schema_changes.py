"""How the schema of a tool's arguments changed: what it takes now that it did not take before.

A schema is compared keyword by keyword, without resolving references. Where nobody can tell from
the keyword alone whether more is taken or less, the change counts as wider: the worse of the two.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from toolpolicy.engine import canonical
from toolpolicy.engine.faults import join
from toolpolicy.engine.grades import Grade, GradedChange
from toolpolicy.engine.values import ABSENT

Changes = Iterator[GradedChange]
_WORDS: Final = {"title", "description", "examples", "example", "$comment", "deprecated"}
_UPPER: Final = {"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"}
_LOWER: Final = {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"}
_LIMITS: Final = {"pattern", "format", "multipleOf", "uniqueItems", "propertyNames", "not", "$ref"}
_KEYED: Final = {"$defs", "definitions", "patternProperties", "dependentSchemas"}
_TYPES: Final = frozenset({"null", "boolean", "object", "array", "number", "string", "integer"})


def same(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are the same text: to Python, 1, 1.0 and true are equal.

    Only numbers are written for it; the rest is compared up to the first difference.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return canonical.dumps(one) == canonical.dumps(other)
    return type(one) is type(other) and bool(one == other)


def schema_changes(before: Any, after: Any, at: str) -> Changes:
    """Yield every change between two schemas, in the order of their keywords."""
    if same(before, after):
        return
    if not isinstance(before, dict) or not isinstance(after, dict):
        yield GradedChange(_open_or_closed(before, after), at, before, after)
        return
    for word in sorted({*before, *after}):
        old, new = before.get(word, ABSENT), after.get(word, ABSENT)
        if same(old, new):
            continue
        if word == "properties":
            yield from _property_changes(before, after, at)
        else:
            yield from _keyword_changes(word, old, new, join(at, word))


def _keyword_changes(word: str, old: Any, new: Any, at: str) -> Changes:
    compare = _COMPARED.get(word)
    if compare is not None:
        yield from compare(old, new, at)
    elif word in _KEYED:
        yield from _keyed_changes(old, new, at)
    else:
        yield GradedChange(_keyword_grade(word, old, new), at, old, new)


def _keyword_grade(word: str, old: Any, new: Any) -> Grade:
    if word in _WORDS:
        return Grade.WORDING
    if word in _UPPER or word in _LOWER:
        return _bound_grade(old, new, upper=word in _UPPER)
    if word in _LIMITS:
        return Grade.NARROWER_ARGUMENT if old is ABSENT else Grade.WIDER_ARGUMENT
    if word in ("required", "dependentRequired"):
        return Grade.WIDER_ARGUMENT
    return Grade.OTHER


def _bound_grade(old: Any, new: Any, *, upper: bool) -> Grade:
    numbers = [value for value in (old, new) if type(value) in (int, float)]
    if old is ABSENT and numbers:
        return Grade.NARROWER_ARGUMENT
    if len(numbers) == 2 and (new < old) == upper:  # noqa: PLR2004  (both are numbers)
        return Grade.NARROWER_ARGUMENT
    return Grade.WIDER_ARGUMENT


def _property_changes(before: Mapping[str, Any], after: Mapping[str, Any], at: str) -> Changes:
    """Compare the arguments by name. A new one is optional unless it is required."""
    old, new = before.get("properties", {}), after.get("properties", {})
    at = join(at, "properties")
    if not isinstance(old, dict) or not isinstance(new, dict):
        yield GradedChange(Grade.WIDER_ARGUMENT, at, old, new)
        return
    required = after.get("required")
    needed = required if isinstance(required, list) else ()
    for name in sorted({*old, *new}):
        where = join(at, name)
        if name not in old:
            grade = Grade.WIDER_ARGUMENT if name in needed else Grade.OPTIONAL_ARGUMENT
            yield GradedChange(grade, where, after=new[name])
        elif name not in new:
            yield GradedChange(Grade.NARROWER_ARGUMENT, where, before=old[name])
        else:
            yield from schema_changes(old[name], new[name], where)


def _keyed_changes(old: Any, new: Any, at: str) -> Changes:
    """Compare schemas that stand under names of their own; what names them decides what counts."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        yield GradedChange(Grade.OTHER, at, old, new)
        return
    for name in sorted({*old, *new}):
        if name in old and name in new:
            yield from schema_changes(old[name], new[name], join(at, name))
        else:
            values = (old.get(name, ABSENT), new.get(name, ABSENT))
            yield GradedChange(Grade.OTHER, join(at, name), *values)


def _open_or_closed(old: Any, new: Any) -> Grade:
    """Compare schemas of which one is no object: false takes nothing, true and none anything."""

    def openness(schema: Any) -> int:
        if schema is False:
            return 0
        return 2 if schema in (ABSENT, True, None, {}) else 1

    if openness(new) == openness(old):
        return Grade.OTHER
    return Grade.NARROWER_ARGUMENT if openness(new) < openness(old) else Grade.WIDER_ARGUMENT


def _set_grade(old: Collection[str] | None, new: Collection[str] | None) -> Grade:
    """Compare sets of what is taken; None is everything."""
    shrunk = new is not None and (old is None or set(new) <= set(old))
    return Grade.NARROWER_ARGUMENT if shrunk else Grade.WIDER_ARGUMENT


def _type_changes(old: Any, new: Any, at: str) -> Changes:
    yield GradedChange(_set_grade(_types(old), _types(new)), at, old, new)


def _types(value: Any) -> frozenset[str]:
    if value is ABSENT:
        return _TYPES
    words = frozenset(str(word) for word in (value if isinstance(value, list) else [value]))
    return words | {"integer"} if "number" in words else words


def _value_changes(old: Any, new: Any, at: str) -> Changes:
    yield GradedChange(_set_grade(_values(old), _values(new)), at, old, new)


def _values(value: Any) -> frozenset[str] | None:
    if value is ABSENT:
        return None
    return frozenset(map(canonical.dumps, value if isinstance(value, list) else [value]))


def _const_changes(old: Any, new: Any, at: str) -> Changes:
    grade = Grade.NARROWER_ARGUMENT if old is ABSENT else Grade.WIDER_ARGUMENT
    yield GradedChange(grade, at, old, new)


def _alternatives(old: Any, new: Any, at: str) -> Changes:
    """Compare `anyOf` and `oneOf`: one more alternative takes more, alternatives at all take less.

    As many as before are compared one by one.
    """
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from schema_changes(*pair, join(at, number))
    else:
        yield from _value_changes(old, new, at)


def _all_of(old: Any, new: Any, at: str) -> Changes:
    """Compare `allOf`: one more schema to satisfy takes less."""
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        yield from _alternatives(old, new, at)
        return
    before, after = (_values(value) or frozenset() for value in (old, new))
    grade = Grade.NARROWER_ARGUMENT if before <= after else Grade.WIDER_ARGUMENT
    yield GradedChange(grade, at, old, new)


_COMPARED: Final[Mapping[str, Callable[[Any, Any, str], Changes]]] = {
    "type": _type_changes,
    "enum": _value_changes,
    "const": _const_changes,
    "anyOf": _alternatives,
    "oneOf": _alternatives,
    "allOf": _all_of,
    "items": schema_changes,
    "additionalProperties": schema_changes,
    "contains": schema_changes,
}
