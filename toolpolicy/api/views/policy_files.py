"""`policy/export/`, `policy/import/`, `policy/schema/`, `policy/recipes/`: policies as files."""

import json
from typing import Final

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api.base import ApiView
from toolpolicy.api.members import query_integer, query_word
from toolpolicy.api.operations import (
    IF_MATCH,
    IF_NONE_MATCH,
    UNCHANGED,
    Operation,
)
from toolpolicy.api.policy_imports import POLICY, PolicyImportBody, recipe_body, recipe_named
from toolpolicy.api.preconditions import named_version, seen_version, unless_known
from toolpolicy.api.reading import JSON
from toolpolicy.api.renderers import SCHEMA, YAML, FileFormat, JsonFile, SchemaFile, YamlFile
from toolpolicy.api.shapes import policy_files as shapes
from toolpolicy.engine.recipe_options import RECIPES
from toolpolicy.engine.schema import policy_schema
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import policies
from toolpolicy.services.policy_files import add_recipe

TAG: Final = "policy"
FORMAT: Final = "format"
VERSION: Final = "version"


class PolicyExport(ApiView):
    """A version as a file."""

    parameters = frozenset({FORMAT, VERSION})

    def get_renderers(self) -> list[BaseRenderer]:
        """Answer as the query says: one address for each form, and `Accept` may refuse it."""
        as_yaml = self.request.query_params.get(FORMAT) == FileFormat.YAML
        return [YamlFile() if as_yaml else JsonFile()]

    @Operation(
        name="export_policy",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.PolicyDocument,
        media=(JSON, YAML),
        problems=(404,),
        other=UNCHANGED,
        parameters=(
            OpenApiParameter(
                name=FORMAT,
                enum=[str(word) for word in FileFormat],
                default=str(FileFormat.JSON),
                description="How the file is written.",
            ),
            OpenApiParameter(
                name=VERSION, type=int, description="Of the policy; the live one by default."
            ),
            IF_NONE_MATCH,
        ),
    )
    def get(self, request: Request) -> Response:
        """Export a version of the policy as a file that can be imported again.

        The bytes are those of `manage.py policy export`. `ETag` is the version.
        """
        query_word(request, FORMAT, FileFormat, FileFormat.JSON)
        number = query_integer(request, VERSION) if VERSION in request.query_params else None
        version = policies.version_or_live(number=number)
        return unless_known(request, version, lambda: json.loads(version.document.text))


class PolicyImport(ApiView):
    """An import."""

    cap = POLICY

    @Operation(
        name="import_policy",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        request=shapes.PolicyImportShape,
        answer=shapes.PolicyImported,
        problems=(409, 412, 428),
        parameters=(IF_MATCH,),
    )
    def post(self, request: Request) -> Response:
        """Make a document the policy, or add its layers, and publish it.

        All of it or nothing, and every fault is named; of YAML with its line. Replacing the policy
        needs the version that was seen, as `If-Match` or `version`; a dry run names it.
        """
        values = self.members()
        body = PolicyImportBody.read(values)
        seen = (seen_version if body.needs_version else named_version)(request, values)
        return Response(body.run(self.actor, self.origin, seen).wire())


class PolicySchema(ApiView):
    """The JSON Schema."""

    renderer_classes = (SchemaFile,)

    @Operation(
        name="read_policy_schema",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        within_context=True,
        answer=OpenApiTypes.OBJECT,
        media=(SCHEMA,),
    )
    def get(self, request: Request) -> Response:
        """Read the JSON Schema of the policy document."""
        del request
        return Response(policy_schema())


class Recipes(ApiView):
    """The six recipes."""

    @Operation(
        name="add_recipe",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        request=shapes.RecipeShape,
        answer=shapes.PolicyImported,
        problems=(404,),
        parameters=(
            OpenApiParameter(
                name="name", location=OpenApiParameter.PATH, enum=list(RECIPES), type=str
            ),
        ),
    )
    def post(self, request: Request, name: str) -> Response:
        """Add the layer of a recipe and publish the policy.

        A dry run shows the layer under `changes`.
        """
        del request
        recipe = recipe_named(name)
        values, dry_run = recipe_body(self.members())
        imported = add_recipe(
            actor=self.actor, recipe=recipe, values=values, dry_run=dry_run, origin=self.origin
        )
        return Response(imported.wire())
