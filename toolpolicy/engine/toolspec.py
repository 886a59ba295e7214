"""Lists of ToolSpec, in and out: a tool's name, description, schema and its six flags (SPEC §1).

`{"name", "description"?, "input_schema"?}` and beside them the flags `read_only`, `destructive`,
`idempotent`, `open_world`, `needs_approval` and `cacheable_approval`. Absent, a flag is false: this
form has no unknown. Written, flags that are false are left out. A list stands alone or as `tools`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from toolpolicy.engine.declarations import Declaration, derived_permission, write_declaration
from toolpolicy.engine.faults import join
from toolpolicy.engine.reading import Reader, kind_of, present
from toolpolicy.engine.tool_lists import check_name, check_registered, check_twins, names
from toolpolicy.engine.words import Hint

MEMBERS: Final = ("name", "description", "input_schema", *(str(hint) for hint in Hint))


def read_specs(
    document: Any, *, family: str, prefix: str = "", registered: Iterable[str] = ()
) -> tuple[Declaration, ...]:
    """Read a list of ToolSpec. Raises `Faults` with every fault of the whole list.

    Names get `prefix` put before them; none may differ by case only from one that is `registered`.
    """
    reader = Reader()
    specs, at = _spec_list(reader, document)
    check_twins(reader, specs, at)
    check_registered(reader, ((prefix + n, where) for n, where in names(specs, at)), registered)
    place = (family, prefix)
    found = [_read_spec(reader, spec, join(at, n), place) for n, spec in enumerate(specs)]
    return reader.finish(tuple(spec for spec in found if spec is not None))


def _spec_list(reader: Reader, document: Any) -> tuple[list[Any], str]:
    if isinstance(document, list):
        return document, ""
    if not isinstance(document, dict):
        reader.fault("", f"expected a list of tools, found {kind_of(document)}")
        return [], ""
    members = reader.members(document, "", ("tools",))
    if "tools" not in members:
        reader.fault("", "a list of ToolSpec needs `tools`", "missing")
        return [], ""
    specs = members["tools"]
    return (specs if reader.has_kind(specs, list, "/tools") else []), "/tools"


def _read_spec(reader: Reader, spec: Any, at: str, place: tuple[str, str]) -> Declaration | None:
    sound = reader.found.count
    members = reader.members(spec, at, MEMBERS)
    if not isinstance(spec, dict):
        return None
    check_name(reader, members, at, place[1])
    if present(members, "description"):
        reader.text(members["description"], f"{at}/description")
    if present(members, "input_schema"):
        reader.has_kind(members["input_schema"], dict, f"{at}/input_schema")
    flags = {
        str(hint): reader.boolean(members[hint], f"{at}/{hint}") is True
        if hint in members
        else False
        for hint in Hint
    }
    if reader.found.count > sound:
        return None
    try:
        return _declaration(members, flags, place)
    except ValueError as error:  # only a document that never was JSON text: NaN, a surrogate
        reader.fault(at, str(error))
        return None


def _declaration(
    spec: Mapping[str, Any], flags: dict[str, bool], place: tuple[str, str]
) -> Declaration:
    family, prefix = place
    subject = {
        "name": prefix + spec["name"],
        "family": family,
        "permission": str(derived_permission(flags)),
        "hints": flags,
    }
    shown = {name: spec.get(name) for name in ("description", "input_schema")}
    return write_declaration(subject, shown, derived=("permission",))


def write_specs(declarations: Iterable[Mapping[str, Any]], *, prefix: str = "") -> dict[str, Any]:
    """Write declarations of one family as a list of ToolSpec.

    Read again, what was a ToolSpec is the same declaration. An unknown hint cannot be told from a
    false one here; a title and what else ToolSpec has no word for is left out.
    """
    return {"tools": [_write_spec(one, prefix) for one in declarations]}


def _write_spec(declaration: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    subject = declaration["subject"]
    hints = subject.get("hints") or {}
    shown = {name: declaration[name] for name in ("description", "input_schema")}
    return {
        "name": str(subject["name"]).removeprefix(prefix),
        **{name: value for name, value in shown.items() if value is not None},
        **{str(hint): True for hint in Hint if hints.get(hint) is True},
    }
