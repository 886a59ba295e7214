"""Records on the wire. Shapes only."""

from rest_framework import serializers

from toolpolicy.api.shapes.base import AnswerShape, ObjectField, Shape
from toolpolicy.models.choices import RecordKind
from toolpolicy.services.evidence.seals import Holds


class RecordShape(AnswerShape):
    """One record, without its body. The members but `leaf_hash` are copies to filter by."""

    uid = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=RecordKind.values)
    at = serializers.DateTimeField()
    writer_id = serializers.CharField()
    writer_n = serializers.IntegerField()
    leaf_hash = serializers.CharField()
    surface = serializers.CharField(allow_blank=True)
    outcome = serializers.CharField(allow_blank=True)
    reason_code = serializers.CharField(allow_blank=True)
    family = serializers.CharField(allow_blank=True)
    tool = serializers.CharField(allow_blank=True)
    agent = serializers.CharField(allow_blank=True)
    channel = serializers.CharField(allow_blank=True)
    session = serializers.CharField(allow_blank=True)
    client_key_id = serializers.CharField(allow_blank=True)
    layer = serializers.CharField(allow_blank=True)
    rule = serializers.CharField(allow_blank=True)
    policy_version = serializers.IntegerField(allow_null=True)
    actor = serializers.CharField(source="actor_label", allow_blank=True)
    object = serializers.CharField(source="object_label", allow_blank=True)
    request_id = serializers.CharField(allow_blank=True)
    idempotency_key = serializers.CharField(allow_blank=True)
    request_digest = serializers.CharField(allow_blank=True)


class SealShape(AnswerShape):
    """Where a record stands in the log, and whether the proof of it holds."""

    seq = serializers.IntegerField(help_text="Its number in the log, which has no gaps.")
    block = serializers.IntegerField(
        allow_null=True, help_text="The block that holds it; null when that is missing."
    )
    at = serializers.DateTimeField(allow_null=True, help_text="When the block was signed.")
    key = serializers.CharField(allow_blank=True, help_text="The id of the key that signed it.")
    proof = serializers.ChoiceField(
        choices=[str(one) for one in Holds],
        help_text="`good`: record, path and the signature over the block fit together.",
    )


class RecordDetail(RecordShape):
    """One record with its body: as JSON, and as the exact text that `leaf_hash` is over.

    Both are null when the body's time of retention is over. `seal` is null while the record waits
    for its seal.
    """

    body = ObjectField(allow_null=True)
    text = serializers.CharField(allow_null=True)
    seal = SealShape(allow_null=True)


class PayloadInput(Shape):
    """Why somebody reads what was masked: it stands in the record of the look."""

    why = serializers.CharField(required=False, max_length=500)


class MaskedShape(AnswerShape):
    """One place of a record's text at which a commitment stands."""

    pointer = serializers.CharField(help_text="Into `body`, and into the record's text.")
    salt = serializers.CharField(
        allow_null=True, help_text="In hex; null when it was erased with the value."
    )
    missing = serializers.CharField(
        allow_null=True, help_text="Why the value is not there; null when it is."
    )


class PayloadShape(AnswerShape):
    """A record's body with its masked values where they belong, as far as they are kept.

    The commitment in the text is the SHA-256 of the salt's bytes and the value's canonical text.
    """

    uid = serializers.UUIDField()
    body = ObjectField()
    masked = MaskedShape(many=True)
