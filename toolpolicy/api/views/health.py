"""`healthz`, `readyz`: what probes ask. Neither needs a key, neither says more than it must."""

from typing import Final

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api.base import PublicView
from toolpolicy.api.shapes.health import HealthShape, ReadinessShape
from toolpolicy.services.health import OK, notes, readiness

TAG: Final = "health"


class Health(PublicView):
    """Whether the process answers."""

    @extend_schema(
        operation_id="health",
        summary="Say that the process answers",
        tags=[TAG],
        auth=[],
        responses=HealthShape,
    )
    def get(self, request: Request) -> Response:
        """Ask nothing of the database: a server that cannot reach it is alive, but not ready."""
        del request
        return Response({"status": OK})


class Readiness(PublicView):
    """Whether the server can answer decisions."""

    @extend_schema(
        operation_id="readiness",
        summary="Say whether decisions can be answered",
        tags=[TAG],
        auth=[],
        responses={200: ReadinessShape, 503: ReadinessShape},
    )
    def get(self, request: Request) -> Response:
        """Look at the database, the live policy, and the triggers and seals that protect records.

        `notes` tell of what keeps no decision back, where there is such a thing.
        """
        del request
        checks, noted = readiness(), notes()
        ready = all(said == OK for said in checks.values())
        said = {"ready": ready, "checks": checks, **({"notes": noted} if noted else {})}
        return Response(said, status=200 if ready else 503)
