"""Layers from recipes in the admin: chosen, told, previewed, added."""

import pytest

from tests.admin.pages import address, text_of
from tests.documents.faces import TOLD, as_fields
from tests.factories import live_version, make_layer
from toolpolicy.admin.recipe_forms import RecipeForm
from toolpolicy.engine.recipe_options import RECIPES
from toolpolicy.models import Layer, Record

pytestmark = pytest.mark.django_db


def page_of(name: str) -> str:
    return address("layer", "recipe", name)


def test_the_list_of_layers_leads_to_every_recipe(root):
    assert address("layer", "recipes") in text_of(root.get(address("layer")))
    page = text_of(root.get(address("layer", "recipes")))
    for name, recipe in RECIPES.items():
        assert page_of(name) in page
        assert recipe.title in page
        assert recipe.title in text_of(root.get(page_of(name)))


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_shown_before_it_is_added(root, name):
    sent = as_fields(TOLD[name])
    preview = root.post(page_of(name), sent)
    shown = text_of(preview)
    assert "Nothing is added yet" in shown
    assert not Layer.objects.exists()
    layer, hidden = preview.context["layer"], preview.context["form"]
    assert all(field.is_hidden for field in hidden)
    again = {field.name: field.value() or "" for field in hidden}
    done = root.post(page_of(name), {**again, "sure": "yes"}, follow=True)
    added = Layer.objects.get()
    assert done.redirect_chain[0][0] == address("layer", "change", added.pk)
    assert f"The layer “{added.name}” was added and is live." in text_of(done)
    assert added.name == layer.name
    assert [rule.rule_id for rule, _ in layer.rules] == [
        rule.rule_id for rule in added.rules.in_order()
    ]
    assert Record.objects.newest_first()[0].actor_label == "root"


def test_the_preview_says_the_layer_in_words(root):
    page = text_of(root.post(page_of("agent-allowlist"), as_fields(TOLD["agent-allowlist"])))
    assert "<h2>agent coder-*: allowlist</h2>" in page
    assert "Otherwise deny" in page
    assert "tools named <code>read_*</code> or <code>git_*</code>" in page
    page = text_of(root.post(page_of("channel-ceiling"), as_fields(TOLD["channel-ceiling"])))
    assert "“this channel is for tools up to ReadOnly”" in page


def test_the_way_back_from_the_preview_loses_nothing(root):
    sent = as_fields(TOLD["user-toggles"])
    page = root.post(page_of("user-toggles"), {**sent, "back": "yes"})
    form = page.context["form"]
    assert {name: form[name].value() for name in sent} == sent
    assert not any(field.is_hidden for field in form)
    assert "No opinion" in text_of(page)


@pytest.mark.parametrize(
    ("name", "changes", "field", "words"),
    [
        ("agent-allowlist", {"agent": ""}, "agent", "required"),
        ("agent-allowlist", {"allow": " \n"}, "allow", "required"),
        ("agent-allowlist", {"agent": "a" * 200}, "agent", "at most 200 characters"),
        ("agent-allowlist", {"deny": "a" * 1_025}, "deny", "longer than 1024"),
        ("agent-allowlist", {"deny": "a\nb\n" * 501}, "deny", "at most 1000 are read"),
        ("channel-ceiling", {"level": ""}, "level", "required"),
        ("channel-ceiling", {"level": "Dangerous"}, "level", "not one of the available"),
        ("server-filter", {"allow": "", "deny": ""}, "allow", "Name at least one tool"),
        ("user-toggles", {"on": "", "off": "", "ask": ""}, "on", "Name at least one tool"),
        ("user-toggles", {"ask": "mail\n"}, "off", "“mail” stands twice"),
        ("user-toggles", {"off": "a" * 1_025}, "off", "longer than 1024 characters"),
        ("approval-allowlist", {"allow": "taken"}, "__all__", "has a layer `approval allowlist`"),
    ],
)
@pytest.mark.parametrize("step", [{}, {"sure": "yes"}], ids=["preview", "add"])
def test_a_fault_stands_on_its_field_and_nothing_is_lost(root, name, changes, field, words, step):
    make_layer("approval allowlist")
    sent = {**as_fields(TOLD[name]), **changes}
    page = root.post(page_of(name), {**sent, **step})
    text = text_of(page)
    form = page.context["form"]
    assert list(form.errors) == [field]
    assert words in form.errors[field][0]
    assert "Nothing was added." in text
    assert "<title>Error: " in text
    assert {one: form[one].value() for one in sent} == sent
    assert not any(one.is_hidden for one in form)
    assert live_version().number == 1


def test_a_name_that_no_recipe_has_is_no_page(root):
    assert root.get(page_of("omelette")).status_code == 404


@pytest.mark.parametrize("layers", [1, 5])
def test_a_recipes_page_asks_the_database_the_same_at_any_size(
    root, layers, django_assert_num_queries
):
    for number in range(layers):
        make_layer(f"layer {number}")
    session, user = 1, 1
    with django_assert_num_queries(session + user):
        root.get(page_of("agent-allowlist"))


def test_every_option_of_every_recipe_has_a_field():
    for name, recipe in RECIPES.items():
        assert as_fields(TOLD[name]).keys() <= RecipeForm(recipe).fields.keys()
