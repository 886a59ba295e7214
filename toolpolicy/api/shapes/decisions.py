"""Questions and answers on the wire (DESIGN §3). Shapes only; `engine.questions` reads them."""

from typing import Any, ClassVar

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from toolpolicy.api.batches import MOST_ITEMS
from toolpolicy.api.shapes.base import AnswerShape, AnyField, ObjectField, PolicyPlace, Shape
from toolpolicy.api.shapes.problems import ProblemShape
from toolpolicy.engine.questions import MAX_CONTEXT_TEXT, MAX_SUBJECTS, MAX_TARGETS
from toolpolicy.engine.words import (
    Approval,
    Category,
    Effect,
    Exposure,
    Hint,
    Mode,
    Outcome,
    Permission,
    ReasonCode,
    Scope,
    SideEffect,
    Surface,
)

_NAME = {"type": "string", "pattern": r"^[A-Za-z0-9_.\-/:]{1,128}$"}
_TOOL = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {"name": _NAME, "family": {"type": "string"}},
}


@extend_schema_field({"oneOf": [_NAME, _TOOL]})
class ToolField(serializers.JSONField):
    """A tool by its name, or by family and name."""


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {"type": "string", "maxLength": MAX_CONTEXT_TEXT},
        "properties": {
            "sandbox_mode": {
                "type": "string",
                "enum": ["read_only", "workspace_write", "full"],
            },
            "untrusted_content": {"type": "string", "enum": ["true", "false"]},
        },
        "example": {"agent": "support-bot", "session": "s-1"},
    }
)
class ContextField(serializers.JSONField):
    """What the call happens in: texts by name."""


def _choices(words: Any) -> list[str]:
    return [str(word) for word in words]


def _flags(words: Any, *, required: bool) -> dict[str, Any]:
    names = _choices(words)
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: {"type": "boolean"} for name in names},
        **({"required": names} if required else {}),
    }


@extend_schema_field(_flags(SideEffect, required=True))
class SideEffectsField(serializers.JSONField):
    """All seven declared side effects."""


@extend_schema_field(_flags(Hint, required=False))
class HintsField(serializers.JSONField):
    """Declared hints; one that is left out is unknown."""


class SubjectShape(Shape):
    """A tool as it declares itself."""

    name = serializers.RegexField(r"^[A-Za-z0-9_.\-/:]{1,128}$")
    family = serializers.CharField(required=False)
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    category = serializers.ChoiceField(choices=_choices(Category), required=False)
    exposure = serializers.ChoiceField(choices=_choices(Exposure), required=False)
    permission = serializers.ChoiceField(choices=_choices(Permission), required=False)
    side_effects = SideEffectsField(required=False)
    group = serializers.CharField(required=False)
    parent = serializers.CharField(required=False)  # type: ignore[assignment]  # fields are no attributes
    verb = serializers.CharField(required=False)
    method = serializers.CharField(required=False)
    scope = serializers.CharField(required=False)
    hints = HintsField(required=False)
    default_permission = serializers.ChoiceField(choices=_choices(Mode), required=False)
    title = serializers.CharField(required=False)
    description = serializers.CharField(required=False)
    input_schema = ObjectField(required=False)


class TargetShape(Shape):
    """A tool that the caller knows an indirect call to run: `tool` or `subject`."""

    tool = ToolField(required=False)
    subject = SubjectShape(required=False)
    arguments = AnyField(required=False)


class QuestionMembers(TargetShape):
    """The members of a question, for the defaults of a batch."""

    surface = serializers.ChoiceField(choices=_choices(Surface), required=False)
    context = ContextField(required=False)  # type: ignore[assignment]  # fields are no attributes
    targets = serializers.ListField(child=TargetShape(), required=False, max_length=MAX_TARGETS)
    dry_run = serializers.BooleanField(required=False)
    explain = serializers.BooleanField(required=False)
    min_policy_version = serializers.IntegerField(required=False)


class QuestionShape(QuestionMembers):
    """One decision asked for: a `surface`, and a tool by `tool` or `subject`."""

    surface = serializers.ChoiceField(choices=_choices(Surface))


