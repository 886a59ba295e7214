"""The form of a layer."""

from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.faults import SEEN, LinesField, MomentField, VersionedForm
from toolpolicy.models import Layer
from toolpolicy.models.choices import Combining, Default, Scope

WAIVES = (
    ("", _("As usual: layers for every call may, others may not")),
    ("yes", _("Yes")),
    ("no", _("No")),
)

MEMBERS = (
    *("name", "description", "scope", "target", "combining", "default", "fail_safe"),
    *("may_waive_approval", "enabled", "observe", "valid_from", "valid_until"),
)


class LayerForm(VersionedForm):
    """Everything about a layer but its rules and its place."""

    scope = forms.ChoiceField(
        choices=(
            (Scope.CONFIG, _("Every call")),
            (Scope.AGENT, _("Calls of some agents")),
            (Scope.CHANNEL, _("Calls that come from some channels")),
            (Scope.SESSION, _("Calls in some sessions")),
        ),
        widget=forms.RadioSelect({"class": "tp-options"}),
        initial=Scope.CONFIG,
        label=_("Applies to"),
    )
    target = LinesField(
        label=_("Which ones"),
        help_text=_(
            "One pattern a line, for example <code>support-*</code>. <code>*</code> stands "
            "for any run of characters, <code>?</code> for one. A layer for every call has none; "
            "any other layer needs one, or it applies to no call."
        ),
    )
    combining = forms.ChoiceField(
        choices=(
            (Combining.DENY_OVERRIDES, _("Strict: the order does not matter, a deny always wins")),
            (Combining.LAST_MATCH, _("Ordered: one list of on, ask and off, the last match wins")),
        ),
        widget=forms.RadioSelect({"class": "tp-options"}),
        initial=Combining.DENY_OVERRIDES,
        label=_("Kind"),
        help_text=_("Fixed once the layer exists."),
    )
    default = forms.ChoiceField(
        choices=((Default.ALLOW, _("Allow")), (Default.DENY, _("Deny: only what a rule allows"))),
        widget=forms.RadioSelect,
        initial=Default.ALLOW,
        required=False,
        label=_("When no rule decides"),
        help_text=_("Strict layers only."),
    )
    may_waive_approval = forms.ChoiceField(
        choices=WAIVES,
        required=False,
        label=_("May spare the approval"),
        help_text=_(
            "Whether its rules may let a call pass without the approval that it would need."
        ),
    )
    valid_from = MomentField(label=_("From (UTC)"), help_text=_("Empty: at once."))
    valid_until = MomentField(
        label=_("Until (UTC)"), help_text=_("The first moment at which it no longer applies.")
    )

    class Meta:
        model = Layer
        fields = MEMBERS
        widgets = {"description": forms.Textarea({"rows": 2})}  # noqa: RUF012  (Django's form)
        labels = {  # noqa: RUF012
            "fail_safe": _("Fail-safe: what cannot be read counts against the call"),
            "enabled": _("Switched on"),
            "observe": _("Only observe: record what it would change, enforce nothing"),
        }
        help_texts = {  # noqa: RUF012
            "name": _("Shown in refusals, for example <code>house rules</code>."),
            "fail_safe": _("Strict layers only."),
            "description": _("What it is for, in a line."),
            "observe": "",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = self.instance
        if stored.pk is None:
            return
        self.initial[SEEN] = stored.version
        self.initial["may_waive_approval"] = "yes" if stored.may_waive_approval else "no"
        self.initial["target"] = _lines(stored.target)
        for name in ("default", "fail_safe"):
            if name in self.fields:
                self.fields[name].help_text = ""  # the page of an ordered layer has neither
        if "may_waive_approval" in self.fields:
            cast("forms.ChoiceField", self.fields["may_waive_approval"]).choices = WAIVES[1:]

    def clean(self) -> dict[str, Any]:
        """Say nothing of what the kind or scope does not have."""
        values = super().clean() or self.cleaned_data
        if values.get("scope") == Scope.CONFIG and not values.get("target"):
            values["target"] = None
        if values.get("combining") == Combining.LAST_MATCH:
            values["default"], values["fail_safe"] = "", False
        return values

    def recorded_as(self) -> dict[str, str]:
        return {"layer": cast("Layer", self.instance).name}

    def new_values(self) -> dict[str, Any]:
        """Return the members of a new layer."""
        return self._told(MEMBERS)

    def changed_values(self) -> dict[str, Any]:
        """Return the members that differ from what is stored."""
        changed = [name for name in self.changed_data if name in MEMBERS]
        if "scope" in changed and "target" not in changed:
            changed.append("target")
        return self._told(changed)

    def _told(self, names: Any) -> dict[str, Any]:
        values = self.values(name for name in names if name in self.cleaned_data)
        waives = values.pop("may_waive_approval", "")
        return values | ({"may_waive_approval": waives == "yes"} if waives else {})


def _lines(target: Any) -> list[str]:
    if target is None:
        return []
    return target if isinstance(target, list) else [target]
