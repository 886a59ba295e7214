"""The form above the list of records. What it holds stands in the address."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.faults import MomentField
from toolpolicy.admin.record_marks import ANY, outcomes
from toolpolicy.engine.words import ReasonCode
from toolpolicy.models import ApiClient
from toolpolicy.models.choices import RecordKind
from toolpolicy.models.records import RecordQuerySet
from toolpolicy.services import records as reading

if TYPE_CHECKING:
    import uuid

WITHIN: Final = {
    "hour": (_("Last hour"), timedelta(hours=1)),
    "day": (_("Last 24 hours"), timedelta(days=1)),
    "week": (_("Last 7 days"), timedelta(days=7)),
    "month": (_("Last 30 days"), timedelta(days=30)),
}


class RecordFilter(forms.Form):
    """What records to show. A name that ends with `*` stands for all that begin like it."""

    tool = forms.CharField(required=False, label=_("Tool"))
    outcome = forms.ChoiceField(required=False, choices=outcomes(), label=_("Outcome"))
    agent = forms.CharField(required=False, label=_("Agent"))
    within = forms.ChoiceField(
        required=False,
        label=_("Time"),
        choices=(ANY, *((key, words) for key, (words, _) in WITHIN.items())),
    )
    kind = forms.ChoiceField(required=False, choices=(ANY, *RecordKind.choices), label=_("Kind"))

    since = MomentField(label=_("From (UTC)"))
    until = MomentField(label=_("Until (UTC)"))
    family = forms.CharField(required=False, label=_("Family"))
    channel = forms.CharField(required=False, label=_("Channel"))
    session = forms.CharField(required=False, label=_("Session"))
    client = forms.CharField(required=False, label=_("Client (name or key id)"))
    layer = forms.CharField(required=False, label=_("Layer"))
    rule = forms.CharField(required=False, label=_("Rule"))
    reason_code = forms.ChoiceField(
        required=False,
        widget=forms.Select({"translate": "no"}),
        choices=(ANY, *((str(code), str(code)) for code in ReasonCode)),
        label=_("Reason code"),
    )
    policy_version = forms.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, label=_("Policy version")
    )
    actor = forms.CharField(required=False, label=_("Person or key"))
    uid = forms.UUIDField(required=False, label=_("Decision id"))
    request_id = forms.CharField(required=False, label=_("Request id"))

    FIRST = ("tool", "outcome", "agent", "within", "kind")
    NAMES = ("tool", "agent", "session", "channel", "family", "layer", "rule", "actor")
    EXACT = ("outcome", "kind", "reason_code", "policy_version", "uid", "request_id")

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data, label_suffix="")

    def first(self) -> list[forms.BoundField]:
        """Return the fields that are always shown."""
        return [self[name] for name in self.FIRST]

    def others(self) -> list[forms.BoundField]:
        """Return the fields that unfold."""
        return [self[name] for name in self.fields if name not in self.FIRST]

    def others_used(self) -> bool:
        """Tell whether one of those is in use, so that they stand open."""
        return any(field.data or field.errors for field in self.others())

    def used(self) -> dict[str, str]:
        """Return what was filled in, as the address has it."""
        return {name: text for name in self.fields if (text := self.data.get(name))}

    def clean_client(self) -> list[int] | None:
        """Return the keys of that name, or with that id."""
        text = self.cleaned_data["client"]
        if not text:
            return None
        found = ApiClient.objects.filter(name=text) | ApiClient.objects.filter(key_id=text)
        keys = list(found.order_by().values_list("pk", flat=True))
        if not keys:
            raise forms.ValidationError(gettext("No client has this name or key id."))
        return keys

    def narrow(self, records: RecordQuerySet) -> RecordQuerySet:
        """Return the records that are asked for; none when the form is wrong."""
        if not self.is_valid():
            return records.none()
        sought = {name: value for name, value in self.cleaned_data.items() if value}
        lookups = _lookups(sought)
        since = sought.get("since")
        if "within" in sought:
            within = timezone.now() - WITHIN[sought["within"]][1]
            since = max(since, within) if since else within
        return reading.between(records.filter(**lookups), since, sought.get("until"))


def _lookups(sought: dict[str, Any]) -> "dict[str, str | uuid.UUID | int | list[int]]":
    """Return what the database is asked for, the time apart."""
    lookups = {name: sought[name] for name in RecordFilter.EXACT if name in sought}
    for name in RecordFilter.NAMES:
        if name in sought:
            column = "actor_label" if name == "actor" else name
            begins = sought[name].endswith("*")
            lookups[f"{column}__startswith" if begins else column] = sought[name].rstrip("*")
    if "client" in sought:
        keys = sought["client"]
        # One key, as it mostly is, is read in the order of its index.
        lookups |= {"client": keys[0]} if len(keys) == 1 else {"client__in": keys}
    return lookups
