"""The timeline: the form that names a thing, and what the log says of it, day by day."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any, Final

from django import forms
from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import record_marks
from toolpolicy.models import Record
from toolpolicy.services.summaries import summaries
from toolpolicy.services.timeline import ASKED, About, narrow

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A record as a line: what it is, what was asked or done, and the rule that decided."""

    record: Record
    what: SafeString
    said: str
    done: str
    decided_by: str

    @classmethod
    def of(cls, record: Record, done: str) -> "Row":
        """Return the line, without what callers sent; of an act, in words what was done."""
        asked = record.kind in ASKED
        name = record.tool if asked else ""
        return cls(
            record=record,
            what=record_marks.what(record),
            said=name or record.object_label or record.rule or record.layer,
            done=done,
            decided_by=f"{record.layer} / {record.rule}" if asked and record.rule else "",
        )


def timeline(data: QueryDict) -> dict[str, Any]:
    """Return the form, a page of records by day and the address of the next. Four queries."""
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


def _days(records: list[Record]) -> Iterator[tuple[date, list[Row]]]:
    done = summaries(records)
    for day, some in groupby(records, key=lambda record: record.at.date()):
        yield day, [Row.of(record, done.get(record.pk, "")) for record in some]
