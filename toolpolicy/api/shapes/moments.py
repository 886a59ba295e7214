"""What was in force at a point in time, on the wire. Shapes only."""

from rest_framework import serializers

from toolpolicy.api.shapes.base import AnswerShape, ObjectField
from toolpolicy.api.shapes.decisions import OpenArgument
from toolpolicy.engine.words import Effect, Outcome
from toolpolicy.models.choices import ToolState
from toolpolicy.services.evidence.events import EventKind
from toolpolicy.services.evidence.moments import Missing

OUTCOMES = [str(word) for word in (Outcome.ALLOW, Outcome.NEEDS_APPROVAL, Outcome.DENY)]


class PolicyThen(AnswerShape):
    """The version of a moment."""

    version = serializers.IntegerField()
    digest = serializers.CharField()
    published_at = serializers.DateTimeField()
    published_by = serializers.CharField()


class FrozenThen(AnswerShape):
    """A freeze that stood."""

    kind = serializers.CharField()
    value = serializers.CharField()
    reason = serializers.CharField()
    until = serializers.DateTimeField(allow_null=True)


class MissingShape(AnswerShape):
    """What the history does not tell."""

    code = serializers.ChoiceField(choices=[str(code) for code in Missing])
    message = serializers.CharField()


class MomentShape(AnswerShape):
    """What was in force at a moment; null where that is not known, or there was none."""

    at = serializers.DateTimeField()
    policy = PolicyThen(allow_null=True)
    registry = serializers.CharField(allow_null=True, allow_blank=True)
    settings = serializers.CharField(allow_null=True)
    freezes = FrozenThen(many=True)
    missing = MissingShape(many=True)
    context = ObjectField()  # type: ignore[assignment]  # the base has one of that name


class SaidShape(AnswerShape):
    """What a call meets; `depends`: on its arguments; `listed`: whether the caller saw the tool."""

    outcome = serializers.ChoiceField(choices=OUTCOMES)
    listed = serializers.BooleanField()
    depends = serializers.BooleanField()


class ToolThen(SaidShape):
    """What a call of one tool met."""

    family = serializers.CharField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=ToolState.values)


class StandingShape(MomentShape):
    """What could be done at a moment."""

    tools = ToolThen(many=True)


class EventShape(AnswerShape):
    """Something that happened; `record` is the id of its record."""

    kind = serializers.ChoiceField(choices=[str(kind) for kind in EventKind])
    at = serializers.DateTimeField()
    who = serializers.CharField(allow_blank=True)
    what = serializers.CharField(allow_blank=True)
    record = serializers.CharField(allow_null=True)
    version = serializers.IntegerField(allow_null=True)


class OpenThen(AnswerShape):
    """A rule by whose arguments this answer is another one."""

    effect = serializers.ChoiceField(choices=[str(effect) for effect in Effect])
    arguments = OpenArgument(many=True)


class ComparedSaid(SaidShape):
    """What a call meets; `open`: the rules that wait for arguments on this side alone."""

    open = OpenThen(many=True)


class DifferenceShape(AnswerShape):
    """A tool that is answered otherwise, and through what; null: not registered."""

    family = serializers.CharField()
    name = serializers.CharField()
    before = ComparedSaid(allow_null=True)
    after = ComparedSaid(allow_null=True)
    through = EventShape(many=True)


class ComparedShape(AnswerShape):
    """Two moments: what happened between them, and what is answered otherwise."""

    before = MomentShape()
    after = MomentShape()
    events = EventShape(many=True)
    differences = DifferenceShape(many=True)


class PointInTime(AnswerShape):
    """`standing` for one moment, `compared` for two."""

    standing = StandingShape(allow_null=True)
    compared = ComparedShape(allow_null=True)
