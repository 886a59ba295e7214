"""Legal holds: placed, listed, lifted."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.base import ServicePage, by, told
from toolpolicy.admin.choosing import Lifted
from toolpolicy.admin.faults import MomentField, ServiceForm, sentence
from toolpolicy.admin.record_marks import ANY, outcomes
from toolpolicy.admin.words import Words, english, filled
from toolpolicy.engine.faults import Fault, printable
from toolpolicy.engine.reading import time_text
from toolpolicy.models import LegalHold
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import holds
from toolpolicy.services.errors import InvalidInput

FILTER: Final = "/filter/"
TIMES: Final[Mapping[str, str]] = {"since": "from", "until": "to"}
# What each member of a filter is called.
SAID: Final[Mapping[str, Words]] = {
    "kind": _("kind"),
    "surface": _("surface"),
    "outcome": _("outcome"),
    "reason_code": _("reason code"),
    "tool": _("tool"),
    "family": _("family"),
    "agent": _("agent"),
    "channel": _("channel"),
    "session": _("session"),
    "client_key_id": _("key"),
    "layer": _("layer"),
    "rule": _("rule"),
    "policy_version": _("policy version"),
    "actor_label": _("by"),
    "object_label": _("about"),
    "request_id": _("request"),
    "uid": _("id"),
    "from": _("from"),
    "to": _("until"),
    "first": _("from number"),
    "last": _("to number"),
}


class HoldForm(ServiceForm):
    """What to keep, under which name, and why."""

    kind = forms.ChoiceField(required=False, choices=(ANY, *RecordKind.choices), label=_("Kind"))
    outcome = forms.ChoiceField(required=False, choices=outcomes(), label=_("Outcome"))
    tool = forms.CharField(required=False, label=_("Tool"))
    family = forms.CharField(required=False, label=_("Family"))
    agent = forms.CharField(required=False, label=_("Agent"))
    channel = forms.CharField(required=False, label=_("Channel"))
    session = forms.CharField(required=False, label=_("Session"))
    client_key_id = forms.CharField(required=False, label=_("Key id of the client"))
    actor_label = forms.CharField(required=False, label=_("Person or key"))
    since = MomentField(label=_("From (UTC)"))
    until = MomentField(
        label=_("Until (UTC)"), help_text=_("Empty: records still to come as well.")
    )
    first = forms.IntegerField(required=False, label=_("From number"), min_value=1)
    last = forms.IntegerField(required=False, label=_("To number"), min_value=1)

    MEMBERS: ClassVar = (
        *("kind", "outcome", "tool", "family", "agent", "channel", "session"),
        *("client_key_id", "actor_label", "since", "until", "first", "last"),
    )

    class Meta:
        model = LegalHold
        fields = ("name", "reason")
        widgets: ClassVar = {"reason": forms.Textarea({"rows": 2})}

    def sent(self) -> dict[str, Any]:
        """Return it as the service takes it; an empty field bounds nothing."""
        given = {name: self.cleaned_data[name] for name in self.MEMBERS}
        asked = {name: value for name, value in given.items() if value not in (None, "")}
        times = {TIMES[name]: time_text(asked.pop(name)) for name in TIMES if name in asked}
        return {**self.values(("name", "reason")), "filter": {**asked, **times}}

    def placed(self, fault: Fault) -> tuple[str | None, str]:
        """Return the field of a fault: the members of the filter have one each."""
        if not fault.pointer.startswith(FILTER):
            return super().placed(fault)
        member = fault.pointer.removeprefix(FILTER)
        names = {TIMES.get(name, name): name for name in self.MEMBERS}
        return names.get(member), sentence(fault, fault.pointer)


@admin.register(LegalHold)
class HoldPage(ServicePage):
    """What is kept beyond its time."""

    lead = _(
        "What a hold covers is neither deleted when its time is over nor erased, until it is "
        "lifted."
    )
    form = HoldForm
    save_word = _("Place the hold")
    stays = False
    fieldsets = (
        (None, {"fields": ("name", "reason")}),
        (
            _("Which records"),
            {
                "fields": HoldForm.MEMBERS,
                "description": _(
                    "All that is filled in must be so, whole names and no patterns. Nothing filled "
                    "in: every record."
                ),
            },
        ),
    )
    list_display = ("name_shown", "which", "standing", "why", "made")
    list_filter = (Lifted,)
    search_fields = ("name", "reason", "created_by_label")
    search_help_text = _("Name, reason or who")
    sortable_by = ()
    actions = ("lift",)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Say no: a hold is lifted, never edited; its record says what was kept."""
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Show of a hold that exists what it covers and what became of it."""
        if obj is None:
            return self.fieldsets
        return ((None, {"fields": self.get_readonly_fields(request, obj)}),)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Nothing of a hold that exists can be changed."""
        shown = ("name_shown", "which", "covers", "why", "standing", "made")
        return shown if obj else ()

    # --- columns ---------------------------------------------------------------------------------

    @admin.display(description=_("name"), ordering="name")
    def name_shown(self, hold: LegalHold) -> str:
        """Name the matter."""
        return printable(hold.name)

    @admin.display(description=_("which records"))
    def which(self, hold: LegalHold) -> SafeString:
        """Say which records it covers."""
        pairs = ((SAID.get(name, name), _shown(name, value)) for name, value in hold.filter.items())
        return format_html_join(", ", "{} {}", pairs) or format_html("{}", gettext("every record"))

    @admin.display(description=_("covers now"))
    def covers(self, hold: LegalHold) -> SafeString:
        """Count what it covers: a hold with a slip in a name covers nothing."""
        try:
            count = holds.covered(hold)
        except InvalidInput as error:
            told = filled(gettext("cannot be read: %(why)s"), why=english(str(error)))
            return marks.tag(told, shape="warn", tone="deny")
        if not count:
            return marks.tag(gettext("no record"), shape="warn", tone="ask")
        if count == holds.MOST_COUNTED:
            return format_html(gettext("{} records or more"), marks.number(count))
        return format_html(ngettext("{} record", "{} records", count), marks.number(count))

    @admin.display(description=_("reason"))
    def why(self, hold: LegalHold) -> str:
        """Say why."""
        return printable(hold.reason)

    @admin.display(description=_("state"))
    def standing(self, hold: LegalHold) -> SafeString:
        """Tell a hold that stands from one that is over."""
        if hold.lifted_at is None:
            return marks.tag(gettext("stands"))
        who = (printable(hold.lifted_by_label), marks.sub(marks.moment(hold.lifted_at)))
        return marks.row((marks.tag(gettext("lifted")), *who))

    @admin.display(description=_("by"))
    def made(self, hold: LegalHold) -> SafeString:
        """Say who placed it, and when."""
        return marks.row(
            (printable(hold.created_by_label), marks.sub(marks.moment(hold.created_at)))
        )

    # --- writes ----------------------------------------------------------------------------------

    def save_model(
        self, request: HttpRequest, obj: LegalHold, form: HoldForm, change: bool
    ) -> None:
        """Let the service place it."""
        obj.pk = holds.place(**by(request), values=form.sent()).pk
        obj.refresh_from_db()

    @admin.action(description=_("Lift"), permissions=("change",))
    def lift(self, request: HttpRequest, queryset: QuerySet[LegalHold]) -> None:
        """Lift the chosen holds, all or none."""
        with told(request), transaction.atomic():
            for hold in queryset:
                holds.lift(**by(request), hold=hold.pk)
            names = ", ".join(str(one) for one in queryset)
            messages.success(request, gettext("Lifted: %(names)s.") % {"names": names})


def _shown(name: str, value: Any) -> SafeString:
    """Return a member of a filter: a time as times are shown, anything else as written."""
    if name in TIMES.values():
        with suppress(TypeError, ValueError):
            return marks.moment(datetime.fromisoformat(value))
    return marks.code(value)
