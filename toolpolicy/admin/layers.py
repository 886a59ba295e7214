"""Layers: the list in the order in which they apply, and a layer's page with its rules."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import (
    layer_recipes,
    layer_rules,
    layer_stack,
    layer_transfer,
    marks,
    moves,
    rule_acts,
)
from toolpolicy.admin.base import Extra, ServicePage, by, seen_version
from toolpolicy.admin.faults import last_change
from toolpolicy.admin.layer_forms import LayerForm
from toolpolicy.admin.layer_words import kind_of, otherwise_of, reach_of
from toolpolicy.admin.words import filled
from toolpolicy.models import Layer
from toolpolicy.models.choices import Combining, Scope
from toolpolicy.services import policies
from toolpolicy.services.baseline import BASELINE_NAMES

IDENTITY = ("name", "description")
REACH = ("scope", "target")
STRICT_ONLY = ("default", "fail_safe")
SWITCHES = ("enabled", "observe")
TIMES = ("valid_from", "valid_until")
APPLIES_TO_NONE = _(
    "The layer applies to no call yet: say under “Which ones” whose calls it is about."
)
READ = ((None, {"fields": ("reach", "kind", "otherwise", "waives", "span", "version_seen")}),)


def may_change(request: HttpRequest, layer: Model | None) -> bool:
    """Tell whether the layer is no baseline layer, or the person may change those (SPEC §6)."""
    if not isinstance(layer, Layer) or layer.name not in BASELINE_NAMES:
        return True
    return request.user.has_perm("toolpolicy.change_baseline")


class LayerList(ChangeList):
    """Layers as they apply: no other order of them says anything."""

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Layer]) -> list[Any]:
        """Sort by scope, weakest first, then position."""
        return ["rank", "position", "name"]


def _narrowed(listed: ChangeList) -> bool:
    """Tell whether the list leaves layers out."""
    return bool(listed.query or listed.filter_params or listed.multi_page)


@admin.register(Layer)
class LayerPage(ServicePage):
    """Layers, weakest first."""

    lead = _(
        "Weakest first. A call must pass every strict layer, and a strict deny is final. The "
        "ordered layers together form one list: the last rule that matches decides."
    )
    form = LayerForm
    list_display = ("name",)  # the page draws them as a stack, see layer_stack
    list_per_page = 200
    list_filter = ("scope", "combining", "enabled", "observe")
    search_fields = ("name", "description")
    search_help_text = _("Name or description")
    sortable_by = ()
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Layer]:
        """Add the number of rules: one query, however many layers."""
        return Layer.objects.ranked().annotate(rules_count=Count("rules"))

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[LayerList]:
        """List layers as they apply."""
        return LayerList

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Leave out what a layer of its combining does not have; only show it to a reader."""
        if obj is not None and not self.has_change_permission(request, obj):
            return READ
        ordered = isinstance(obj, Layer) and obj.combining == Combining.LAST_MATCH
        rules = () if ordered else STRICT_ONLY
        kind = () if obj else ("combining",)
        return (
            (None, {"fields": IDENTITY}),
            (_("Who it applies to"), {"fields": REACH}),
            (_("How its rules combine"), {"fields": (*kind, *rules, "may_waive_approval")}),
            (_("When it applies"), {"fields": (*SWITCHES, TIMES)}),
        )

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_change_permission(request, obj) and may_change(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_delete_permission(request, obj) and may_change(request, obj)

    # --- columns ---------------------------------------------------------------------------------

    @admin.display(description=_("applies"))
    def reach(self, layer: Layer) -> str:
        """Say where the layer applies."""
        return reach_of(layer)

    @admin.display(description=_("kind"))
    def kind(self, layer: Layer) -> SafeString:
        """Tell the two combinings apart, and show what is unusual."""
        return kind_of(layer)

    @admin.display(description=_("otherwise"))
    def otherwise(self, layer: Layer) -> SafeString:
        """Say what holds when no rule of the layer decides."""
        return otherwise_of(layer)

    @admin.display(description=_("version"))
    def version_seen(self, layer: Layer) -> SafeString:
        """Show how often the layer changed."""
        return marks.sub(gettext("version %(number)s") % {"number": layer.version})

    @admin.display(description=_("may spare the approval"))
    def waives(self, layer: Layer) -> str:
        """Say whether its rules may approve calls."""
        return gettext("yes") if layer.may_waive_approval else gettext("no")

    @admin.display(description=_("time"))
    def span(self, layer: Layer) -> str:
        """Say from when until when it applies."""
        start = marks.moment(layer.valid_from) or gettext("any time")
        end = marks.moment(layer.valid_until) or gettext("further notice")
        return filled(gettext("from %(start)s until %(end)s"), start=start, end=end)

    # --- pages -----------------------------------------------------------------------------------

    def changelist_view(self, request: HttpRequest, extra_context: Extra = None) -> HttpResponse:
        """Offer the other ways to layers to those who may take them."""
        offered = {
            "may_add": layer_recipes.may_add(request),
            "may_import": layer_transfer.may_import(request),
        }
        response = super().changelist_view(request, {**offered, **(extra_context or {})})
        if isinstance(response, TemplateResponse) and response.context_data is not None:
            listed = response.context_data["cl"]
            stack = layer_stack.context(listed.result_list, narrowed=_narrowed(listed))
            response.context_data |= {
                **stack,
                "may_move": self.has_change_permission(request),
                "query": f"?{request.GET.urlencode()}" if request.GET else "",
            }
        return response

    def get_urls(self) -> list[URLPattern]:
        """Add the other ways to layers, and the addresses that the move buttons post to."""
        view = self.admin_site.admin_view
        exporting, importing = layer_transfer.export_view(self), layer_transfer.import_view(self)
        return [
            path("export/", view(exporting), name="toolpolicy_layer_export"),
            path("import/", view(importing), name="toolpolicy_layer_import"),
            path(
                "recipes/", view(layer_recipes.recipes_view(self)), name="toolpolicy_layer_recipes"
            ),
            path(
                "recipes/<slug:name>/",
                view(layer_recipes.recipe_view(self)),
                name="toolpolicy_layer_recipe",
            ),
            path("<int:pk>/move/", view(moves.move_layer(self)), name="toolpolicy_layer_move"),
            path(
                "<int:pk>/move-rule/",
                view(moves.move_rule(self)),
                name="toolpolicy_layer_move_rule",
            ),
            path(
                "<int:pk>/rule-act/",
                view(rule_acts.rule_act(self)),
                name="toolpolicy_layer_rule_act",
            ),
            *super().get_urls(),
        ]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show the layer's rules, each as a sentence, beside its settings."""
        layer = kwargs.get("obj")
        if isinstance(layer, Layer):
            context |= layer_rules.listed(request, layer)
            context["last_change"] = last_change({"layer": layer.name})
            context["facts"] = (kind_of(layer), reach_of(layer), otherwise_of(layer))
            context["may_reorder"] = self.has_change_permission(request, layer)
            for name, held in (("may_add_rule", "add_rule"), ("may_change_rule", "change_rule")):
                may = request.user.has_perm(f"toolpolicy.{held}")
                context[name] = context["may_reorder"] and may
        return super().render_change_form(request, context, *args, **kwargs)

    # --- writes ----------------------------------------------------------------------------------

    def save_model(self, request: HttpRequest, obj: Layer, form: LayerForm, change: bool) -> None:
        """Let the service save what the form says."""
        if change:
            policies.update_layer(
                **by(request), layer=obj.pk, version=form.seen(), values=form.changed_values()
            )
            obj.refresh_from_db()
        else:
            saved = policies.create_layer(**by(request), values=form.new_values())
            if saved.layer is not None:
                obj.pk = saved.layer.pk
                obj.refresh_from_db()
        if obj.scope != Scope.CONFIG and not obj.target:
            messages.warning(request, APPLIES_TO_NONE)

    def delete_model(self, request: HttpRequest, obj: Layer) -> None:
        policies.delete_layer(
            **by(request), layer=obj.pk, version=seen_version(request, obj.version)
        )
