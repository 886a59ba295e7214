"""Freezes: stop something at once, and lift it again."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.base import Extra, ServicePage, by, told
from toolpolicy.admin.choosing import Lifted
from toolpolicy.admin.faults import MomentField, ServiceForm
from toolpolicy.engine.faults import printable
from toolpolicy.models import Freeze
from toolpolicy.models.choices import FreezeKind
from toolpolicy.services import freezes, usage


class FreezeForm(ServiceForm):
    """What to stop, why, and until when."""

    kind = forms.ChoiceField(
        choices=FreezeKind.choices,
        widget=forms.RadioSelect,
        initial=FreezeKind.AGENT,
        label=_("Stop"),
    )
    until = MomentField(label=_("Until (UTC)"), help_text=_("Empty: until somebody lifts it."))

    class Meta:
        model = Freeze
        fields = ("kind", "value", "reason", "until")
        widgets: ClassVar = {"reason": forms.Textarea({"rows": 2})}
        labels: ClassVar = {"value": _("Which one")}
        help_texts: ClassVar = {
            "value": _(
                "The whole name as calls have it, for example <code>research</code>. No patterns."
            ),
        }


@admin.register(Freeze)
class FreezePage(ServicePage):
    """Emergency stops."""

    lead = _(
        "A freeze refuses every call of what it names, whatever the rules say, from the next "
        "decision on."
    )
    form = FreezeForm
    save_word = pgettext_lazy("verb", "Freeze")
    stays = False
    fields = ("kind", "value", "reason", "until")
    list_display = ("what", "kind_shown", "standing", "why", "until_shown", "made")
    list_filter = ("kind", Lifted)
    search_fields = ("value", "reason", "created_by_label")
    search_help_text = _("Name, reason or who")
    sortable_by = ()
    actions = ("lift",)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Say no: a freeze is lifted, never edited; its record says what was stopped."""
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Show of a freeze that exists what became of it."""
        return (
            ("kind_shown", "what", "why", "until_shown", "standing", "made") if obj else self.fields
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Nothing of a freeze that exists can be changed."""
        return self.get_fields(request, obj) if obj else ()

    # --- columns ---------------------------------------------------------------------------------

    @admin.display(description=_("which one"), ordering="value")
    def what(self, freeze: Freeze) -> SafeString:
        """Name what is stopped."""
        return marks.code(freeze.value)

    @admin.display(description=_("reason"))
    def why(self, freeze: Freeze) -> str:
        """Say why."""
        return printable(freeze.reason)

    @admin.display(description=_("what"))
    def kind_shown(self, freeze: Freeze) -> SafeString:
        """Say what kind of thing is stopped."""
        return marks.tag(FreezeKind(freeze.kind).label)

    @admin.display(description=_("state"))
    def standing(self, freeze: Freeze) -> SafeString:
        """Tell a freeze that stands from one that is over."""
        if freeze.lifted_at is not None:
            return marks.row(
                (marks.tag(gettext("lifted")), marks.sub(marks.moment(freeze.lifted_at)))
            )
        if freeze.until is not None and freeze.until <= timezone.now():
            return marks.tag(gettext("run out"))
        return marks.tag(gettext("frozen"), shape="freeze", tone="deny")

    @admin.display(description=_("until"))
    def until_shown(self, freeze: Freeze) -> SafeString:
        """Say when it ends."""
        return marks.moment(freeze.until) or marks.sub(gettext("until it is lifted"))

    @admin.display(description=_("by"))
    def made(self, freeze: Freeze) -> SafeString:
        """Say who stopped it, and when."""
        return marks.row(
            (printable(freeze.created_by_label), marks.sub(marks.moment(freeze.created_at)))
        )

    # --- writes ----------------------------------------------------------------------------------

    def save_model(self, request: HttpRequest, obj: Freeze, form: FreezeForm, change: bool) -> None:
        """Let the service freeze."""
        obj.pk = freezes.freeze(**by(request), values=form.cleaned_data).pk
        obj.refresh_from_db()

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Extra = None
    ) -> HttpResponse:
        """Say how many decisions of the last days were about what another page names."""
        context = {"decided": _decided(request), **(extra_context or {})}
        return super().add_view(request, form_url, context)

    def response_add(self, request: HttpRequest, obj: Freeze, *args: Any) -> HttpResponse:
        """Go to where it can be lifted again: the record that it was made from, or its own page."""
        said = gettext("The %(kind)s “%(value)s” is frozen from the next decision on.")
        kind = FreezeKind(obj.kind).label
        messages.success(request, said % {"kind": kind, "value": printable(obj.value)})
        key = request.GET.get("record", "")
        if request.user.has_perm("toolpolicy.view_record") and key.isascii() and key.isdigit():
            address = reverse("admin:toolpolicy_record_change", args=(key,))
        else:
            address = reverse("admin:toolpolicy_freeze_change", args=(obj.pk,))
        return HttpResponseRedirect(address)

    @admin.action(description=_("Lift"), permissions=("change",))
    def lift(self, request: HttpRequest, queryset: QuerySet[Freeze]) -> None:
        """Lift the chosen freezes, all or none."""
        with told(request), transaction.atomic():
            for freeze in queryset:
                freezes.lift(**by(request), freeze=freeze.pk)
            names = ", ".join(str(one) for one in queryset)
            messages.success(request, gettext("Lifted: %(names)s.") % {"names": names})


def _decided(request: HttpRequest) -> int | None:
    """Count what was decided about the tool or family in the address; None for anything else."""
    kind, value = request.GET.get("kind", ""), request.GET.get("value", "")
    if kind not in (FreezeKind.TOOL, FreezeKind.FAMILY) or not value:
        return None
    counts = usage.tool_calls().items()
    return sum(n for (family, tool), n in counts if value == (tool if kind == "tool" else family))
