"""A published MCP tool list, read into declarations (SPEC §1, §8).

An MCP server answers `tools/list` with names, schemas and hints. This module turns that answer
into what the registry keeps. It is strict: a list with any fault is refused whole, every fault
named with its pointer, because half an import leaves tools that nobody decided about.

Hints are taken exactly as declared; what a server does not say stays unknown. What is derived is
marked as derived: a title where none is given, the permission, and `needs_approval` of a tool that
declares itself destructive.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from toolpolicy.engine.declarations import (
    Declaration,
    derived_permission,
    humanised,
    write_declaration,
)
from toolpolicy.engine.faults import join
from toolpolicy.engine.misspelt import misspelt
from toolpolicy.engine.reading import Reader, kind_of, present
from toolpolicy.engine.tool_lists import (
    check_name,
    check_registered,
    check_title,
    check_twins,
    names,
)
from toolpolicy.engine.words import Hint

HINTS: Final = {
    "readOnlyHint": Hint.READ_ONLY,
    "destructiveHint": Hint.DESTRUCTIVE,
    "idempotentHint": Hint.IDEMPOTENT,
    "openWorldHint": Hint.OPEN_WORLD,
}
_READ: Final = ("name", "title", "description", "inputSchema", "annotations")
_KNOWN: Final = (*_READ, "outputSchema")
_KNOWN_ANNOTATIONS: Final = ("title", *HINTS)


def read_tools(
    document: Any, *, family: str, prefix: str = "", registered: Iterable[str] = ()
) -> tuple[Declaration, ...]:
    """Read a `tools/list` answer: whole as JSON-RPC, its `result`, or the bare list of tools.

    Names get `prefix` put before them; none may differ by case only from one that is `registered`.
    Raises `Faults` with every fault of the whole list.
    """
    reader = Reader()
    tools, at = _tool_list(reader, document)
    check_twins(reader, tools, at)
    full_names = ((prefix + name, where) for name, where in names(tools, at))
    check_registered(reader, full_names, registered)
    place = (family, prefix)
    found = [_read_tool(reader, tool, join(at, n), place) for n, tool in enumerate(tools)]
    return reader.finish(tuple(tool for tool in found if tool is not None))


def _tool_list(reader: Reader, document: Any) -> tuple[list[Any], str]:
    """Return the list of tools and its pointer."""
    at = ""
    if isinstance(document, dict) and present(document, "error"):
        reader.fault("/error", "the server answered with an error, not with its tools")
        return [], at
    if isinstance(document, dict) and "result" in document:
        document, at = document["result"], "/result"
    if isinstance(document, list) and not at:
        return document, at
    if not isinstance(document, dict):
        reader.fault(at, f"expected the answer to `tools/list`, found {kind_of(document)}")
        return [], at
    if present(document, "nextCursor"):
        # Taken for the whole, a first page would mark every tool of the next ones as vanished.
        message = "the list is incomplete: `nextCursor` says that more tools follow"
        reader.fault(f"{at}/nextCursor", message, "incomplete")
    if "tools" not in document:
        reader.fault(at, "the answer to `tools/list` needs `tools`", "missing")
        return [], at
    at = f"{at}/tools"
    tools = document["tools"]
    return (tools if reader.has_kind(tools, list, at) else []), at


def _read_tool(reader: Reader, tool: Any, at: str, place: tuple[str, str]) -> Declaration | None:
    """Read one tool; None when it has a fault of its own."""
    if not reader.has_kind(tool, dict, at):
        return None
    sound = reader.found.count
    check_name(reader, tool, at, place[1])
    _check_shown(reader, tool, at)
    annotations = tool.get("annotations")
    hints: dict[str, bool] = {}
    if annotations is not None and reader.has_kind(annotations, dict, f"{at}/annotations"):
        hints = _read_hints(reader, annotations, f"{at}/annotations")
    if reader.found.count > sound:
        return None
    try:
        slips = tuple(_slips(tool, annotations or {}))
        return replace(_declaration(tool, hints, place), slips=slips)
    except ValueError as error:  # only a document that never was JSON text: NaN, a surrogate
        reader.fault(at, str(error))
        return None


def _check_shown(reader: Reader, tool: dict[str, Any], at: str) -> None:
    for name in ("title", "description"):
        if present(tool, name):
            reader.text(tool[name], f"{at}/{name}")
    for name in ("inputSchema", "outputSchema"):
        if present(tool, name):
            reader.has_kind(tool[name], dict, f"{at}/{name}")
    check_title(reader, tool.get("title"), f"{at}/title")


def _read_hints(reader: Reader, annotations: dict[str, Any], at: str) -> dict[str, bool]:
    if present(annotations, "title"):
        reader.text(annotations["title"], f"{at}/title")
        check_title(reader, annotations["title"], f"{at}/title")
    return {
        str(hint): annotations[name]
        for name, hint in HINTS.items()
        if present(annotations, name) and reader.has_kind(annotations[name], bool, f"{at}/{name}")
    }


def _declaration(
    tool: dict[str, Any], hints: dict[str, bool], place: tuple[str, str]
) -> Declaration:
    family, prefix = place
    annotations = tool.get("annotations")
    derived: tuple[str, ...] = ("permission",)
    if hints.get(Hint.DESTRUCTIVE):
        hints = {**hints, str(Hint.NEEDS_APPROVAL): True}
        derived = (*derived, "hints.needs_approval")
    titles = (tool.get("title"), (annotations or {}).get("title"))
    title = next((title for title in titles if title and title.strip()), None)
    if title is None:
        # From the server's own name: the family's prefix would only be noise in a title.
        title, derived = humanised(tool["name"]), (*derived, "title")
    subject = {
        "name": prefix + tool["name"],
        "family": family,
        "permission": str(derived_permission(hints)),
    }
    shown_members = {
        "title": title,
        "description": tool.get("description"),
        "input_schema": tool.get("inputSchema"),
    }
    # The rest is judged by nobody, but a declaration is kept whole: what changes is seen.
    other = {name: value for name, value in tool.items() if name not in _READ}
    published = {"annotations": annotations, **({"other": other} if other else {})}
    if hints:
        subject["hints"] = hints
    return write_declaration(subject, shown_members, derived=derived, published=published)


def _slips(tool: Iterable[str], annotations: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield members that nobody reads, and the ones that they may have been meant for."""
    yield from misspelt(tool, _KNOWN)
    for member, meant in misspelt(annotations, _KNOWN_ANNOTATIONS):
        yield f"annotations.{member}", f"annotations.{meant}"


def write_tools(declarations: Iterable[Mapping[str, Any]], *, prefix: str = "") -> dict[str, Any]:
    """Write declarations of one family as the answer to `tools/list`, annotations as published.

    Read again, the tools of an MCP server are the same declarations. A tool that was described
    otherwise gets its hints as annotations; what MCP has no word for is left out.
    """
    return {"tools": [_write_tool(one, prefix) for one in declarations]}


def _write_tool(declaration: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    subject, annotations = declaration["subject"], declaration["annotations"]
    if annotations is None:
        hints = subject.get("hints") or {}
        annotations = {name: hints[hint] for name, hint in HINTS.items() if hint in hints} or None
    title = declaration["title"]
    if "title" in declaration["derived"] or title == (annotations or {}).get("title"):
        title = None
    said = {
        "title": title,
        "description": declaration["description"],
        "inputSchema": declaration["input_schema"],
        "annotations": annotations,
    }
    known = {name: value for name, value in said.items() if value is not None}
    name = str(subject["name"]).removeprefix(prefix)
    return {"name": name, **known, **declaration.get("other", {})}
