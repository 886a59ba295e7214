"""`clients/`: API keys, made and revoked."""

from typing import Final

from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api import examples
from toolpolicy.api.base import ApiView
from toolpolicy.api.filters import ClientFilters
from toolpolicy.api.operations import Operation
from toolpolicy.api.pages import ListView
from toolpolicy.api.shapes import clients as shapes
from toolpolicy.models import ApiClient
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import clients

TAG: Final = "clients"


class Clients(ListView):
    """All keys."""

    queryset = ApiClient.objects.all()
    ordering = ("name", "pk")
    filterset_class = ClientFilters
    serializer_class = shapes.ClientShape

    @Operation(
        name="list_clients",
        tag=TAG,
        scope=KeyScope.CLIENTS_WRITE,
        answer=shapes.ClientShape(many=True),
    )
    def get(self, request: Request) -> Response:
        """List the API keys, without their secrets."""
        del request
        return self.page()

    @Operation(
        name="create_client",
        tag=TAG,
        scope=KeyScope.CLIENTS_WRITE,
        within_context=True,
        request=shapes.ClientInput,
        status=201,
        answer=shapes.NewClient,
        examples=examples.CREATE_CLIENT,
    )
    def post(self, request: Request) -> Response:
        """Make an API key; `key` is shown in this answer and never again.

        A key can only give scopes that it holds, binds its keys to the context that it is bound
        to, and makes none that ends later than itself.
        """
        del request
        client, key = clients.create(actor=self.actor, values=self.members(), origin=self.origin)
        return Response({**shapes.ClientShape(client).data, "key": key}, status=201)


class ClientRevoke(ApiView):
    """The end of a key."""

    @Operation(
        name="revoke_client",
        tag=TAG,
        scope=KeyScope.CLIENTS_WRITE,
        within_context=True,
        answer=shapes.ClientShape,
        problems=(404,),
    )
    def post(self, request: Request, pk: int) -> Response:
        """Revoke an API key for good. No body is read; a revoked key stays so.

        A key that is bound to a context revokes only keys that are bound to the same.
        """
        del request
        client = clients.revoke(actor=self.actor, client=pk, origin=self.origin)
        return Response(shapes.ClientShape(client).data)
