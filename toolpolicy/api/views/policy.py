"""`policy/`: the live policy and its versions."""

import json
from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api.base import ApiView
from toolpolicy.api.filters import VersionFilters
from toolpolicy.api.members import query_integer
from toolpolicy.api.operations import IF_NONE_MATCH, UNCHANGED, Operation
from toolpolicy.api.pages import ListView
from toolpolicy.api.preconditions import unless_known
from toolpolicy.api.saved import published
from toolpolicy.api.shapes import policy as shapes
from toolpolicy.models import PolicyVersion
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import policies

TAG: Final = "policy"


def _detail(version: PolicyVersion) -> dict[str, Any]:
    """Return a version with its document."""
    document = json.loads(version.document.text)
    return {**shapes.VersionShape(version).data, "document": document}


class LivePolicy(ApiView):
    """What decisions are judged by now."""

    @Operation(
        name="read_policy",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.VersionDetail,
        problems=(404,),
        other=UNCHANGED,
        parameters=(IF_NONE_MATCH,),
    )
    def get(self, request: Request) -> Response:
        """Read the live policy, with an `ETag` that changes with every version."""
        version = policies.version_or_live()
        return unless_known(request, version, lambda: _detail(version))


class Versions(ListView):
    """Every version."""

    queryset = PolicyVersion.objects.all()
    ordering = ("-number",)
    filterset_class = VersionFilters
    serializer_class = shapes.VersionShape

    @Operation(
        name="list_policy_versions",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.VersionShape(many=True),
    )
    def get(self, request: Request) -> Response:
        """List the versions of the policy, latest first, without their documents."""
        del request
        return self.page()


class VersionOne(ApiView):
    """One version."""

    @Operation(
        name="read_policy_version",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.VersionDetail,
        problems=(404,),
    )
    def get(self, request: Request, number: int) -> Response:
        """Read one version of the policy with its document."""
        del request
        return Response(_detail(policies.version(number=number)))


class VersionDiff(ApiView):
    """Two versions compared."""

    parameters = frozenset({"from", "to"})

    @Operation(
        name="diff_policy_versions",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.DiffShape,
        problems=(404,),
        parameters=(
            OpenApiParameter(name="from", type=int, required=True, description="The older one."),
            OpenApiParameter(name="to", type=int, required=True, description="The newer one."),
        ),
    )
    def get(self, request: Request) -> Response:
        """Compare two versions, layer by layer and rule by rule."""
        before, after = (query_integer(request, name) for name in ("from", "to"))
        changes = policies.diff(before=before, after=after)
        return Response({"before": before, "after": after, "changes": changes})


class RollBack(ApiView):
    """An older version made live again."""

    @Operation(
        name="roll_back_policy",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        answer=shapes.Published,
        problems=(404,),
    )
    def post(self, request: Request, number: int) -> Response:
        """Make the policy what it was in a version, as a new version. No body is read."""
        del request
        saved = policies.roll_back(actor=self.actor, number=number, origin=self.origin)
        return published(saved)
