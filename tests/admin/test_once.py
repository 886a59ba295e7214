"""A form that makes something makes it once, however often its button is pressed."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from tests.admin import test_accounts, test_clients, test_freezes, test_layers, test_registry
from tests.admin.pages import address, signed_in, staff, superuser, text_of
from tests.admin.rule_form import NEW as RULE
from tests.admin.test_recipes import page_of
from tests.documents.faces import TOLD, as_fields
from tests.factories import make_layer
from toolpolicy.models import ApiClient, Freeze, Layer, Rule, SentForm, Tool, ToolFamily
from toolpolicy.services import clients

pytestmark = pytest.mark.django_db

TOKEN = re.compile(r'name="once" value="([^"]+)"')
KEYS = address("apiclient", "add")
TOOL = {"document": '{"name": "read"}', "overrides": "", "dispatcher": "", "privilege": ""}
FORMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "apiclient": (ApiClient, test_clients.NEW),
    "freeze": (Freeze, test_freezes.NEW),
    "layer": (Layer, test_layers.NEW),
    "toolfamily": (ToolFamily, test_registry.FAMILY),
    "user": (User, test_accounts.NEW),
    "group": (Group, {"name": "guests", "permissions": []}),
    "rule": (Rule, RULE),
    "tool": (Tool, TOOL),
}


def token_on(client, path):
    [token] = TOKEN.findall(text_of(client.get(path)))
    return token


def form_of(model):
    """Return the address of a form, and what is sent from it."""
    values = FORMS[model][1]
    path = address(model, "add")
    if model == "rule":
        path += f"?layer={make_layer().pk}"
    if model == "tool":
        values = {**values, "family": ToolFamily.objects.create(name="kit", kind="connector").pk}
    return path, {**values, "_save": "1"}


@pytest.mark.parametrize("model", FORMS)
def test_a_form_that_is_sent_twice_makes_one_and_leads_to_it_twice(root, model):
    path, values = form_of(model)
    values["once"] = token_on(root, path)
    before = FORMS[model][0].objects.count()
    first = root.post(path, values)
    again = root.post(path, values)
    assert (first.status_code, again.status_code) == (302, 302)
    assert again["Location"] == first["Location"]
    assert FORMS[model][0].objects.count() == before + 1
    if model != "apiclient":
        assert "It was done once." in text_of(root.get(again["Location"]))


def test_a_recipe_that_is_added_twice_makes_one_layer(root):
    path, values = page_of("user-toggles"), as_fields(TOLD["user-toggles"])
    preview = root.post(path, values)
    hidden = {field.name: field.value() or "" for field in preview.context["form"]}
    sent = {**hidden, "sure": "yes", "once": TOKEN.findall(text_of(preview))[0]}
    first = root.post(path, sent)
    assert root.post(path, sent)["Location"] == first["Location"]
    assert Layer.objects.count() == 1


def test_the_second_press_shows_the_one_key_that_was_made(root):
    values = {**test_clients.NEW, "once": token_on(root, KEYS)}
    first = root.post(KEYS, values)
    root.cookies.pop("toolpolicy_key")  # the browser dropped the answer to its first request
    page = text_of(root.post(KEYS, values, follow=True))
    [key] = set(test_clients.KEY.findall(page))
    assert clients.authenticate(key=key) == ApiClient.objects.get()
    assert first["Location"].endswith(f"/{ApiClient.objects.get().pk}/key/")


def test_after_a_minute_a_form_shows_its_key_to_nobody(root, monkeypatch):
    values = {**test_clients.NEW, "once": token_on(root, KEYS)}
    root.post(KEYS, values)
    root.cookies.pop("toolpolicy_key")
    late = timezone.now() + timedelta(seconds=61)
    monkeypatch.setattr(timezone, "now", lambda: late)
    page = text_of(root.post(KEYS, values, follow=True))
    assert not test_clients.KEY.search(page)
    assert "A key is shown once" in page
    assert ApiClient.objects.count() == 1


def test_other_values_other_people_and_a_fresh_page_make_another(root):
    values = {**test_clients.NEW, "once": token_on(root, KEYS)}
    root.post(KEYS, values)
    root.post(KEYS, {**values, "name": "another"})
    signed_in(superuser("mira")).post(KEYS, values)
    root.post(KEYS, {**values, "once": token_on(root, KEYS)})
    assert ApiClient.objects.count() == len({one.key_id for one in ApiClient.objects.all()}) == 4


def test_a_form_that_was_wrong_is_mended_and_sent_again_from_the_same_page(root):
    values = {**test_freezes.NEW, "reason": "", "once": token_on(root, address("freeze", "add"))}
    wrong = text_of(root.post(address("freeze", "add"), values))
    assert TOKEN.findall(wrong) == [values["once"]]
    assert not SentForm.objects.exists()
    assert root.post(address("freeze", "add"), values).status_code == 200
    right = {**values, "reason": "posting loop"}
    assert root.post(address("freeze", "add"), right).status_code == 302
    assert Freeze.objects.count() == 1


def test_what_was_sent_is_forgotten_after_a_day(root):
    root.post(KEYS, {**test_clients.NEW, "once": "a"})
    SentForm.objects.update(at=timezone.now() - timedelta(hours=25))
    root.post(KEYS, {**test_clients.NEW, "once": "b"})
    assert SentForm.objects.count() == 1


def test_who_may_not_make_it_leaves_nothing_behind(db):
    reader = signed_in(staff("rita", permissions=("view_apiclient",)))
    assert reader.post(KEYS, {**test_clients.NEW, "once": "a"}).status_code == 403
    assert not SentForm.objects.exists()
