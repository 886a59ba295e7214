"""`policy/lint/`: what in the live policy cannot do what its author meant."""

from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api.base import ApiView
from toolpolicy.api.operations import Operation
from toolpolicy.api.shapes import lint as shapes
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import lint


class PolicyLint(ApiView):
    """Findings about the live policy."""

    @Operation(
        name="lint_policy",
        tag="policy",
        scope=KeyScope.POLICY_READ,
        answer=shapes.LintShape,
    )
    def get(self, request: Request) -> Response:
        """Lint the live policy over the registered tools and what callers sent."""
        del request
        return Response(lint.findings().wire())
