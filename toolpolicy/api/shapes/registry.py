"""Tool families, tools and imports on the wire. Shapes only."""

from rest_framework import serializers

from toolpolicy.api.shapes.base import AnswerShape, AnyField, ObjectField, ObjectsField, Shape
from toolpolicy.engine.grades import Grade
from toolpolicy.models.choices import FamilyKind, ToolState
from toolpolicy.services.registry import ToolFormat, Verdict


class FamilyShape(AnswerShape):
    """Where tools come from."""

    pk = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=FamilyKind.values)
    prefix = serializers.CharField(allow_blank=True)
    trusted = serializers.BooleanField()
    description = serializers.CharField(allow_blank=True)
    masking = ObjectField(help_text="What records do not show: mode, keys, pointers.")
    version = serializers.IntegerField()


class FamilyInput(Shape):
    """A family to be made: `name` is needed, the rest has defaults."""

    name = serializers.CharField(max_length=128)
    kind = serializers.ChoiceField(choices=FamilyKind.values, required=False)
    prefix = serializers.CharField(required=False, allow_blank=True, max_length=64)
    trusted = serializers.BooleanField(required=False)
    description = serializers.CharField(required=False, allow_blank=True)
    masking = ObjectField(required=False, help_text="`{mode?, keys?, pointers?}`")


class FamilyChange(FamilyInput):
    """Members of a family to be changed; name, kind and prefix stay once it has tools.

    `version` as seen, unless `If-Match` says it.
    """

    name = serializers.CharField(max_length=128, required=False)
    version = serializers.IntegerField(required=False, min_value=1)


class ToolShape(AnswerShape):
    """A registered tool. `declaration` and `reviewed` are digests."""

    pk = serializers.IntegerField()
    family = serializers.CharField(source="family.name")
    name = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(choices=ToolState.values)
    declaration = serializers.CharField(source="current_id")
    reviewed = serializers.CharField(source="reviewed_id", allow_null=True)
    dispatcher = ObjectField(allow_null=True)
    privilege = AnyField(allow_null=True)
    overrides = ObjectField()
    masking = ObjectField(help_text="What records do not show: mode, keys, pointers.")
    vanished_at = serializers.DateTimeField(allow_null=True)
    first_seen_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField()
    version = serializers.IntegerField(help_text="Counts what people change, not imports.")


class ToolDetail(ToolShape):
    """A registered tool with what it declares of itself."""

    declared = ObjectField()


class ToolChange(Shape):
    """What is laid over a declaration. Null takes a dispatcher or a privilege away again.

    `version` as seen, unless `If-Match` says it.
    """

    dispatcher = ObjectField(required=False, allow_null=True)
    privilege = AnyField(required=False)
    overrides = ObjectField(required=False)
    masking = ObjectField(required=False, help_text="`{mode?, keys?, pointers?}`")
    version = serializers.IntegerField(required=False, min_value=1)


class ToolInput(ToolChange):
    """A tool of a toolpack or connector as it says it is, and what is laid over that.

    To lay anything over a tool that is registered already, its `version` or `If-Match` is needed.
    """

    family = serializers.CharField()
    subject = ObjectField(
        help_text="The subject document with title, description and input_schema, but its family."
    )


class ReviewInput(Shape):
    """What somebody says who read a declaration; `declaration` is the digest of what was read."""

    verdict = serializers.ChoiceField(choices=[str(word) for word in Verdict])
    declaration = serializers.CharField(
        required=False, help_text="Needed to accept; nothing that came in meanwhile is accepted."
    )


class ImportShape(Shape):
    """What an MCP server says of its tools, and what family they are."""

    family = serializers.CharField()
    prefix = serializers.CharField(required=False, allow_blank=True)
    kind = serializers.ChoiceField(choices=FamilyKind.values, required=False)
    format = serializers.ChoiceField(choices=[str(form) for form in ToolFormat], required=False)
    dry_run = serializers.BooleanField(required=False)
    document = AnyField(
        help_text="The answer to `tools/list`: whole, its result or its list. Or ToolSpecs."
    )


class ToolListShape(AnswerShape):
    """The tools of a family as an import takes them, by name and without its prefix."""

    tools = ObjectsField()


class AddedTool(AnswerShape):
    """A tool that is new."""

    name = serializers.CharField()
    declaration = serializers.CharField()


class GradedChangeShape(AnswerShape):
    """One change of a declaration. `before` or `after` is left out where it says nothing."""

    optional = ("before", "after")
    grade = serializers.ChoiceField(choices=[str(grade) for grade in Grade])
    pointer = serializers.CharField(allow_blank=True, help_text="Into the declaration.")
    before = AnyField()
    after = AnyField()


class ChangedToolShape(AnswerShape):
    """A tool whose declaration is another one now."""

    name = serializers.CharField()
    members = serializers.ListField(child=serializers.CharField())
    before = serializers.CharField()
    after = serializers.CharField()
    changes = GradedChangeShape(many=True)
    state = serializers.ChoiceField(choices=ToolState.values)


class ReviewShape(AnswerShape):
    """A tool beside what was read of it: its changes since then. Both digests are declarations."""

    family = serializers.CharField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=ToolState.values)
    declaration = serializers.CharField()
    reviewed = serializers.CharField(allow_null=True)
    changes = GradedChangeShape(many=True)


class MovedToolShape(AnswerShape):
    """A new tool that says what one that is gone said under the name `was`."""

    name = serializers.CharField()
    was = serializers.CharField()
    state = serializers.ChoiceField(choices=ToolState.values)


class NameWarningShape(AnswerShape):
    """A tool whose name looks like another's, `like`, or something else that looks like a slip."""

    optional = ("like",)
    name = serializers.CharField()
    like = serializers.CharField(help_text="As `family/name`.")
    message = serializers.CharField()


class ToolSaved(ToolDetail):
    """A tool as it was saved. `warnings` are those that an import of it would give."""

    warnings = NameWarningShape(many=True)


class ImportReportShape(AnswerShape):
    """What an import did, or would do; only what was written has a `registry`."""

    optional = ("registry",)
    family = serializers.CharField()
    kind = serializers.ChoiceField(choices=FamilyKind.values)
    prefix = serializers.CharField(allow_blank=True)
    dry_run = serializers.BooleanField()
    added = AddedTool(many=True)
    changed = ChangedToolShape(many=True)
    unchanged = serializers.ListField(child=serializers.CharField())
    vanished = serializers.ListField(child=serializers.CharField())
    returned = serializers.ListField(child=serializers.CharField())
    moved = MovedToolShape(many=True)
    warnings = NameWarningShape(many=True)
    registry = ObjectField(help_text="Its digests before and after.")
