"""Layers, rules and versions on the wire. Shapes only."""

from typing import Any, Final

from rest_framework import serializers

from toolpolicy.api.shapes.base import (
    AnswerShape,
    AnyField,
    ObjectField,
    ObjectsField,
    PatternsField,
    PolicyPlace,
    Shape,
)
from toolpolicy.engine.policy_grades import Direction
from toolpolicy.engine.words import Surface
from toolpolicy.models.choices import Combining, Default, Effect, Mode, Scope

_EFFECTS = (*Effect.values, *Mode.values)


class _LayerMembers(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200, required=False)
    scope = serializers.ChoiceField(choices=Scope.values, required=False)
    target = PatternsField(required=False, allow_null=True)
    combining = serializers.ChoiceField(choices=Combining.values, required=False)
    default = serializers.ChoiceField(choices=Default.values, required=False, allow_blank=True)
    position = serializers.IntegerField(required=False, min_value=0)
    enabled = serializers.BooleanField(required=False)
    fail_safe = serializers.BooleanField(required=False)
    may_waive_approval = serializers.BooleanField(required=False)
    observe = serializers.BooleanField(required=False)
    valid_from = serializers.DateTimeField(required=False, allow_null=True)
    valid_until = serializers.DateTimeField(required=False, allow_null=True)
    description = serializers.CharField(required=False, allow_blank=True)


LAYER_MEMBERS: Final = tuple(_LayerMembers().fields)
"""What a whole layer is made of."""


class LayerInput(Shape, _LayerMembers):
    """A layer to be made: `name` is needed, the rest has defaults."""

    name = serializers.CharField(max_length=200)


class LayerChange(Shape, _LayerMembers):
    """Members of a layer to be changed. `version` as seen, unless `If-Match` says it."""

    version = serializers.IntegerField(required=False, min_value=1)


class LayerShape(AnswerShape, _LayerMembers):
    """A layer without its rules."""

    pk = serializers.IntegerField()
    version = serializers.IntegerField()


class SavedLayer(LayerShape):
    """A layer as it was saved, and the policy version in which it is live."""

    policy = PolicyPlace()


class _RuleMembers(serializers.Serializer[Any]):
    id = serializers.CharField(max_length=200, required=False, source="rule_id")
    effect = serializers.ChoiceField(choices=_EFFECTS, required=False)
    on = serializers.ListField(
        child=serializers.ChoiceField(choices=[str(surface) for surface in Surface]),
        required=False,
        source="surfaces",
    )
    match = ObjectField(required=False)
    when = ObjectField(required=False)
    reason = serializers.CharField(required=False, allow_blank=True)
    position = serializers.IntegerField(required=False, min_value=0)
    enabled = serializers.BooleanField(required=False)
    observe = serializers.BooleanField(required=False)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)
    examples = ObjectsField(required=False)
    approval = ObjectField(required=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add the member whose name is a word of Python's own."""
        fields = super().get_fields()
        fields["except"] = ObjectField(required=False, allow_null=True, source="except_match")
        return fields


RULE_MEMBERS: Final = tuple(_RuleMembers().fields)
"""What a whole rule is made of."""


class RuleInput(Shape, _RuleMembers):
    """A rule to be made; without an `id` it gets one, without a `position` it comes last."""

    layer = serializers.IntegerField(min_value=1)
    effect = serializers.ChoiceField(choices=_EFFECTS)


class RuleChange(Shape, _RuleMembers):
    """Members of a rule to be changed. `version` of its layer, unless `If-Match` says it."""

    version = serializers.IntegerField(required=False, min_value=1)


class RuleShape(AnswerShape, _RuleMembers):
    """A rule. `version` is that of its layer."""

    pk = serializers.IntegerField()
    layer = serializers.IntegerField(source="layer_id")
    version = serializers.IntegerField(source="layer.version")


class SavedRule(RuleShape):
    """A rule as it was saved, and the policy version in which it is live."""

    policy = PolicyPlace()


class LayerOrder(Shape):
    """Every layer of one scope, in its new order."""

    scope = serializers.ChoiceField(choices=Scope.values)
    order = serializers.ListField(child=serializers.IntegerField(min_value=1))
    version = serializers.IntegerField(
        required=False, min_value=0, help_text="The version of `policy/` that was seen; 0: none."
    )


class RuleOrder(Shape):
    """Every rule of the layer, in its new order."""

    order = serializers.ListField(child=serializers.IntegerField(min_value=1))
    version = serializers.IntegerField(required=False, min_value=1)


class Published(AnswerShape):
    """What a change came to: the live version, and whether anything changed."""

    changed = serializers.BooleanField()
    policy = PolicyPlace()


class VersionShape(AnswerShape):
    """A version of the policy, without its document."""

    version = serializers.IntegerField(source="number")
    digest = serializers.CharField(source="document_id")
    published_at = serializers.DateTimeField()
    published_by = serializers.CharField(source="published_by_label")
    comment = serializers.CharField(allow_blank=True)
    request_id = serializers.CharField(allow_blank=True)


class VersionDetail(VersionShape):
    """A version of the policy with its document."""

    document = ObjectField()


class DiffEntry(AnswerShape):
    """One difference. A layer or rule that was added or removed stands for all it holds."""

    optional = ("rule", "before", "after", "grade")
    change = serializers.ChoiceField(choices=["added", "removed", "changed", "moved"])
    layer = serializers.CharField()
    rule = serializers.CharField()
    before = AnyField(help_text="Of what moved, its position.")
    after = AnyField()
    grade = serializers.ChoiceField(
        choices=[str(way) for way in Direction],
        help_text="The one way in which it can move answers, where that is proven.",
    )


class DiffShape(AnswerShape):
    """What differs between two versions."""

    before = serializers.IntegerField()
    after = serializers.IntegerField()
    changes = DiffEntry(many=True)
