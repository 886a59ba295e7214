"""Which period, and which moment. What is chosen stands in the address."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from django import forms
from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.faults import MomentField, sentence
from toolpolicy.engine.faults import printable
from toolpolicy.engine.reading import time_text
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.evidence.periods import NAMED, Period, read_moment, read_period
from toolpolicy.services.evidence.standings import PLACES

PERIODS: Final = {
    "this_month": _("This month"),
    "last_month": _("Last month"),
    "last_quarter": _("Last quarter"),
}
FIELDS: Final = {"/from": "since", "/to": "until"}
# REST calls them so; both are understood here.
OTHER_NAMES: Final = {"from": "since", "to": "until"}


class AskedForm(forms.Form):
    """What an address asks. A name that it does not know is said: it may have been meant."""

    def __init__(self, data: Mapping[str, Any], asked: Iterable[str]) -> None:
        super().__init__(data, label_suffix="")
        self.unknown = sorted(set(asked) - set(self.fields))

    def clean(self) -> dict[str, Any]:
        """Refuse names that are not known."""
        for name in self.unknown:
            known = ", ".join(self.fields)
            said = _("“%(name)s” is not known here. Known are: %(known)s.")
            self.add_error(None, said % {"name": printable(name[:100]), "known": known})
        return super().clean() or {}


class PeriodForm(AskedForm):
    """A named period, or days of one's own, which go before."""

    period = forms.ChoiceField(
        required=False, label=_("Period"), choices=[*PERIODS.items(), ("", _("Own days"))]
    )
    since = forms.DateField(
        required=False, label=_("First day (UTC)"), widget=forms.DateInput({"type": "date"})
    )
    until = forms.DateField(
        required=False, label=_("Last day (UTC)"), widget=forms.DateInput({"type": "date"})
    )

    def __init__(self, data: QueryDict, now: datetime) -> None:
        self.now = now
        asked = {OTHER_NAMES.get(name, name): text for name, text in data.items()}
        given = {name: asked.get(name, "") for name in self.base_fields}
        if given["since"] or given["until"]:
            given["period"] = ""
        elif not given["period"]:
            given["period"] = "this_month"
        super().__init__(given, asked)

    def clean(self) -> dict[str, Any]:
        """Find the period that is meant."""
        cleaned = super().clean()
        if self.errors:
            return cleaned
        name = cleaned["period"]
        since, until = (cleaned[one].isoformat() if cleaned[one] else "" for one in FIELDS.values())
        try:
            cleaned["found"] = (
                NAMED[name](self.now) if name else read_period(since, until, now=self.now)
            )
        except InvalidInput as refused:
            for fault in refused.faults:
                self.add_error(FIELDS.get(fault.pointer), sentence(fault, fault.pointer))
        return cleaned

    @property
    def found(self) -> Period:
        """The period; this month while the form is wrong."""
        found: Period = self.cleaned_data.get("found") or NAMED["this_month"](self.now)
        return found

    @property
    def query(self) -> str:
        """The same period as an address names it."""
        return f"?{urlencode({name: text for name, text in self.data.items() if text})}"


class MomentForm(AskedForm):
    """Who, when, and against which other moment."""

    agent = forms.CharField(required=False, max_length=200, label=_("Agent"))
    channel = forms.CharField(required=False, max_length=200, label=_("Channel"))
    session = forms.CharField(required=False, max_length=200, label=_("Session"))
    on = MomentField(label=_("On (UTC)"))
    against = MomentField(label=_("Compared with (UTC)"))
    q = forms.CharField(required=False, max_length=200, label=_("Tools"))

    def __init__(self, data: QueryDict, now: datetime) -> None:
        self.now = now
        super().__init__(data, data)
        self.fields["agent"].widget.attrs["list"] = "known-agents"

    def clean_on(self) -> datetime:
        """Return the moment; now where none is named."""
        return self._moment("on") or self.now

    def clean_against(self) -> datetime | None:
        """Return the other moment, if any."""
        return self._moment("against")

    def _moment(self, name: str) -> datetime | None:
        given = self.cleaned_data[name]
        if given is None:
            return None
        try:
            return read_moment(time_text(given), now=self.now)
        except InvalidInput as refused:
            raise forms.ValidationError([sentence(one, "/on") for one in refused.faults]) from None

    @property
    def context(self) -> dict[str, str]:
        """Who asks, as a call says it."""
        return {place: self.cleaned_data[place] for place in PLACES if self.cleaned_data[place]}

    def wants(self, tool: tuple[str, str]) -> bool:
        """Tell whether a tool is among those asked for."""
        words = self.cleaned_data["q"].lower().split()
        text = "/".join(tool).lower()
        return all(word in text for word in words)
