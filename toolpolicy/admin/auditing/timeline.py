"""The timeline: the form that names a thing, and what the log says of it, day by day."""

from collections.abc import Iterator
from datetime import date
from itertools import groupby
from typing import Any, Final

from django import forms
from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from toolpolicy.models import Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.services.timeline import About, narrow

SIZE: Final = 100
LABELS: Final = {
    About.TOOL: _("a tool"),
    About.FAMILY: _("a tool family"),
    About.LAYER: _("a layer"),
    About.RULE: _("a rule"),
    About.AGENT: _("an agent"),
    About.CHANNEL: _("a channel"),
    About.SESSION: _("a session"),
    About.PERSON: _("a person"),
}


class TimelineForm(forms.Form):
    """What the timeline is about."""

    about = forms.ChoiceField(label=_("Everything about"), choices=list(LABELS.items()))
    name = forms.CharField(label=_("Its name"), max_length=400)
    done = forms.BooleanField(label=_("only what people did"), required=False)
    before = forms.IntegerField(
        required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput
    )

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data if data.get("name") else None, label_suffix="")
        self.fields["about"].initial = data.get("about")


def timeline(data: QueryDict) -> dict[str, Any]:
    """Return the form, a page of records by day and the address of the next. Two queries."""
    form = TimelineForm(data)
    shown: dict[str, Any] = {"form": form}
    if not form.is_valid():
        return shown
    asked = form.cleaned_data
    records = narrow(
        Record.objects.newest_first(),
        About(asked["about"]),
        asked["name"].strip(),
        only_done=asked["done"],
    )
    if asked["before"]:
        records = records.filter(pk__lt=asked["before"])
    rows = list(records[: SIZE + 1])
    page = rows[:SIZE]
    here = {"about": asked["about"], "name": asked["name"]} | (
        {"done": "on"} if asked["done"] else {}
    )
    older = f"?{urlencode({**here, 'before': page[-1].pk})}" if len(rows) > SIZE else ""
    return {**shown, "days": list(_days(page)), "older": older, "found": bool(page)}


def _days(records: list[Record]) -> Iterator[tuple[date, list[tuple[Record, str]]]]:
    for day, some in groupby(records, key=lambda record: record.at.date()):
        yield day, [(record, said(record)) for record in some]


def said(record: Record) -> str:
    """Say in one line what a record tells, without what callers sent."""
    if record.kind == RecordKind.LISTING:
        return record.object_label
    if record.outcome:
        return record.tool or record.object_label
    return record.object_label or record.rule or record.layer
