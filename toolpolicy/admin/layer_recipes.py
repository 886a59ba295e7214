"""Layers from recipes: six places where hosts restrict tools, each with a form and a preview."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext

from toolpolicy.admin.base import actor_of, by, framed
from toolpolicy.admin.once import lead_there, once, press_of, token_of
from toolpolicy.admin.policy_changes import LayerShown
from toolpolicy.admin.recipe_forms import RecipeForm
from toolpolicy.engine.recipe_options import RECIPES
from toolpolicy.models import Layer
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.policies import Imported
from toolpolicy.services.policy_files import add_recipe

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

View = Callable[..., HttpResponse]
NEEDED = ("toolpolicy.add_layer", "toolpolicy.add_rule")


def may_add(request: HttpRequest) -> bool:
    """Tell whether the person may add a layer with its rules."""
    return request.user.has_perms(NEEDED)


def recipes_view(page: "ModelAdmin[Layer]") -> View:
    """Return the page that lists the recipes."""

    def view(request: HttpRequest) -> HttpResponse:
        if not may_add(request):
            raise PermissionDenied
        shown = {"title": gettext("Start from a recipe"), "recipes": RECIPES.values()}
        return framed(page, request, "layer/recipes", **shown)

    return view


def recipe_view(page: "ModelAdmin[Layer]") -> View:
    """Return the page of one recipe: its form, then the layer that it makes, then adding it."""

    def view(request: HttpRequest, name: str) -> HttpResponse:
        if not may_add(request):
            raise PermissionDenied
        if name not in RECIPES:
            raise Http404
        recipe = RECIPES[name]
        sent = request.POST if request.method == "POST" else None
        form = RecipeForm(recipe, sent)
        context: dict[str, Any] = {"title": recipe.title, "recipe": recipe, "form": form}
        if sent is None or "back" in sent:
            return framed(page, request, "layer/recipe", **context)

        def act() -> HttpResponse:
            imported = _run(request, form, dry_run="sure" not in sent)
            if imported is not None and not imported.dry_run:
                return _done(request, imported)
            if imported is not None:
                context["layer"] = LayerShown.of(imported.changes[0]["after"])
                context["once"] = token_of(request)
                form.hide()
            return framed(page, request, "layer/recipe", **context)

        press = press_of(request, actor_of(request))
        return once(press, act, lambda led_to: lead_there(request, led_to))

    return view


def _run(request: HttpRequest, form: RecipeForm, *, dry_run: bool) -> Imported | None:
    """Add the layer, or find out what it would be. Every fault is put on its field."""
    if not form.is_valid():
        return None
    try:
        return add_recipe(**by(request), recipe=form.recipe, values=form.values(), dry_run=dry_run)
    except InvalidInput as refused:
        form.show(refused.faults)
    return None


def _done(request: HttpRequest, imported: Imported) -> HttpResponse:
    layer = Layer.objects.get(name=imported.changes[0]["layer"])
    said = gettext("The layer “%(name)s” was added and is live.")
    messages.success(request, said % {"name": layer.name})
    return HttpResponseRedirect(reverse("admin:toolpolicy_layer_change", args=(layer.pk,)))
