"""Tool families: where tools come from, and whether their word is believed."""

from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks, masking_forms
from toolpolicy.admin.base import ServicePage, by
from toolpolicy.admin.faults import SEEN, VersionedForm
from toolpolicy.admin.masking_forms import MaskingForm
from toolpolicy.admin.registry.exporting import export_view
from toolpolicy.models import ToolFamily
from toolpolicy.models.choices import FamilyKind
from toolpolicy.services import registry

MEMBERS: Final = ("name", "kind", "prefix", "trusted", "description")


class FamilyForm(VersionedForm, MaskingForm):
    """One family."""

    class Meta:
        model = ToolFamily
        fields = MEMBERS
        widgets: ClassVar = {"description": forms.Textarea({"rows": 2})}
        labels: ClassVar = {"trusted": _("Trusted: its loosening hints are believed")}
        help_texts: ClassVar = {
            "name": _("Rules match it as <code>family</code>. Fixed once the family exists."),
            "kind": _("Fixed once the family has tools."),
            "prefix": _(
                "Put before each name on import, for example <code>mcp__github__</code>. "
                "Fixed once the family has tools."
            ),
            "trusted": _(
                "Otherwise it counts as unknown when its tools call themselves read-only, "
                "repeatable, not destructive, or not reaching outside."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial[SEEN] = self.instance.version

    def recorded_as(self) -> dict[str, str]:
        return {"family": self.instance.name, "tool": ""}

    def new_values(self) -> dict[str, Any]:
        """Return the members of a new family."""
        values = self.values(name for name in MEMBERS if name in self.cleaned_data)
        return {**values, **self.masking_changed()}

    def changed_values(self) -> dict[str, Any]:
        """Return the members that differ from what is stored."""
        values = self.values(name for name in self.changed_data if name in MEMBERS)
        return {**values, **self.masking_changed()}


@admin.register(ToolFamily)
class FamilyPage(ServicePage):
    """Every family."""

    lead = _("Where tools come from. Importing a server’s tool list makes its family as well.")
    form = FamilyForm
    fields = (*MEMBERS, *masking_forms.FIELDS)
    list_display = ("name", "kind_shown", "prefix_shown", "trust", "tools_held")
    list_filter = ("kind", "trusted")
    search_fields = ("name", "prefix", "description")
    search_help_text = _("Name, prefix or description")
    sortable_by = ("name",)
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[ToolFamily]:
        """Add the number of tools: one query, however many families."""
        found: QuerySet[ToolFamily] = super().get_queryset(request)
        return found.annotate(tools_count=Count("tools"))

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Only show it to a reader."""
        if obj is not None and not self.has_change_permission(request, obj):
            return (
                *("name", "kind_shown", "prefix_shown", "trust", "tools_held", "description"),
                "masked",
            )
        return self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Keep the name as it is: rules are written for it."""
        return ("name",) if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        """Add the download of a family's tools."""
        view = self.admin_site.admin_view(export_view(self))
        return [
            path("<int:pk>/export/", view, name="toolpolicy_toolfamily_export"),
            *super().get_urls(),
        ]

    # --- columns ---------------------------------------------------------------------------------

    @admin.display(description=_("kind"))
    def kind_shown(self, family: ToolFamily) -> SafeString:
        """Say where its tools come from."""
        return marks.tag(FamilyKind(family.kind).label)

    @admin.display(description=_("prefix"))
    def prefix_shown(self, family: ToolFamily) -> SafeString:
        """Show its prefix."""
        return marks.code(family.prefix) if family.prefix else SafeString("")

    @admin.display(description=_("trust"))
    def trust(self, family: ToolFamily) -> SafeString:
        """Say whether its loosening hints are believed."""
        if family.trusted:
            return marks.tag(gettext("trusted"), shape="yes")
        return marks.tag(gettext("not trusted"), shape="warn", tone="ask")

    @admin.display(description=_("tools"))
    def tools_held(self, family: ToolFamily) -> str:
        """Count its tools."""
        count = vars(family)["tools_count"]
        return ngettext("%(count)s tool", "%(count)s tools", count) % {"count": count}

    @admin.display(description=_("hidden in records"))
    def masked(self, family: ToolFamily) -> SafeString:
        """Say what records hide of its tools' arguments."""
        return masking_forms.told(family.masking)

    # --- writes ----------------------------------------------------------------------------------

    def save_model(
        self, request: HttpRequest, obj: ToolFamily, form: FamilyForm, change: bool
    ) -> None:
        """Let the service save what the form says."""
        if change:
            registry.update_family(
                **by(request), name=obj.name, version=form.seen(), values=form.changed_values()
            )
        else:
            obj.pk = registry.create_family(**by(request), values=form.new_values()).pk
        obj.refresh_from_db()
