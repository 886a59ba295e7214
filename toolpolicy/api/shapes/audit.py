"""Reports on the wire. Shapes only."""

from rest_framework import serializers

from toolpolicy.api.shapes.base import AnswerShape, ObjectField, ObjectsField
from toolpolicy.models.choices import RecordKind
from toolpolicy.services.evidence import access, exceptions


class TextsField(serializers.ListField):
    """A list of texts."""

    child = serializers.CharField()


class PeriodShape(AnswerShape):
    """A span of time; `to` is its first moment that no longer belongs to it."""

    def get_fields(self) -> dict[str, serializers.Field]:
        return {"from": serializers.DateTimeField(), "to": serializers.DateTimeField()}


class ReportShape(AnswerShape):
    """What every report says of itself."""

    report = serializers.CharField()
    made_at = serializers.DateTimeField()
    period = PeriodShape()


class ChangeEntry(AnswerShape):
    """One change. `differences` are the policy's, `details` what else the record tells."""

    at = serializers.DateTimeField()
    id = serializers.UUIDField(help_text="Of its record.")
    kind = serializers.ChoiceField(choices=RecordKind.values)
    area = serializers.CharField(help_text="What was changed; `registry` for tools and families.")
    who = serializers.CharField(allow_blank=True)
    about = serializers.CharField(allow_blank=True)
    comment = serializers.CharField(allow_blank=True)
    policy_version = serializers.IntegerField(allow_null=True)
    effect = serializers.ChoiceField(
        choices=["loosens", "tightens"],
        allow_null=True,
        help_text="The one way in which answers can have moved, where that is proven.",
    )
    sentences = TextsField()
    differences = ObjectsField()
    actor = ObjectField(allow_null=True)
    origin = ObjectField(allow_null=True)
    details = ObjectField()
    exceptions = serializers.ListField(
        child=serializers.ChoiceField(choices=[str(code) for code in exceptions.ExceptionCode])
    )


class FailedSignIns(AnswerShape):
    """How often a sign-in as an account failed; no account: names that are nobody's."""

    account = serializers.CharField(allow_blank=True)
    count = serializers.IntegerField()
    first = serializers.DateTimeField()
    last = serializers.DateTimeField()


class ChangesReport(ReportShape):
    """Every change of a period, those that stand out apart."""

    records = serializers.IntegerField()
    superusers_only = serializers.BooleanField()
    exceptions = ChangeEntry(many=True)
    failed_sign_ins = FailedSignIns(many=True)
    others = ChangeEntry(many=True)


class FlagsField(serializers.ListField):
    """What to look at."""

    child = serializers.ChoiceField(choices=list(access.WORDS))


class PersonShape(AnswerShape):
    """An account and what it may do now."""

    name = serializers.CharField()
    active = serializers.BooleanField()
    superuser = serializers.BooleanField()
    staff = serializers.BooleanField()
    groups = TextsField()
    permissions = TextsField()
    last_sign_in = serializers.DateTimeField(allow_null=True)
    flags = FlagsField()


class AccessKey(AnswerShape):
    """An API key that was good at some time of the period, or is."""

    name = serializers.CharField()
    key_id = serializers.CharField()
    scopes = TextsField()
    pinned_context = ObjectField()
    pins = TextsField()
    owner = serializers.CharField(allow_blank=True)
    owner_active = serializers.BooleanField(allow_null=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)
    flags = FlagsField()


class AgentShape(AnswerShape):
    """What an agent may call; no agent: one that nobody named."""

    agent = serializers.CharField(allow_blank=True)
    allow = serializers.IntegerField()
    needs_approval = serializers.IntegerField()
    deny = serializers.IntegerField()
    depends = serializers.IntegerField()
    hidden = serializers.IntegerField()
    tools = TextsField(help_text="Those of the next three lists, each once.")
    allowed_tools = TextsField(help_text="Those that it may call, as many as `allow`.")
    approval_tools = TextsField(help_text="Those that need approval, as many as `needs_approval`.")
    depending_tools = TextsField(
        help_text="Those of any outcome whose answer depends on arguments, as many as `depends`."
    )


class AccessReport(ReportShape):
    """Who may do what."""

    policy_version = serializers.IntegerField(allow_null=True)
    tools = serializers.IntegerField()
    people = PersonShape(many=True)
    keys = AccessKey(many=True)
    agents = AgentShape(many=True)


class Tally(AnswerShape):
    """How many decisions there were, by outcome."""

    all = serializers.IntegerField()
    allow = serializers.IntegerField()
    needs_approval = serializers.IntegerField()
    deny = serializers.IntegerField()
    list = serializers.IntegerField()
    hide = serializers.IntegerField()


class Totals(Tally):
    """All decisions of the period; `frozen` are among the denied ones."""

    frozen = serializers.IntegerField()


class DayTally(Tally):
    """A day (UTC)."""

    day = serializers.DateField()


class ToolTally(Tally):
    """A tool."""

    family = serializers.CharField(allow_blank=True)
    tool = serializers.CharField()


class RuleTally(Tally):
    """A rule that matched, whoever decided."""

    layer = serializers.CharField(allow_blank=True)
    rule = serializers.CharField()


class AgentTally(Tally):
    """An agent, as callers claimed."""

    agent = serializers.CharField(allow_blank=True)


class FrozenTally(AnswerShape):
    """Calls that a freeze stopped."""

    family = serializers.CharField(allow_blank=True)
    tool = serializers.CharField()
    agent = serializers.CharField(allow_blank=True)
    count = serializers.IntegerField()


class ReasonTally(AnswerShape):
    """Decisions with one reason code."""

    reason_code = serializers.CharField()
    count = serializers.IntegerField()


class RefusedTally(ReasonTally):
    """Requests of a key that were refused."""

    client_key_id = serializers.CharField(allow_blank=True)


class OversightReport(ReportShape):
    """How calls were answered. Up to `rules` from hourly counts, the rest from records."""

    totals = Totals()
    records_agree = serializers.BooleanField(
        allow_null=True, help_text="Whether the counts are as many as the records."
    )
    without_key = ObjectField(help_text="Requests without a valid key, by HTTP status.")
    days = DayTally(many=True)
    tools = ToolTally(many=True)
    rules = RuleTally(many=True)
    agents = AgentTally(many=True)
    frozen = FrozenTally(many=True)
    reasons = ReasonTally(many=True)
    refused = RefusedTally(many=True)