class ToolName(AnswerShape):
    """A tool by family and name."""

    family = serializers.CharField(allow_null=True)
    name = serializers.CharField()


class BlockedByShape(AnswerShape):
    """The layer that refuses or hides, and its rule; without one, its default."""

    layer = serializers.CharField(allow_null=True)
    scope = serializers.ChoiceField(choices=_choices(Scope))
    rule = serializers.CharField(allow_null=True)
    index = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField(allow_null=True)


class VerdictShape(AnswerShape):
    """What the policy says with its observing layers and rules enforced."""

    visible = serializers.BooleanField()
    callable = serializers.BooleanField()
    approval = serializers.ChoiceField(choices=_choices(Approval))
    reason_code = serializers.ChoiceField(choices=_choices(ReasonCode))
    blocked_by = BlockedByShape(allow_null=True)


class DecisionShape(VerdictShape):
    """The answer to one question. Call the tool only when `outcome` is `allow`."""

    optional: ClassVar[tuple[str, ...]] = ("about", "observed", "explanation")
    decision_id = serializers.UUIDField()
    surface = serializers.ChoiceField(choices=_choices(Surface))
    tool = ToolName()
    outcome = serializers.ChoiceField(choices=_choices(Outcome))
    message = serializers.CharField()
    about = ToolName(
        help_text="The tool that the reason is about, where it is not the one asked for."
    )
    observed = VerdictShape()
    policy = PolicyPlace()
    explanation = ObjectField()


class ExplainedShape(DecisionShape):
    """A simulated decision with its explanation."""

    optional: ClassVar[tuple[str, ...]] = ("about", "observed")


class BatchShape(Shape):
    """Questions, and what they share."""

    defaults = QuestionMembers(required=False)
    items = serializers.ListField(child=QuestionMembers(), min_length=1, max_length=MOST_ITEMS)


class ItemProblem(ProblemShape):
    """Why one item of a batch was not decided."""

    optional = ("more_errors",)
    request_id = None  # type: ignore[assignment]  # the batch has one


class ListQuestionShape(Shape):
    """One listing asked for: of the registry, or of the submitted `subjects`."""

    surface = serializers.ChoiceField(choices=[str(Surface.CATALOG), str(Surface.SEARCH)])
    context = ContextField(required=False)  # type: ignore[assignment]  # fields are no attributes
    subjects = serializers.ListField(child=SubjectShape(), required=False, max_length=MAX_SUBJECTS)
    query = serializers.CharField(required=False)
    min_policy_version = serializers.IntegerField(required=False)


class OpenArgument(AnswerShape):
    """An argument that an open rule looks at."""

    pointer = serializers.CharField()
    value = AnyField()


class OpenRuleShape(AnswerShape):
    """A rule that can still change the answer of a call."""

    layer = serializers.CharField(allow_null=True)
    rule = serializers.CharField(allow_null=True)
    index = serializers.IntegerField()
    effect = serializers.ChoiceField(choices=_choices(Effect))
    arguments = OpenArgument(many=True)


class ListedTool(ToolName):
    """A tool that may be seen, and what a call of it would meet."""

    optional = ("description", "open")
    title = serializers.CharField(allow_null=True)
    description = serializers.CharField()
    call = serializers.ChoiceField(
        choices=["allowed", "needs_approval", "refused", "depends_on_arguments"]
    )
    open = OpenRuleShape(many=True)


class ListingShape(AnswerShape):
    """The tools that may be seen."""

    listing_id = serializers.UUIDField()
    surface = serializers.ChoiceField(choices=[str(Surface.CATALOG), str(Surface.SEARCH)])
    tools = ListedTool(many=True)
    policy = PolicyPlace()


class BatchAnswer(AnswerShape):
    """The answers and problems of the items, in their order."""

    results = serializers.ListField(
        child=PolymorphicProxySerializer(
            component_name="BatchResult",
            serializers=[DecisionShape, ItemProblem],
            resource_type_field_name=None,
        )
    )
