"""What records do not show of the arguments of all tools: one page."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.base import ServicePage, by
from toolpolicy.admin.faults import SEEN, VersionedForm
from toolpolicy.admin.masking_forms import FIELDS, MODES, MaskingForm, told
from toolpolicy.engine.masker import default_document
from toolpolicy.models import Masking
from toolpolicy.services import masking

MEMBERS: Final[Mapping[str, str]] = {
    "mask_mode": "mode",
    "mask_keys": "keys",
    "mask_pointers": "pointers",
}


class EverywhereForm(VersionedForm, MaskingForm):
    """The rules for all tools, with the built-in ones where nobody said otherwise."""

    member = "rules"
    mask_mode = forms.ChoiceField(choices=MODES, label=_("Arguments in records"))

    LINES = 14

    class Meta:
        model = Masking
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial[SEEN] = self.instance.version
        if "mask_keys" in self.fields:  # a reader has none
            self.fields["mask_keys"].widget.attrs["rows"] = self.LINES

    def held(self) -> Mapping[str, Any]:
        return default_document(self.instance.rules)

    def recorded_as(self) -> dict[str, str]:
        return {"object_label": "masking"}

    def changed_values(self) -> dict[str, Any]:
        """Return the members that differ from what is stored."""
        changed = [name for name in FIELDS if name in self.changed_data]
        return {MEMBERS[name]: self.cleaned_data[name] for name in changed}


@admin.register(Masking)
class MaskingPage(ServicePage):
    """The one row."""

    lead = _(
        "What records do not show of arguments. A family and a tool can say more, or otherwise."
    )
    form = EverywhereForm
    fields = FIELDS
    stays = False
    list_display = ("__str__", "shown")
    sortable_by = ()
    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Only show them to a reader."""
        return self.fields if self.has_change_permission(request, obj) else ("shown",)

    @admin.display(description=_("hidden in records"))
    def shown(self, row: Masking) -> SafeString:
        """Say what is hidden."""
        return told(default_document(row.rules))

    def save_model(
        self, request: HttpRequest, obj: Masking, form: EverywhereForm, change: bool
    ) -> None:
        """Let the service save what the form says."""
        masking.change(**by(request), version=form.seen(), rules=form.changed_values())
        obj.refresh_from_db()
