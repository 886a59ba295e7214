"""`families/`, `tools/`: the registry of tools: read, written, imported and reviewed."""

from typing import Final

from django.db.models import F
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api.base import ApiView
from toolpolicy.api.filters import FamilyFilters, ToolFilters
from toolpolicy.api.imports import ImportBody
from toolpolicy.api.members import query_word, same_identity, without
from toolpolicy.api.operations import IF_MATCH, WITH_VERSION, Operation
from toolpolicy.api.pages import ListView
from toolpolicy.api.preconditions import named_version, seen_version
from toolpolicy.api.reading import IMPORT
from toolpolicy.api.shapes import registry as shapes
from toolpolicy.api.tools import (
    ReviewBody,
    ToolBody,
    family_at,
    saved_tool,
    shown_family,
    shown_tool,
    tool_at,
)
from toolpolicy.models import Tool, ToolFamily
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import registry
from toolpolicy.services.registry import ToolFormat

TAG: Final = "registry"


class Families(ListView):
    """All families."""

    queryset = ToolFamily.objects.all()
    ordering = ("name",)
    filterset_class = FamilyFilters
    serializer_class = shapes.FamilyShape

    @Operation(
        name="list_families",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.FamilyShape(many=True),
    )
    def get(self, request: Request) -> Response:
        """List the tool families by name."""
        del request
        return self.page()

    @Operation(
        name="create_family",
        tag=TAG,
        scope=KeyScope.REGISTRY_WRITE,
        request=shapes.FamilyInput,
        status=201,
        answer=shapes.FamilyShape,
    )
    def post(self, request: Request) -> Response:
        """Add a family without tools."""
        del request
        family = registry.create_family(actor=self.actor, values=self.members(), origin=self.origin)
        return shown_family(family, 201)


class FamilyOne(ApiView):
    """One family."""

    @Operation(
        name="read_family",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.FamilyShape,
        problems=(404,),
    )
    def get(self, request: Request, pk: int) -> Response:
        """Read a tool family; `ETag` is its version."""
        del request
        return shown_family(family_at(pk))

    @Operation(
        name="change_family",
        tag=TAG,
        scope=KeyScope.REGISTRY_WRITE,
        request=shapes.FamilyChange,
        answer=shapes.FamilyShape,
        problems=WITH_VERSION,
        parameters=(IF_MATCH,),
    )
    def patch(self, request: Request, pk: int) -> Response:
        """Change the members of a family that are sent.

        Trust decides how every tool of the family is judged from the next decision on.
        """
        values = same_identity(self.members(), pk=pk)
        family = registry.update_family(
            actor=self.actor,
            name=family_at(pk).name,
            version=seen_version(request, values),
            values=without(values, "version"),
            origin=self.origin,
        )
        return shown_family(family)


class FamilyExport(ApiView):
    """What the tools of one family declare."""

    parameters = frozenset({"format"})

    @Operation(
        name="export_family",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.ToolListShape,
        problems=(404,),
        parameters=(
            OpenApiParameter(
                name="format",
                enum=[str(form) for form in ToolFormat],
                default=str(ToolFormat.MCP),
                description="How the list is written.",
            ),
        ),
    )
    def get(self, request: Request, pk: int) -> Response:
        """Write what a family's tools declare, as an import takes it again.

        Nothing that was laid over them, and no tool that vanished. What the format has no word for
        is left out.
        """
        form = query_word(request, "format", ToolFormat, ToolFormat.MCP)
        return Response(registry.export_tools(family=family_at(pk).name, form=form))


class Tools(ListView):
    """All tools."""

    # A page remembers its place by an attribute of the row: the family's name has to be one.
    queryset = Tool.objects.select_related("family").annotate(family_name=F("family__name"))
    ordering = ("family_name", "name")
    filterset_class = ToolFilters
    serializer_class = shapes.ToolShape

    @Operation(
        name="list_tools", tag=TAG, scope=KeyScope.POLICY_READ, answer=shapes.ToolShape(many=True)
    )
    def get(self, request: Request) -> Response:
        """List the registered tools, family by family."""
        del request
        return self.page()

    @Operation(
        name="declare_tool",
        tag=TAG,
        scope=KeyScope.REGISTRY_WRITE,
        request=shapes.ToolInput,
        answer=shapes.ToolSaved,
        problems=WITH_VERSION,
        parameters=(IF_MATCH,),
    )
    def post(self, request: Request) -> Response:
        """Declare a tool of a toolpack or connector, or declare it anew.

        A new tool counts as reviewed; one that declares something else than before is graded. The
        tools of MCP servers are imported instead.
        """
        values = self.members()
        body = ToolBody.read(values, named_version(request, values))
        return saved_tool(body.declare(self.actor, self.origin))


class ToolOne(ApiView):
    """One tool."""

    @Operation(
        name="read_tool",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.ToolDetail,
        problems=(404,),
    )
    def get(self, request: Request, pk: int) -> Response:
        """Read a registered tool with what it declares of itself; `ETag` is its version."""
        del request
        return shown_tool(tool_at(pk))

    @Operation(
        name="change_tool",
        tag=TAG,
        scope=KeyScope.REGISTRY_WRITE,
        request=shapes.ToolChange,
        answer=shapes.ToolSaved,
        problems=WITH_VERSION,
        parameters=(IF_MATCH,),
    )
    def patch(self, request: Request, pk: int) -> Response:
        """Change what is laid over a tool's declaration: the members that are sent."""
        values, tool = self.members(), tool_at(pk)
        changed = registry.update_tool(
            actor=self.actor,
            family=tool.family.name,
            name=tool.name,
            version=seen_version(request, values),
            laid=without(values, "version"),
            origin=self.origin,
        )
        return saved_tool(changed)


class ToolReview(ApiView):
    """What changed of one tool since it was reviewed."""

    @Operation(
        name="read_review",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.ReviewShape,
        problems=(404,),
    )
    def get(self, request: Request, pk: int) -> Response:
        """Show what a tool declares otherwise than when it was reviewed, graded."""
        del request
        return Response(registry.review_of(tool_at(pk)).wire())

    @Operation(
        name="review_tool",
        tag=TAG,
        scope=KeyScope.REGISTRY_WRITE,
        request=shapes.ReviewInput,
        answer=shapes.ReviewShape,
        problems=(404, 409),
    )
    def post(self, request: Request, pk: int) -> Response:
        """Accept a tool's declaration, or quarantine or retire the tool.

        Accepted, it is active again, whatever state it was in. The record holds every change since
        the review before.
        """
        del request
        body = ReviewBody.read(self.members())
        tool = body.give(tool_at(pk), self.actor, self.origin)
        return Response(registry.review_of(tool).wire())


class ToolImport(ApiView):
    """An import."""

    cap = IMPORT

    @Operation(
        name="import_tools",
        tag=TAG,
        scope=KeyScope.REGISTRY_WRITE,
        request=shapes.ImportShape,
        answer=shapes.ImportReportShape,
    )
    def post(self, request: Request) -> Response:
        """Register the tools that an MCP server lists, as one family.

        A list with any fault is refused whole. Nothing is deleted: a tool that is no longer listed
        is marked as vanished.
        """
        del request
        report = ImportBody.read(self.members()).run(self.actor, self.origin)
        return Response(report.wire())
