"""Bodies that declare and review a tool, and the answer that shows one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from rest_framework.response import Response

from toolpolicy.api.preconditions import tag_of
from toolpolicy.api.shapes import registry as shapes
from toolpolicy.engine.faults import Fault
from toolpolicy.engine.reading import Reader
from toolpolicy.models import Tool, ToolFamily
from toolpolicy.services import registry
from toolpolicy.services.actors import Actor, Origin
from toolpolicy.services.errors import InvalidInput, NotFound
from toolpolicy.services.registry import LAID, Verdict


def family_at(pk: int) -> ToolFamily:
    """Return a family. Raises `NotFound`."""
    family = ToolFamily.objects.filter(pk=pk).first()
    if family is None:
        raise NotFound("such family")
    return family


def tool_at(pk: int) -> Tool:
    """Return a tool with its declarations. Raises `NotFound`."""
    tools = Tool.objects.select_related("family", "current", "reviewed")
    tool = tools.filter(pk=pk).first()
    if tool is None:
        raise NotFound("such tool")
    return tool


def shown_family(family: ToolFamily, status: int = 200) -> Response:
    """Return a family with its entity tag."""
    headers = {"ETag": tag_of(family.version)}
    return Response(shapes.FamilyShape(family).data, status=status, headers=headers)


def shown_tool(tool: Tool) -> Response:
    """Return a tool with what it declares of itself, and its entity tag."""
    declared: Any = json.loads(tool.current.text)
    headers = {"ETag": tag_of(tool.version)}
    return Response({**shapes.ToolShape(tool).data, "declared": declared}, headers=headers)


def saved_tool(tool: Tool) -> Response:
    """Return a tool that was saved, with the warnings that an import of it would give."""
    response = shown_tool(tool)
    response.data["warnings"] = [one.wire() for one in registry.warnings_about(tool)]
    return response


@dataclass(frozen=True, slots=True)
class ToolBody:
    """A family, the subject document of one of its tools, and what is laid over it.

    `version` is that of a tool that is registered already, None where nobody named one.
    """

    family: str
    subject: Mapping[str, Any]
    laid: Mapping[str, Any]
    version: int | None = None

    @classmethod
    def read(cls, values: Mapping[str, Any], version: int | None) -> Self:
        """Read the body's own members. Raises `Faults`; the rest is the service's to judge."""
        reader = Reader()
        members = reader.members(values, "", ("family", "subject", "version", *LAID))
        for name in ("family", "subject"):
            if name not in members:
                reader.fault("", f"`{name}` is needed", "missing")
        family = reader.text(members.get("family", ""), "/family")
        subject = members.get("subject", {})
        reader.has_kind(subject, dict, "/subject")
        laid: dict[str, Any] = {name: members[name] for name in LAID if name in members}
        return reader.finish(cls(family or "", subject, laid, version))

    def declare(self, actor: Actor, origin: Origin) -> Tool:
        """Declare the tool. Raises `InvalidInput`, with pointers into the body, and `NotFound`."""
        try:
            return registry.declare_tool(
                actor=actor,
                family=self.family,
                document=self.subject,
                laid=self.laid,
                version=self.version,
                origin=origin,
            )
        except InvalidInput as error:
            raise InvalidInput(map(self._placed, error.faults)) from None

    def _placed(self, fault: Fault) -> Fault:
        # The subject is judged first: only where it is good are there faults in what is laid over.
        own = fault.pointer.startswith(tuple(f"/{name}" for name in self.laid))
        if own and not set(LAID) & set(self.subject):
            return fault
        return fault.moved(f"/subject{fault.pointer}")


@dataclass(frozen=True, slots=True)
class ReviewBody:
    """A verdict, and which declaration it is about."""

    verdict: Verdict
    declaration: str

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Read the body. Raises `Faults`."""
        reader = Reader()
        members = reader.members(values, "", ("verdict", "declaration"))
        verdict = None
        if "verdict" not in members:
            reader.fault("", "`verdict` is needed", "missing")
        else:
            verdict = reader.word(members["verdict"], "/verdict", Verdict)
        declaration = reader.text(members.get("declaration", ""), "/declaration")
        if verdict is Verdict.ACCEPT and "declaration" not in members:
            reader.fault("", "to accept, name the `declaration` that was read", "missing")
        return reader.finish(cls(verdict or Verdict.QUARANTINE, declaration or ""))

    def give(self, tool: Tool, actor: Actor, origin: Origin) -> Tool:
        """Give the verdict on a tool. Raises `Refused` where another declaration came in."""
        return registry.give_verdict(
            actor=actor,
            tool=tool,
            verdict=self.verdict,
            declaration=self.declaration,
            origin=origin,
        )
