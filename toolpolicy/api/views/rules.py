"""`rules/`: the rules of the working policy, each in its layer."""

from collections.abc import Mapping
from typing import Any, Final

from rest_framework.request import Request
from rest_framework.response import Response

from toolpolicy.api import examples
from toolpolicy.api.base import ApiView
from toolpolicy.api.filters import RuleFilters
from toolpolicy.api.members import rule_order, same_identity, taken_integer, whole, without
from toolpolicy.api.operations import IF_MATCH, WITH_VERSION, Operation
from toolpolicy.api.pages import ListView
from toolpolicy.api.preconditions import seen_version
from toolpolicy.api.saved import published, saved_rule, shown_rule
from toolpolicy.api.shapes import policy as shapes
from toolpolicy.models import Rule
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import policies
from toolpolicy.services.errors import NotFound
from toolpolicy.services.policies import Saved

TAG: Final = "rules"


class Rules(ListView):
    """All rules."""

    queryset = Rule.objects.select_related("layer")
    ordering = ("layer_id", "position")
    filterset_class = RuleFilters
    serializer_class = shapes.RuleShape

    @Operation(
        name="list_rules", tag=TAG, scope=KeyScope.POLICY_READ, answer=shapes.RuleShape(many=True)
    )
    def get(self, request: Request) -> Response:
        """List the rules, layer by layer, in their order."""
        del request
        return self.page()

    @Operation(
        name="create_rule",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        request=shapes.RuleInput,
        status=201,
        answer=shapes.SavedRule,
        problems=(404,),
        examples=examples.CREATE_RULE,
    )
    def post(self, request: Request) -> Response:
        """Add a rule to a layer and publish the policy."""
        del request
        values = self.members()
        saved = policies.create_rule(
            actor=self.actor,
            layer=taken_integer(values, "layer"),
            values=without(values, "layer"),
            origin=self.origin,
        )
        return saved_rule(saved, 201)


class RuleOne(ApiView):
    """One rule."""

    @Operation(
        name="read_rule",
        tag=TAG,
        scope=KeyScope.POLICY_READ,
        answer=shapes.RuleShape,
        problems=(404,),
    )
    def get(self, request: Request, pk: int) -> Response:
        """Read a rule; `ETag` is the version of its layer."""
        del request
        return shown_rule(Rule.objects.select_related("layer").filter(pk=pk).first())

    @Operation(
        name="change_rule",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        request=shapes.RuleChange,
        answer=shapes.SavedRule,
        problems=WITH_VERSION,
        parameters=(IF_MATCH,),
    )
    def patch(self, request: Request, pk: int) -> Response:
        """Change the members of a rule that are sent and publish the policy."""
        del request
        return saved_rule(self._update(pk, self.members()))

    @Operation(
        name="replace_rule",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        request=shapes.RuleChange,
        answer=shapes.SavedRule,
        problems=WITH_VERSION,
        parameters=(IF_MATCH,),
    )
    def put(self, request: Request, pk: int) -> Response:
        """Replace every member of a rule and publish the policy."""
        del request
        return saved_rule(self._update(pk, whole(self.members(), shapes.RULE_MEMBERS)))

    @Operation(
        name="delete_rule",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        answer=shapes.Published,
        problems=WITH_VERSION,
        parameters=(IF_MATCH,),
    )
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a rule and publish the policy."""
        version = seen_version(request, {})
        saved = policies.delete_rule(actor=self.actor, rule=pk, version=version, origin=self.origin)
        return published(saved)

    def _update(self, pk: int, values: Mapping[str, Any]) -> Saved:
        return policies.update_rule(
            actor=self.actor,
            rule=pk,
            version=seen_version(self.request, values),
            values=without(same_identity(values, **_identity(pk)), "version"),
            origin=self.origin,
        )


def _identity(pk: int) -> dict[str, int]:
    """Return what names a rule and where it is. Raise NotFound."""
    layer = Rule.objects.filter(pk=pk).values_list("layer_id", flat=True).first()
    if layer is None:
        raise NotFound("such rule")
    return {"pk": pk, "layer": layer}


class RuleOrder(ApiView):
    """The order of the rules of one layer."""

    @Operation(
        name="reorder_rules",
        tag=TAG,
        scope=KeyScope.POLICY_WRITE,
        request=shapes.RuleOrder,
        answer=shapes.Published,
        problems=WITH_VERSION,
        parameters=(IF_MATCH,),
    )
    def post(self, request: Request, pk: int) -> Response:
        """Put the rules of a layer in a new order and publish the policy."""
        values = self.members()
        saved = policies.reorder_rules(
            actor=self.actor,
            layer=pk,
            version=seen_version(request, values),
            order=rule_order(values),
            origin=self.origin,
        )
        return published(saved)
