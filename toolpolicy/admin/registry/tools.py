"""Tools: what each says of itself, what is laid over it, and its state."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, QuerySet
from django.forms import Media
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.base import Extra, ServicePage, by, told
from toolpolicy.admin.choosing import Vanished
from toolpolicy.admin.masking_forms import FIELDS as MASKING
from toolpolicy.admin.registry.columns import ToolColumns
from toolpolicy.admin.registry.detail import context_of
from toolpolicy.admin.registry.importing import import_view
from toolpolicy.admin.registry.labelling import label
from toolpolicy.admin.registry.listing import (
    ByGroup,
    ByPermission,
    ByTag,
    ByTouch,
    ToolList,
)
from toolpolicy.admin.registry.picking import SHOWN, ByPick, drop, take
from toolpolicy.admin.registry.reviewing import ask, seen_declarations
from toolpolicy.admin.registry.tool_forms import NewToolForm, ToolForm
from toolpolicy.admin.words import english, filled
from toolpolicy.models import Tool
from toolpolicy.services import registry


@admin.register(Tool)
class ToolPage(ToolColumns, ServicePage):
    """Every registered tool."""

    lead = _("What a registered tool is. Decisions go by this, whatever a caller says about it.")
    form = ToolForm
    list_display = (
        *("name_shown", "family", "permission", "hints", "labels", "state_shown"),
        *("rules", "calls"),
    )
    list_filter = ("state", "family", ByPermission, ByTag, ByGroup, ByTouch, Vanished, ByPick)
    list_select_related = ("family", "current")
    search_fields = ("name", "title", "family__name")
    search_help_text = _("Name, title or family")
    ordering = ("family__name", "name")
    sortable_by = ()
    actions = ("label", "review", "quarantine", "retire")
    actions_selection_counter = False
    readonly_fields = (
        *("name", "family", "title", "state_shown", "permission", "labels", "sources"),
        *("seen", "declaration", "changes", "declared"),
    )

    @property
    def media(self) -> Media:
        """Load none of Django's scripts: `picking.js` counts what is ticked on all pages."""
        return Media()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tool]:
        """Read family and declaration along: every column and field looks at them."""
        found: QuerySet[Tool] = super().get_queryset(request)
        return found.select_related("family", "current")

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Tool | None:
        """Note whether the person may follow the link to the declaration."""
        tool: Tool | None = super().get_object(request, *args, **kwargs)
        if tool is not None:
            may = request.user.has_perm("toolpolicy.view_tooldeclaration")
            vars(tool)["declarations_open"] = may
        return tool

    def get_form(
        self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        """Ask for a whole declaration where the tool is new."""
        own = {} if obj else {"form": NewToolForm}
        return super().get_form(request, obj, change, **{**own, **kwargs})

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Show what is declared only where something is."""
        return super().get_readonly_fields(request, obj) if obj else ()

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Part what the tool says from what is laid over it."""
        laid: tuple[str, ...] = ("overrides", "dispatcher", "privilege", *MASKING)
        if obj is not None and not self.has_change_permission(request, obj):
            laid = ("overriding", "dispatching", "raising", "masked")
        if obj is None:
            return (
                (None, {"fields": ("family", "document")}),
                (gettext("Laid over it"), {"fields": laid}),
            )
        return (
            (None, {"fields": ("name", "family", "title", "state_shown", "seen")}),
            (gettext("What it is judged as"), {"fields": ("permission", "labels", "sources")}),
            (gettext("Laid over what it declares"), {"fields": laid}),
            (gettext("What it declares"), {"fields": ("declaration", "changes", "declared")}),
        )

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        """Add the import page."""
        view = self.admin_site.admin_view(import_view(self))
        return [path("import/", view, name="toolpolicy_tool_import"), *super().get_urls()]

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[ToolList]:
        """Count rules and calls for the tools of a page, all at once."""
        return ToolList

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        """Leave out what is counted of things that somebody may not see."""
        hidden = set()
        if not request.user.has_perm("toolpolicy.view_rule"):
            hidden.add("rules")
        if not request.user.has_perm("toolpolicy.view_ruleusage"):
            hidden.add("calls")
        return tuple(name for name in self.list_display if name not in hidden)

    def get_list_filter(self, request: HttpRequest) -> Any:
        """Leave out the filter by rules where somebody may not see them."""
        shown = request.user.has_perm("toolpolicy.view_rule")
        return [one for one in self.list_filter if shown or one is not ByTouch]

    def changelist_view(self, request: HttpRequest, extra_context: Extra = None) -> HttpResponse:
        """Keep what is ticked, on whatever page, before anything else is done."""
        if request.method == "POST" and SHOWN in request.POST:
            if not self.has_change_permission(request):
                raise PermissionDenied
            answer = take(request)
            if answer is not None:
                return answer
        return super().changelist_view(request, extra_context)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show beside the form what touches the tool and what it declared."""
        context.update(context_of(request, kwargs.get("obj")))
        return super().render_change_form(request, context, *args, **kwargs)

    # --- writes ----------------------------------------------------------------------------------

    def save_model(self, request: HttpRequest, obj: Tool, form: Any, change: bool) -> None:
        """Let the service save what the form says."""
        if change:
            registry.update_tool(
                **by(request),
                family=obj.family.name,
                name=obj.name,
                version=form.seen(),
                laid=form.changed_values(),
            )
        else:
            obj.pk = registry.declare_tool(**by(request), **form.declaration()).pk
        obj.refresh_from_db()
        for warning in registry.warnings_about(obj):
            said = filled(gettext("Warning: %(what)s"), what=english(f"{warning}."))
            messages.warning(request, said)

    @admin.action(description=_("Tag and group…"), permissions=("change",))
    def label(self, request: HttpRequest, queryset: QuerySet[Tool]) -> HttpResponse | None:
        """Tag and group the chosen tools, after a look at what that changes."""
        return label(self, request, queryset)

    @admin.action(description=_("Mark as reviewed"), permissions=("change",))
    def review(self, request: HttpRequest, queryset: QuerySet[Tool]) -> HttpResponse | None:
        """Say that the declarations of the chosen tools were read and are good; show them first."""
        seen = seen_declarations(request, queryset)
        if seen is None:
            return ask(self, request, queryset)
        self._each(
            request,
            queryset,
            lambda tool, who: registry.review_tool(**who, declaration=seen[tool.pk]),
            gettext("Reviewed and active: %(names)s."),
        )
        return None

    @admin.action(description=_("Quarantine"), permissions=("change",))
    def quarantine(self, request: HttpRequest, queryset: QuerySet[Tool]) -> None:
        """Refuse every use of the chosen tools until they are reviewed."""
        act = registry.quarantine_tool
        self._each(request, queryset, lambda _, who: act(**who), gettext("Quarantined: %(names)s."))

    @admin.action(description=_("Retire"), permissions=("change",))
    def retire(self, request: HttpRequest, queryset: QuerySet[Tool]) -> None:
        """Refuse every use of the chosen tools, which have had their time."""
        act = registry.retire_tool
        self._each(request, queryset, lambda _, who: act(**who), gettext("Retired: %(names)s."))

    def _each(
        self,
        request: HttpRequest,
        tools: QuerySet[Tool],
        act: Callable[[Tool, dict[str, Any]], Tool],
        done: str,
    ) -> None:
        """Do something to all chosen tools or to none."""
        with told(request), transaction.atomic():
            for tool in tools:
                act(tool, {**by(request), "family": tool.family.name, "name": tool.name})
            drop(request, tools)
            names = ", ".join(tool.name for tool in tools)
            messages.success(request, done % {"names": names})

    def response_add(self, request: HttpRequest, obj: Tool, *args: Any) -> HttpResponse:
        """Show the new tool: its declaration is there to be read."""
        messages.success(request, gettext("The tool %(name)s is registered.") % {"name": obj.name})
        return HttpResponseRedirect(reverse("admin:toolpolicy_tool_change", args=(obj.pk,)))
