"""The form of a new API key."""

from typing import Any, ClassVar, cast

from django import forms
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.faults import MomentField, ServiceForm, WireField
from toolpolicy.conf import conf
from toolpolicy.models import ApiClient
from toolpolicy.models.choices import KeyScope

MEMBERS = ("name", "scopes", "pinned_context", "expires_at")


class ClientForm(ServiceForm):
    """A new key. `unending` is asked for: a key without an end is the exception.

    `offered` are the scopes that the person can give.
    """

    offered: ClassVar[frozenset[KeyScope]] = frozenset(KeyScope)
    scopes = forms.MultipleChoiceField(
        choices=KeyScope.choices,
        widget=forms.CheckboxSelectMultiple({"class": "is-columns is-wide"}),
        initial=[KeyScope.DECIDE],
        label=_("It may"),
    )
    pinned_context = WireField(
        nothing={},
        rows=3,
        label=_("Bound to a context"),
        help_text=_(
            "Values that it must send and may not change. For example "
            '<code>{"agent": "support-bot"}</code>. Empty: it may speak for anybody.'
        ),
    )
    expires_at = MomentField(label=_("Expires (UTC)"))
    unending = forms.BooleanField(required=False, label=_("Never expires"))

    class Meta:
        model = ApiClient
        fields = MEMBERS
        help_texts: ClassVar = {
            "name": _("The application that it is for, for example <code>helpdesk-prod</code>.")
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "scopes" in self.fields:
            # With the name by which errors and the API call it.
            words = '<span>{} <code translate="no">{}</code></span>'
            choices = [(one.value, format_html(words, one.label, one.value)) for one in KeyScope]
            cast("forms.MultipleChoiceField", self.fields["scopes"]).choices = choices
        if "expires_at" in self.fields:
            days = conf().default_key_days
            said = ngettext("Empty: in %(days)s day.", "Empty: in %(days)s days.", days)
            self.fields["expires_at"].help_text = said % {"days": days}
        if "scopes" in self.fields and self.offered != frozenset(KeyScope):
            scopes = cast("forms.MultipleChoiceField", self.fields["scopes"])
            scopes.choices = [(one.value, one.label) for one in KeyScope if one in self.offered]
            scopes.help_text = gettext("A key can be given only what you may do yourself.")

    def clean(self) -> dict[str, Any]:
        """Refuse an end for what never ends."""
        values = super().clean() or self.cleaned_data
        if values.get("unending") and values.get("expires_at"):
            self.add_error("unending", gettext("Choose one: an end, or none."))
        return values

    def new_values(self) -> dict[str, Any]:
        """Return the members of the new client."""
        values = self.values(MEMBERS)
        if values["expires_at"] is None and not self.cleaned_data["unending"]:
            del values["expires_at"]
        return values
