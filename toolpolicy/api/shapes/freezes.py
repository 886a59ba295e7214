"""Freezes on the wire. Shapes only."""

from rest_framework import serializers

from toolpolicy.api.shapes.base import AnswerShape, Shape
from toolpolicy.models.choices import FreezeKind


class FreezeInput(Shape):
    """What to stop, why, and until when."""

    kind = serializers.ChoiceField(choices=FreezeKind.values)
    value = serializers.CharField(max_length=200, help_text="The whole name; no patterns.")
    reason = serializers.CharField(help_text="Told to the caller.")
    until = serializers.DateTimeField(
        required=False, allow_null=True, help_text="null or left out: until it is lifted."
    )


class FreezeShape(AnswerShape):
    """A freeze, standing or over."""

    pk = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=FreezeKind.values)
    value = serializers.CharField()
    reason = serializers.CharField()
    until = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField(source="created_by_label", allow_blank=True)
    lifted_at = serializers.DateTimeField(allow_null=True)
