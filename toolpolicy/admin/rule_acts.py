"""What a button beside a rule does on its layer's page: each is one change by the service."""

from typing import TYPE_CHECKING, Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from toolpolicy.admin.base import by
from toolpolicy.admin.moves import View, page_of, read_number
from toolpolicy.admin.stale import told_of
from toolpolicy.admin.words import Words, filled
from toolpolicy.models import Layer, Rule
from toolpolicy.services import layer_rules, policies

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

# What a button changes, and what is said of it afterwards.
SWITCHES: Final[dict[str, tuple[dict[str, Any], Words]]] = {
    "enable": ({"enabled": True}, _("The rule %(name)s is switched on.")),
    "disable": (
        {"enabled": False},
        _("The rule %(name)s is switched off: nothing is decided by it."),
    ),
    "observe": (
        {"observe": True},
        _("The rule %(name)s only observes: what it would do is recorded."),
    ),
    "enforce": ({"observe": False}, _("The rule %(name)s is enforced.")),
}
DUPLICATE: Final = "duplicate"


def rule_act(page: "ModelAdmin[Layer]") -> View:
    """Return the view of these buttons; a button's name is the act, its value the rule's key."""

    @require_POST
    def view(request: HttpRequest, pk: int) -> HttpResponse:
        layer = get_object_or_404(Layer, pk=pk)
        act = next((name for name in (*SWITCHES, DUPLICATE) if name in request.POST), "")
        needed = "add_rule" if act == DUPLICATE else "change_rule"
        allowed = request.user.has_perm(f"toolpolicy.{needed}")
        if not allowed or not page.has_change_permission(request, layer):
            raise PermissionDenied
        key = read_number(request.POST.get(act, ""))
        rule = Rule.objects.filter(layer=layer, pk=key).first()
        if rule is None:
            messages.error(request, gettext("This rule is gone: somebody deleted it meanwhile."))
            return HttpResponseRedirect(page_of(request, layer))
        return _copied(request, layer, rule) if act == DUPLICATE else _switched(request, rule, act)

    return view


def _switched(request: HttpRequest, rule: Rule, act: str) -> HttpResponse:
    values, said = SWITCHES[act]
    version = read_number(request.POST.get("version", ""))
    with told_of(request, rule.layer):
        policies.update_rule(**by(request), rule=rule.pk, version=version, values=values)
        messages.success(request, filled(said, name=rule.rule_id))
    return HttpResponseRedirect(f"{page_of(request, rule.layer)}#rule-{rule.pk}-more")


def _copied(request: HttpRequest, layer: Layer, rule: Rule) -> HttpResponse:
    """Make the copy and open it: it is there to be changed."""
    version = read_number(request.POST.get("version", ""))
    with told_of(request, layer):
        saved = layer_rules.duplicate(**by(request), rule=rule.pk, version=version)
        if saved.rule is not None:
            said = gettext("This is a copy of %(name)s, right behind it. It changes no answer yet.")
            messages.success(request, said % {"name": rule.rule_id})
            address = reverse("admin:toolpolicy_rule_change", args=(saved.rule.pk,))
            return HttpResponseRedirect(address)
    return HttpResponseRedirect(f"{page_of(request, layer)}#rule-{rule.pk}-more")
