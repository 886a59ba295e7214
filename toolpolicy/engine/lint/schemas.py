"""Whether a tool's input schema knows an argument: no, only where it says what there is."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from toolpolicy.engine.faults import token
from toolpolicy.engine.pointers import Found, resolve

DEEPEST: Final = 16
# Where one of these stands, what there is depends on more than the place.
_UNTOLD: Final = ("patternProperties", "dependentSchemas", "unevaluatedProperties", "$dynamicRef")
_BRANCHES: Final = ("allOf", "anyOf", "oneOf")
_SCALARS: Final = {"string", "number", "integer", "boolean", "null"}


def may_hold(schema: Any, names: Sequence[str]) -> bool:
    """Tell whether arguments by this schema may have a value at a pointer; yes in doubt."""
    return _may_hold(schema, names, schema, 0)


def _may_hold(schema: Any, names: Sequence[str], root: Any, depth: int) -> bool:
    if not names or depth > DEEPEST or not isinstance(schema, dict) or not schema:
        return True
    if any(member in schema for member in _UNTOLD):
        return True
    reference = schema.get("$ref")
    if reference is not None:
        found = _resolved(reference, root)
        return not isinstance(found, Found) or _may_hold(found.value, names, root, depth + 1)
    branches = [branch for member in _BRANCHES for branch in _listed(schema.get(member))]
    branches += [schema[member] for member in ("then", "else") if member in schema]
    if any(_may_hold(branch, names, root, depth + 1) for branch in branches):
        return True
    return _holds_here(schema, names, root, depth, said=bool(branches))


def _holds_here(
    schema: dict[str, Any], names: Sequence[str], root: Any, depth: int, *, said: bool
) -> bool:
    name, rest = names[0], names[1:]
    properties, more = schema.get("properties"), schema.get("additionalProperties")
    if isinstance(properties, dict) and name in properties:
        return _may_hold(properties[name], rest, root, depth + 1)
    if more is True or (isinstance(more, dict) and more):
        return True
    if "items" in schema or "prefixItems" in schema:
        return name.isdigit()
    if schema.get("type") in _SCALARS:
        return False
    # An object of which nothing is said may hold anything.
    return not (said or isinstance(properties, dict) or more is False)


def _resolved(reference: Any, root: Any) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    return resolve(reference[1:], root)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def pointers(schema: Any, at: str = "", depth: int = 3) -> Iterator[str]:
    """Yield pointers to the arguments that a schema names, the outer ones first."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not depth:
        return
    for name in properties:
        yield f"{at}/{token(name)}"
    for name, inner in properties.items():
        yield from pointers(inner, f"{at}/{token(name)}", depth - 1)
