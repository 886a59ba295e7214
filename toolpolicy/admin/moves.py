"""Moving layers and rules up and down: buttons that post, without script."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from toolpolicy.admin.base import by, told
from toolpolicy.admin.marks import icon
from toolpolicy.admin.stale import told_of
from toolpolicy.engine.faults import printable
from toolpolicy.models import Layer
from toolpolicy.services import policies

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

View = Callable[..., HttpResponse]
STEPS = {"up": -1, "down": 1}


def buttons(what: str, key: int, name: str, address: str, end: Collection[str] = ()) -> SafeString:
    """Return two buttons for the form that they stand in; what they send is the row's key.

    Their ids let the next page start where this one was. `end` names the directions in which there
    is no further place: such a button is said to be off but keeps the focus.
    """
    both = [
        format_html(
            '<button class="tp-btn is-quiet is-icon" id="{0}-{1}-{2}" formaction="{3}" '
            'formmethod="post" name="{2}" value="{1}" aria-label="{4}"{6}>{5}</button>',
            what,
            key,
            direction,
            address,
            said % {"name": printable(name)},
            icon(direction),
            SafeString(' aria-disabled="true"' if direction in end else ""),
        )
        for direction, said in (
            ("up", gettext("Move %(name)s up")),
            ("down", gettext("Move %(name)s down")),
        )
    ]
    return format_html('<span class="tp-row">{}{}</span>', *both)


def moved(keys: Sequence[int], key: int, step: int) -> list[int]:
    """Return the keys with `key` one step further; at the end it stays.

    >>> moved([1, 2, 3], 3, -1), moved([1, 2, 3], 3, 1)
    ([1, 3, 2], [1, 2, 3])
    """
    order = list(keys)
    place = order.index(key)
    order.insert(max(0, min(len(order) - 1, place + step)), order.pop(place))
    return order


def _direction(request: HttpRequest) -> str:
    return "up" if "up" in request.POST else "down"


def move_layer(page: "ModelAdmin[Layer]") -> View:
    """Return the view that moves a layer inside its scope: a step, or to `place`, from 0.

    `version` is that of the policy as the page showed it.
    """

    @require_POST
    def view(request: HttpRequest, pk: int) -> HttpResponse:
        layer = get_object_or_404(Layer, pk=pk)
        if not page.has_change_permission(request):
            raise PermissionDenied
        same = Layer.objects.filter(scope=layer.scope).in_order().values_list("pk", flat=True)
        order = _wanted(request, list(same), pk)
        with told(request):
            policies.reorder_layers(
                **by(request),
                scope=layer.scope,
                version=read_number(request.POST.get("version", "")),
                order=order,
            )
            said = gettext("“%(name)s” is now %(place)s of %(all)s in the scope %(scope)s.")
            place = {"place": order.index(pk) + 1, "all": len(order), "scope": layer.scope}
            messages.success(request, said % {"name": printable(layer.name), **place})
        query = f"?{request.GET.urlencode()}" if request.GET else ""
        address = reverse("admin:toolpolicy_layer_changelist") + query
        return HttpResponseRedirect(f"{address}#layer-{pk}-{_direction(request)}")

    return view


def _wanted(request: HttpRequest, keys: Sequence[int], key: int) -> list[int]:
    """Return the keys as the person wants them: `key` at `place`, else one step further."""
    if "place" not in request.POST:
        return moved(keys, key, STEPS[_direction(request)])
    return moved(keys, key, read_number(request.POST["place"]) - keys.index(key))


def move_rule(page: "ModelAdmin[Layer]") -> View:
    """Return the view that moves a rule inside its layer: a step, or to `place`, from 0.

    A button's value is the rule's key; for a `place`, `rule` is.
    """

    @require_POST
    def view(request: HttpRequest, pk: int) -> HttpResponse:
        layer = get_object_or_404(Layer, pk=pk)
        if not page.has_change_permission(request, layer):
            raise PermissionDenied
        direction = _direction(request)
        rules = dict(layer.rules.in_order().values_list("pk", "rule_id"))
        key = read_number(request.POST.get("rule", request.POST.get(direction, "")))
        if key not in rules:
            messages.error(request, gettext("This rule is gone: somebody deleted it meanwhile."))
            return HttpResponseRedirect(page_of(request, layer))
        order = _wanted(request, list(rules), key)
        with told_of(request, layer):
            policies.reorder_rules(
                **by(request),
                layer=pk,
                version=read_number(request.POST.get("version", "")),
                order=order,
            )
            said = gettext("The rule %(name)s is now %(place)s of %(all)s.")
            place = {"place": order.index(key) + 1, "all": len(order)}
            messages.success(request, said % {"name": rules[key], **place})
        return HttpResponseRedirect(f"{page_of(request, layer)}#rule-{key}-{direction}")

    return view


def page_of(request: HttpRequest, layer: Layer) -> str:
    """Return the address of a layer's page, with the part of its rules that was shown."""
    back = QueryDict(request.POST.get("back", "")).urlencode()
    address = reverse("admin:toolpolicy_layer_change", args=(layer.pk,))
    return f"{address}?{back}" if back else address


def read_number(text: str) -> int:
    """Return a number that was sent; 0 for what is none."""
    return int(text) if text.isascii() and text.isdigit() else 0
