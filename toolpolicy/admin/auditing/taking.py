"""Taking evidence away: the form that says which records and how, and the files."""

from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.base import by
from toolpolicy.admin.faults import MomentField
from toolpolicy.admin.record_marks import outcomes
from toolpolicy.models.choices import RecordKind
from toolpolicy.services.errors import InvalidInput, ServiceError
from toolpolicy.services.evidence import verifier
from toolpolicy.services.evidence.exports import Asked, Form, begin
from toolpolicy.services.record_filters import RecordFilter, parse

FORMS: Final = {
    Form.BUNDLE: _("a bundle that proves itself (JSON Lines)"),
    Form.PACKED: _("the same, packed (gzip)"),
    Form.TABLE: _("a table to read (CSV)"),
}
EQUAL: Final = ("kind", "outcome", "tool", "agent", "session", "rule", "uid")


class TakingForm(forms.Form):
    """Which records; nothing filled in stands for all of them. `offered` is what one may take."""

    since = MomentField(label=_("From (UTC)"))
    until = MomentField(label=_("Until (UTC)"))
    kind = forms.ChoiceField(
        label=_("Kind"), required=False, choices=(("", _("Any")), *RecordKind.choices)
    )
    outcome = forms.ChoiceField(label=_("Outcome"), required=False, choices=outcomes())
    tool = forms.CharField(label=_("Tool"), required=False)
    agent = forms.CharField(label=_("Agent"), required=False)
    session = forms.CharField(label=_("Session"), required=False)
    rule = forms.CharField(label=_("Rule"), required=False)
    uid = forms.UUIDField(label=_("Record id"), required=False)
    complete = forms.BooleanField(
        label=_("prove that nothing was left out (larger)"), required=False
    )
    empty = forms.BooleanField(label=_("take the file without records"), required=False)

    # Whether to ask if a file without records is wanted all the same.
    found_nothing = False

    def __init__(self, offered: Sequence[Form], data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        self.fields["form"] = forms.ChoiceField(
            label=_("As"), choices=[(str(one), FORMS[one]) for one in offered]
        )
        self.offered = offered
        if not self.proves:
            del self.fields["complete"]

    @property
    def proves(self) -> bool:
        """Whether bundles are offered."""
        return Form.BUNDLE in self.offered

    def asked(self) -> Asked:
        """Return what is asked for. Raise ValidationError beside the form."""
        given = self.cleaned_data
        equal = {name: str(given[name]) for name in EQUAL if given[name]}
        try:
            wanted: RecordFilter = parse(equal)
            return Asked(
                wanted=RecordFilter(equal=wanted.equal, since=given["since"], until=given["until"]),
                form=Form(given["form"]),
                complete=given.get("complete", False),
            )
        except InvalidInput as error:
            raise ValidationError([capfirst(fault.message) for fault in error.faults]) from error

    def clean(self) -> dict[str, Any]:
        """Judge the fields together."""
        if self.errors:
            return self.cleaned_data
        asked = self.cleaned_data["asked"] = self.asked()
        if not self.cleaned_data["empty"] and asked.finds_nothing:
            self.found_nothing = True
            raise ValidationError(_("No record is as you ask, so the file would hold none."))
        return self.cleaned_data


def taken(request: HttpRequest, form: TakingForm) -> StreamingHttpResponse | None:
    """Return the file that a good form asks for; None when a service refuses, which it says."""
    try:
        export = begin(asked=form.cleaned_data["asked"], **by(request))
    except ServiceError as refused:
        for fault in refused.faults:
            form.add_error(None, capfirst(fault.message))
        return None
    file = content_disposition_header(as_attachment=True, filename=export.name)
    headers = {"Content-Disposition": str(file), "Cache-Control": "no-store"}
    # The response closes the export, also when the reader goes away.
    return StreamingHttpResponse(export, content_type=export.content_type, headers=headers)


def verifying_program() -> HttpResponse:
    """Return the program that checks bundles, as a file."""
    file = content_disposition_header(as_attachment=True, filename=verifier.NAME)
    headers = {"Content-Disposition": str(file)}
    return HttpResponse(
        verifier.source(), content_type="text/x-python; charset=utf-8", headers=headers
    )
