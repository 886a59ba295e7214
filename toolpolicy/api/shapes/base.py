"""What every shape has in common. Shapes describe JSON; they check nothing and write nothing."""

from typing import Any, ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers


class Shape(serializers.Serializer[Any]):
    """A JSON object as it is sent to the API."""


class AnswerShape(serializers.Serializer[Any]):
    """A JSON object as the API answers with: every member is always there."""

    optional: ClassVar[tuple[str, ...]] = ()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields = super().get_fields()
        for name, field in fields.items():
            field.required = name not in self.optional
        return fields


@extend_schema_field(OpenApiTypes.OBJECT)
class ObjectField(serializers.JSONField):
    """A JSON object, as it is stored."""


@extend_schema_field({"type": "array", "items": {"type": "object", "additionalProperties": {}}})
class ObjectsField(serializers.JSONField):
    """A list of JSON objects, as it is stored."""


@extend_schema_field({})
class AnyField(serializers.JSONField):
    """Any JSON value."""


@extend_schema_field({"type": "array", "items": {"type": "string"}})
class PatternsField(serializers.JSONField):
    """A list of patterns; a single one is stored as a text."""

    def to_representation(self, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


class PolicyPlace(AnswerShape):
    """The version of the policy that an answer is about."""

    version = serializers.IntegerField(allow_null=True)
    digest = serializers.CharField(allow_null=True)
