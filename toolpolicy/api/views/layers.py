"""`layers/`: the layers of the working policy."""

from collections.abc import Mapping
from typing import Any, Final

from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api import examples
from toolpolicy.api.base import ApiView
from toolpolicy.api.filters import LayerFilters
from toolpolicy.api.members import layer_order, same_identity, whole, without
from toolpolicy.api.operations import IF_MATCH, WITH_VERSION, Operation
from toolpolicy.api.pages import ListView
from toolpolicy.api.preconditions import seen_version
from toolpolicy.api.saved import published, saved_layer, shown_layer
from toolpolicy.api.shapes import policy as shapes
from toolpolicy.models import Layer
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import policies
from toolpolicy.services.policies import Saved

TAG: Final = "layers"


class Layers(ListView):
    """All layers."""

    queryset = Layer.objects.ranked()
    ordering = ("rank", "position", "name")
    filterset_class = LayerFilters
    serializer_class = shapes.LayerShape

    @Operation(
        name="list_layers",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.LayerShape(many=True),
    )
    def get(self, request: Request) -> Response:
        """List the layers in the order in which they apply."""
        del request
        return self.page()

    @Operation(
        name="create_layer",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        request=shapes.LayerInput,
        status=201,
        answer=shapes.SavedLayer,
        examples=examples.CREATE_LAYER,
    )
    def post(self, request: Request) -> Response:
        """Add a layer without rules and publish the policy."""
        del request
        saved = policies.create_layer(actor=self.actor, values=self.members(), origin=self.origin)
        return saved_layer(saved, 201)


class LayerOne(ApiView):
    """One layer."""

    @Operation(
        name="read_layer",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.LayerShape,
        problems=(404,),
    )
    def get(self, request: Request, pk: int) -> Response:
        """Read a layer; `ETag` is its version."""
        del request
        return shown_layer(Layer.objects.filter(pk=pk).first())

    @Operation(
        name="change_layer",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        request=shapes.LayerChange,
        answer=shapes.SavedLayer,
        problems=WITH_VERSION,
        parameters=(IF_MATCH,),
    )
    def patch(self, request: Request, pk: int) -> Response:
        """Change the members of a layer that are sent and publish the policy."""
        del request
        return saved_layer(self._update(pk, self.members()))

    @Operation(
        name="replace_layer",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        request=shapes.LayerChange,
        answer=shapes.SavedLayer,
        problems=WITH_VERSION,
        parameters=(IF_MATCH,),
    )
    def put(self, request: Request, pk: int) -> Response:
        """Replace every member of a layer and publish the policy; its rules stay."""
        del request
        return saved_layer(self._update(pk, whole(self.members(), shapes.LAYER_MEMBERS)))

    @Operation(
        name="delete_layer",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        answer=shapes.Published,
        problems=WITH_VERSION,
        parameters=(IF_MATCH,),
    )
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a layer with its rules and publish the policy."""
        version = seen_version(request, {})
        saved = policies.delete_layer(
            actor=self.actor, layer=pk, version=version, origin=self.origin
        )
        return published(saved)

    def _update(self, pk: int, values: Mapping[str, Any]) -> Saved:
        return policies.update_layer(
            actor=self.actor,
            layer=pk,
            version=seen_version(self.request, values),
            values=without(same_identity(values, pk=pk), "version"),
            origin=self.origin,
        )


class LayerOrder(ApiView):
    """The order of the layers of one scope."""

    @Operation(
        name="reorder_layers",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        request=shapes.LayerOrder,
        answer=shapes.Published,
        problems=(409, 412, 428),
        parameters=(IF_MATCH,),
    )
    def post(self, request: Request) -> Response:
        """Put the layers of one scope in a new order and publish the policy.

        An order belongs to no layer alone, so `version` or `If-Match` is that of `policy/`.
        """
        values = self.members()
        scope, order = layer_order(values)
        saved = policies.reorder_layers(
            actor=self.actor,
            scope=scope,
            version=seen_version(request, values),
            order=order,
            origin=self.origin,
        )
        return published(saved)
