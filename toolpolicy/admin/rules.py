"""Rules: the list of all of them, and the page of one. A rule is added from its layer's page."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.base import Extra, ServicePage, by, seen_version
from toolpolicy.admin.faults import last_change, sentence
from toolpolicy.admin.layer_rules import page_with
from toolpolicy.admin.layers import may_change
from toolpolicy.admin.rule_forms import NO_MATCH, PREVIEW, SHOW, SURFACES, RuleForm
from toolpolicy.admin.rule_layout import laid_out
from toolpolicy.admin.rule_members import SINGLE
from toolpolicy.admin.rule_prefill import prefill
from toolpolicy.admin.rule_preview import shown
from toolpolicy.admin.rule_words import observes, state_of, words_of
from toolpolicy.models import Layer, Rule
from toolpolicy.services import policies, preview, seen, wording
from toolpolicy.services.errors import InvalidInput

# What script asks for again while somebody types.
PARTS = {
    "live": "admin/toolpolicy/rule/live.html",
    "body": "admin/toolpolicy/rule/body.html",
}
_LEFT = "toolpolicy_layer_left"
READ = (
    (None, {"fields": ("effect_shown", "reason", "asks", "matches", "carves_out", "context")}),
    (None, {"fields": ("standing", "meant_for", "answered_by")}),
)


@admin.register(Rule)
class RulePage(ServicePage):
    """Every rule, as a sentence."""

    lead = _("Every rule of every layer. Rules are added, and put in order, on their layer’s page.")
    form = RuleForm
    list_display = ("rule_id", "effect_shown", "words", "layer_link", "state")
    list_filter = ("layer", "effect", "enabled", "observe")
    list_select_related = ("layer",)
    search_fields = ("rule_id", "reason", "match_text", "layer__name")
    search_help_text = _("Name, reason, pattern or layer")
    ordering = ("layer__name", "position")
    sortable_by = ("rule_id",)

    # --- columns ---------------------------------------------------------------------------------

    @admin.display(description=_("effect"))
    def effect_shown(self, rule: Rule) -> SafeString:
        """Show the effect as word, shape and colour."""
        return marks.effect_pill(rule.effect, observing=observes(rule))

    @admin.display(description=_("rule"))
    def words(self, rule: Rule) -> SafeString:
        """Say the rule, and the reason that it gives."""
        return words_of(rule)

    @admin.display(description=_("layer"), ordering="layer__name")
    def layer_link(self, rule: Rule) -> SafeString:
        """Lead to the layer."""
        address = reverse("admin:toolpolicy_layer_change", args=(rule.layer_id,))
        return format_html('<a href="{}">{}</a>', address, rule.layer.name)

    @admin.display(description=_("state"))
    def state(self, rule: Rule) -> SafeString:
        """Show what keeps the rule from simply applying."""
        return state_of(rule)

    # --- what a reader sees ----------------------------------------------------------------------

    @admin.display(description=_("when the app"))
    def asks(self, rule: Rule) -> str:
        """Say on which surfaces it counts."""
        return ", ".join(str(SURFACES[one]) for one in rule.surfaces) or gettext("asks anything")

    @admin.display(description=_("which tools"))
    def matches(self, rule: Rule) -> SafeString:
        """Show the match."""
        return marks.laid_out(rule.match, gettext("Which tools"))

    @admin.display(description=_("except"))
    def carves_out(self, rule: Rule) -> SafeString:
        """Show the exception."""
        return marks.laid_out(rule.except_match, gettext("Except"))

    @admin.display(description=_("only when"))
    def context(self, rule: Rule) -> SafeString:
        """Show the context that it wants."""
        return marks.laid_out(rule.when, gettext("Only when"))

    @admin.display(description=_("state"))
    def standing(self, rule: Rule) -> SafeString | str:
        """Say whether it is in force."""
        return state_of(rule) or gettext("in force")

    @admin.display(description=_("examples"))
    def meant_for(self, rule: Rule) -> SafeString:
        """Show the examples."""
        return marks.laid_out(rule.examples, gettext("Examples"))

    @admin.display(description=_("approval options"))
    def answered_by(self, rule: Rule) -> SafeString:
        """Show the approval options."""
        return marks.laid_out(rule.approval, gettext("Approval options"))

    # --- pages -----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Rule]:
        """Read the layer along: the form and every permission look at it."""
        found: QuerySet[Rule] = super().get_queryset(request)
        return found.select_related("layer").annotate(match_text=Cast("match", TextField()))

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Only show it to a reader. The form knows itself which other fields it has."""
        if obj is not None and not self.has_change_permission(request, obj):
            return READ
        return ((None, {"fields": (*SINGLE, "shown_as", "json")}),)

    def get_form(
        self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any
    ) -> type[Any]:
        """Tell the form of a new rule which layer it is for, and what another page filled in."""
        form: type[Any] = super().get_form(request, obj, change, **kwargs)
        form.layer = obj.layer if isinstance(obj, Rule) else asked_layer(request)
        form.prefill = {} if isinstance(obj, Rule) or request.POST else prefill(request)
        return form

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Extra = None,
    ) -> HttpResponse:
        """Show the form, or save it. What is only previewed takes no lock and no transaction."""
        if {PREVIEW, SHOW}.isdisjoint(request.POST):
            return super().changeform_view(request, object_id, form_url, extra_context)
        shows: HttpResponse = self._changeform_view(  # type: ignore[attr-defined]
            request, object_id, form_url, extra_context
        )
        return shows

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Extra = None
    ) -> HttpResponse:
        """Add a rule to the layer in the address; without one, go and choose it."""
        layer = asked_layer(request)
        if layer is None:
            said = gettext("Open the layer that the rule is for, and add it there.")
            messages.info(request, said)
            return HttpResponseRedirect(reverse("admin:toolpolicy_layer_changelist"))
        if not may_change(request, layer):
            raise PermissionDenied
        return super().add_view(request, form_url, {"layer": layer, **(extra_context or {})})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show the fields, and beside them what saving them would do; a reader, the words."""
        rule, form = kwargs.get("obj"), context["adminform"].form
        if isinstance(rule, Rule):
            context |= {"layer": rule.layer, "rule": rule, "sentence": wording.sentence_of(rule)}
        if isinstance(form, RuleForm) and "shown_as" in form.fields:
            context |= editing(form)
            context["errors"] = context["errors"] or list(form.errors)
        part = request.POST.get("_part")
        if part in PARTS:
            return TemplateResponse(request, PARTS[part], context)
        if isinstance(rule, Rule):
            of_layer = {"layer": rule.layer.name}
            context["last_change"] = last_change({**of_layer, "rule": rule.rule_id})
            context["layer_change"] = None if context["last_change"] else last_change(of_layer)
        return super().render_change_form(request, context, *args, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        held = super().has_change_permission(request, obj)
        return held and (not isinstance(obj, Rule) or may_change(request, obj.layer))

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        held = super().has_delete_permission(request, obj)
        return held and (not isinstance(obj, Rule) or may_change(request, obj.layer))

    # --- writes ----------------------------------------------------------------------------------

    def save_model(self, request: HttpRequest, obj: Rule, form: RuleForm, change: bool) -> None:
        """Let the service save what the form says."""
        if change:
            policies.update_rule(
                **by(request), rule=obj.pk, version=form.seen(), values=form.changed_values()
            )
        else:
            saved = policies.create_rule(
                **by(request), layer=form.home().pk, values=form.new_values()
            )
            obj.pk = saved.rule.pk if saved.rule else None
        obj.refresh_from_db()

    def delete_model(self, request: HttpRequest, obj: Rule) -> None:
        version = seen_version(request, obj.layer.version)
        policies.delete_rule(**by(request), rule=obj.pk, version=version)
        vars(request)[_LEFT] = obj.layer_id

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Rule]) -> None:
        """Delete all of them or none; each deletion makes its layer one version newer."""
        for rule in queryset:
            rule.layer.refresh_from_db(fields=("version",))
            self.delete_model(request, rule)

    def response_add(self, request: HttpRequest, obj: Rule, *args: Any) -> HttpResponse:
        """Go back to the layer, unless more is to be done here."""
        return self._to_layer(request, obj) or super().response_add(request, obj, *args)

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        """Go back to the layer that it was deleted from."""
        super().response_delete(request, obj_display, obj_id)  # says that it is gone
        layer = vars(request)[_LEFT]
        return HttpResponseRedirect(reverse("admin:toolpolicy_layer_change", args=(layer,)))

    def response_change(self, request: HttpRequest, obj: Rule) -> HttpResponse:
        """Go back to the layer, unless more is to be done here."""
        return self._to_layer(request, obj) or super().response_change(request, obj)

    def _to_layer(self, request: HttpRequest, rule: Rule) -> HttpResponse | None:
        if "_save" not in request.POST:
            return None
        said = gettext("The rule %(name)s was saved and is live.")
        messages.success(request, said % {"name": rule.rule_id})
        address = reverse("admin:toolpolicy_layer_change", args=(rule.layer_id,))
        return HttpResponseRedirect(f"{address}{page_with(rule)}#rule-{rule.pk}")


def editing(form: RuleForm) -> dict[str, Any]:
    """Return the fields of a rule as they stand, and a preview of what they say if they can be."""
    keys = seen.keys()
    found: dict[str, Any] = {"keys": [key for key in keys if key.isprintable()]}
    if not form.is_bound or not form.errors:
        layer, rule = form.home(), form.instance if form.instance.pk else None
        values = form.changed_values() if rule else form.new_values()
        found["as_json"] = form.as_json()
        found["lacks"] = NO_MATCH if form.lacks_match() else ""
        try:
            made = preview.of_rule(layer=layer, rule=rule, values=values, now=timezone.now())
        except InvalidInput as refused:
            found["faults"] = [sentence(fault) for fault in refused.faults]
            if form.is_bound:
                form.show(refused)
        else:
            found["live"] = shown(made)
    return {**found, "laid": laid_out(form)}


def asked_layer(request: HttpRequest) -> Layer | None:
    """Return the layer that a new rule is for, as the address says."""
    key = request.GET.get("layer", "")
    return Layer.objects.filter(pk=int(key)).first() if key.isascii() and key.isdigit() else None
