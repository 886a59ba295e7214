"""Problem documents on the wire (RFC 9457). Shapes only."""

from typing import ClassVar

from rest_framework import serializers

from toolpolicy.api.problems import KINDS
from toolpolicy.api.shapes.base import AnswerShape


class ErrorShape(AnswerShape):
    """One fault. It has one of `pointer` (into the body), `parameter` and `header`."""

    optional = ("pointer", "parameter", "header", "line")
    pointer = serializers.CharField(allow_blank=True)
    parameter = serializers.CharField()
    header = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()
    line = serializers.IntegerField(
        help_text="In a document that was sent as YAML, counted from 1."
    )


class ProblemShape(AnswerShape):
    """What went wrong, with every fault."""

    optional: ClassVar[tuple[str, ...]] = ("more_errors", "outcome")
    type = serializers.CharField(help_text="The page that explains the code.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.ChoiceField(choices=sorted(KINDS))
    request_id = serializers.CharField()
    errors = ErrorShape(many=True)  # type: ignore[assignment]  # fields are no attributes
    more_errors = serializers.IntegerField(
        help_text="How many more faults there are than are named."
    )
    outcome = serializers.ChoiceField(
        choices=["deny"], help_text="No answer was given: nothing is allowed."
    )
