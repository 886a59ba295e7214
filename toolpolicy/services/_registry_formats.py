"""The forms in which other people list tools, and a family's tools written in one of them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from toolpolicy.engine.declarations import Declaration
from toolpolicy.engine.faults import shown
from toolpolicy.engine.mcp import read_tools, write_tools
from toolpolicy.engine.toolspec import read_specs, write_specs
from toolpolicy.models import ToolFamily
from toolpolicy.services.errors import NotFound


class ToolFormat(StrEnum):
    """A form in which tools are listed."""

    MCP = "mcp"
    TOOLSPEC = "toolspec"


@dataclass(frozen=True, slots=True)
class Form:
    """How a form is read and written."""

    read: Callable[..., tuple[Declaration, ...]]
    write: Callable[..., dict[str, Any]]


FORMS: Final[Mapping[ToolFormat, Form]] = {
    ToolFormat.MCP: Form(read_tools, write_tools),
    ToolFormat.TOOLSPEC: Form(read_specs, write_specs),
}


def export_tools(*, family: str, form: ToolFormat) -> dict[str, Any]:
    """Return what the tools of a family declare, by name and without its prefix.

    As they declare it: nothing that was laid over, and no tool that vanished. Raises `NotFound`.
    """
    row = ToolFamily.objects.filter(name=family).first()
    if row is None:
        raise NotFound(f"family {shown(family)}")
    tools = row.tools.filter(vanished_at=None).values_list("name", "current__text")
    declarations = [json.loads(text) for _, text in sorted(tools)]
    return FORMS[form].write(declarations, prefix=row.prefix)
