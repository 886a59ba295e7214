"""`audit/holds/`: legal holds, placed and lifted."""

from typing import Final

from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api import examples
from toolpolicy.api.base import ApiView
from toolpolicy.api.filters import HoldFilters
from toolpolicy.api.operations import Operation
from toolpolicy.api.pages import ListView
from toolpolicy.api.shapes import holds as shapes
from toolpolicy.models import LegalHold
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import holds

TAG: Final = "audit"


class Holds(ListView):
    """All legal holds."""

    queryset = LegalHold.objects.all()
    ordering = ("-created_at", "-pk")
    filterset_class = HoldFilters
    serializer_class = shapes.HoldShape

    @Operation(
        name="list_holds", tag=TAG, scope=KeyScope.AUDIT_READ, answer=shapes.HoldShape(many=True)
    )
    def get(self, request: Request) -> Response:
        """List the legal holds, latest first; `lifted=false` leaves out those that are over."""
        del request
        return self.page()

    @Operation(
        name="place_hold",
        tag=TAG,
        scope=KeyScope.AUDIT_WRITE,
        request=shapes.HoldInput,
        status=201,
        answer=shapes.HoldShape,
        examples=examples.PLACE_HOLD,
    )
    def post(self, request: Request) -> Response:
        """Keep the records that a filter asks for, now and later, from pruning and erasure.

        Once this is answered nothing that it covers is deleted any more. A key that is bound to a
        context places no holds.
        """
        del request
        made = holds.place(actor=self.actor, values=self.members(), origin=self.origin)
        return Response(shapes.HoldShape(made).data, status=201)


class HoldLift(ApiView):
    """The end of a legal hold."""

    @Operation(
        name="lift_hold",
        tag=TAG,
        scope=KeyScope.AUDIT_WRITE,
        answer=shapes.HoldShape,
        problems=(404,),
    )
    def post(self, request: Request, pk: int) -> Response:
        """Lift a legal hold. No body is read; one that was lifted already stays as it is."""
        del request
        lifted = holds.lift(actor=self.actor, hold=pk, origin=self.origin)
        return Response(shapes.HoldShape(lifted).data)
