"""`freezes/`: emergency stops, made and lifted."""

from typing import Final

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api import examples
from toolpolicy.api.base import ApiView
from toolpolicy.api.filters import FreezeFilters
from toolpolicy.api.operations import Operation
from toolpolicy.api.pages import ListView
from toolpolicy.api.shapes import freezes as shapes
from toolpolicy.models import Freeze
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import freezes

TAG: Final = "freezes"


class Freezes(ListView):
    """All freezes."""

    queryset = Freeze.objects.none()
    ordering = ("-created_at", "-pk")
    filterset_class = FreezeFilters
    serializer_class = shapes.FreezeShape

    def get_queryset(self) -> QuerySet[Freeze]:
        return freezes.visible_to(self.actor)

    @Operation(
        name="list_freezes",
        tag=TAG,
        scope=KeyScope.FREEZES_WRITE,
        within_context=True,
        answer=shapes.FreezeShape(many=True),
    )
    def get(self, request: Request) -> Response:
        """List the freezes, latest first; `lifted=false` leaves those out that are over by hand.

        A key that is bound to a context sees those of its own agent and channel.
        """
        del request
        return self.page()

    @Operation(
        name="create_freeze",
        tag=TAG,
        scope=KeyScope.FREEZES_WRITE,
        within_context=True,
        request=shapes.FreezeInput,
        status=201,
        answer=shapes.FreezeShape,
        examples=examples.FREEZE_AGENT,
    )
    def post(self, request: Request) -> Response:
        """Stop one agent, channel, family or tool from the next decision on, whatever rules say.

        A key that is bound to a context can stop its own agent or channel and nothing else.
        """
        del request
        made = freezes.freeze(actor=self.actor, values=self.members(), origin=self.origin)
        return Response(shapes.FreezeShape(made).data, status=201)


class FreezeLift(ApiView):
    """The end of a freeze."""

    @Operation(
        name="lift_freeze",
        tag=TAG,
        scope=KeyScope.FREEZES_WRITE,
        within_context=True,
        answer=shapes.FreezeShape,
        problems=(404,),
    )
    def post(self, request: Request, pk: int) -> Response:
        """Lift a freeze. No body is read; one that was lifted already stays as it is."""
        del request
        lifted = freezes.lift(actor=self.actor, freeze=pk, origin=self.origin)
        return Response(shapes.FreezeShape(lifted).data)
