"""API keys on the wire. Shapes only; the secret stands in the answer that makes it."""

from rest_framework import serializers

from toolpolicy.api.shapes.base import AnswerShape, Shape
from toolpolicy.api.shapes.decisions import ContextField
from toolpolicy.models.choices import KeyScope


class ClientInput(Shape):
    """A key to be made. Without scopes it may ask for decisions and nothing else."""

    name = serializers.CharField(max_length=200)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=KeyScope.values), required=False
    )
    pinned_context = ContextField(required=False)
    expires_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="null: never; left out: the server's default."
    )


class ClientShape(AnswerShape):
    """A key without its secret."""

    pk = serializers.IntegerField()
    name = serializers.CharField()
    key_id = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=KeyScope.values))
    pinned_context = ContextField()
    owner = serializers.CharField(source="owner_label", allow_blank=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)


class NewClient(ClientShape):
    """A key that was just made, with its text: this is the only time that it is shown."""

    key = serializers.CharField()
