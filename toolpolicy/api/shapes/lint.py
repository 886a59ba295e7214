"""Findings of lint on the wire. Shapes only."""

from rest_framework import serializers

from toolpolicy.api.shapes.base import AnswerShape, ObjectField, PolicyPlace
from toolpolicy.engine.lint.findings import FindingCode, Severity


class FindingShape(AnswerShape):
    """Something found. Without a `layer` it is about a registered tool."""

    code = serializers.ChoiceField(
        choices=[str(code) for code in FindingCode], help_text="Explained at /docs/lint/{code}/."
    )
    severity = serializers.ChoiceField(choices=[str(severity) for severity in Severity])
    layer = serializers.CharField(allow_null=True)
    rule = serializers.CharField(allow_null=True, help_text="Its id; null: it is about the layer.")
    message = serializers.CharField()
    witness = ObjectField(help_text="A tool, a context or other rules that show it, by the code.")
    remedy = serializers.CharField()


class FindingCounts(AnswerShape):
    """How many findings there are of each severity."""

    fault = serializers.IntegerField()
    warning = serializers.IntegerField()
    notice = serializers.IntegerField()


class LintShape(AnswerShape):
    """What lint finds in the live policy: by layer as they apply, then by rule."""

    policy = PolicyPlace()
    counts = FindingCounts()
    findings = FindingShape(many=True)
