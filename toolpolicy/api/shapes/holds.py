"""Legal holds on the wire. Shapes only."""

from rest_framework import serializers

from toolpolicy.api.shapes.base import AnswerShape, ObjectField, Shape


class HoldInput(Shape):
    """What to keep, under which name, and why."""

    name = serializers.CharField(max_length=200, help_text="The matter, for example a case number.")
    reason = serializers.CharField()
    filter = ObjectField(
        help_text="Members of a record's header that must be equal, `from`, `to`, `first`, `last`; "
        "{} covers every record."
    )


class HoldShape(AnswerShape):
    """A hold, standing or lifted."""

    pk = serializers.IntegerField()
    name = serializers.CharField()
    reason = serializers.CharField()
    filter = ObjectField()
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField(source="created_by_label", allow_blank=True)
    lifted_at = serializers.DateTimeField(allow_null=True)
    lifted_by = serializers.CharField(source="lifted_by_label", allow_blank=True)
