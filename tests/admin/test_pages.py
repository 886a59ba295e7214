"""Every page of the admin opens, has one heading, and asks the database the same at any size."""

from datetime import timedelta

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from tests.admin.page_list import ADDED, MODELS, one_of
from tests.admin.pages import address, count_of, decide, text_of
from tests.factories import SYSTEM, make_layer, make_rule, make_user
from tests.registry.samples import imported, named
from toolpolicy.admin.sections import OTHER, PAGES, SECTIONS
from toolpolicy.models import (
    Document,
    PolicyState,
    PolicyVersion,
    Record,
    RefusalCount,
    RuleUsage,
    SessionTaint,
    ToolDeclaration,
)
from toolpolicy.services import clients, freezes, holds

pytestmark = pytest.mark.django_db

GROWING = tuple(model for model in MODELS if model not in ("policystate", "group"))


def fill(number: int) -> None:
    """Put one more of everything in."""
    layer = make_layer(f"layer {number}")
    make_rule(layer, match={"name": f"tool_{number}"})
    imported(named(f"tool_{number}"), family=f"family{number}")
    client, _ = clients.create(actor=SYSTEM, values={"name": f"client {number}"})
    freezes.freeze(
        actor=SYSTEM, values={"kind": "agent", "value": f"agent{number}", "reason": "a test"}
    )
    holds.place(actor=SYSTEM, values={"name": f"case {number}", "reason": "a test", "filter": {}})
    make_user(f"person{number}", groups=("author",))
    decide(f"tool_{number}")
    now = timezone.now()
    SessionTaint.objects.create(client=client, session=f"s{number}")
    RefusalCount.objects.create(address="192.0.2.7", minute=now + timedelta(number), status=401)


def test_every_registered_page_stands_in_a_section():
    placed = {name for section in SECTIONS.values() for name in section}
    registered = {str(model._meta.object_name) for model in admin.site._registry}
    assert registered | PAGES.keys() == placed
    assert {name.lower() for name in registered} == set(MODELS)


def test_the_navigation_has_our_sections_and_no_other(root):
    page = root.get(reverse("admin:index"))
    names = [section["name"] for section in page.context["app_list"]]
    assert names == list(SECTIONS)
    assert OTHER not in names


@pytest.mark.parametrize("model", MODELS)
def test_every_list_opens_empty(root, model):
    page = text_of(root.get(address(model)))
    assert count_of("h1", page) == 1


@pytest.mark.parametrize("model", MODELS)
def test_every_list_and_every_single_page_opens(root, model):
    fill(1)
    page = text_of(root.get(address(model)))
    assert count_of("h1", page) == 1
    assert "style=" not in page
    assert "<style" not in page
    single = text_of(root.get(address(model, "change", one_of(model))))
    assert count_of("h1", single) == 1
    assert "style=" not in single


@pytest.mark.parametrize("model", ADDED)
def test_every_add_page_opens(root, model):
    assert count_of("h1", text_of(root.get(address(model, "add")))) == 1


@pytest.mark.parametrize("model", GROWING)
def test_a_list_asks_the_same_number_of_queries_for_one_row_and_for_five(root, model):
    fill(1)
    root.get(address(model))  # permissions and content types are read once
    with CaptureQueriesContext(
        connection,
    ) as one:
        text_of(root.get(address(model)))
    for number in range(2, 6):
        fill(number)
    with CaptureQueriesContext(connection) as five:
        text_of(root.get(address(model)))
    assert len(five) == len(one)


def test_the_page_of_a_layer_asks_the_same_for_one_rule_and_for_five(root):
    layer = make_layer()
    make_rule(layer, match={"name": "tool_0"})
    page = address("layer", "change", layer.pk)
    root.get(page)
    with CaptureQueriesContext(connection) as one:
        text_of(root.get(page))
    for number in range(1, 5):
        make_rule(layer, match={"name": f"tool_{number}"})
    with CaptureQueriesContext(connection) as five:
        text_of(root.get(page))
    assert len(five) == len(one)


READ_ONLY = (
    *(Record, Document, PolicyVersion, PolicyState, RuleUsage, SessionTaint, RefusalCount),
    ToolDeclaration,
)


@pytest.mark.parametrize("model", READ_ONLY, ids=lambda model: model.__name__)
def test_nobody_adds_changes_or_deletes_what_is_only_shown(root, model):
    fill(1)
    name = model._meta.model_name
    row = model.objects.first()
    assert root.get(address(name, "add")).status_code == 403
    assert root.get(address(name, "delete", row.pk)).status_code == 403
    before = list(model.objects.values())
    assert root.post(address(name, "change", row.pk), {"_save": "1"}).status_code in (200, 403)
    assert list(model.objects.values()) == before


def test_the_page_of_an_application_leads_home(root):
    page = reverse("admin:app_list", args=("toolpolicy",))
    assert root.get(page)["Location"] == reverse("admin:index")


def test_what_is_not_there_and_what_is_not_allowed_look_like_the_rest(root):
    missing = root.get("/admin/nowhere/")
    assert missing.status_code == 404
    assert b"There is nothing here" in missing.content
    refused = root.get(address("record", "add"))
    assert b"You may not do this" in refused.content


def test_the_list_of_rules_is_searched_by_its_patterns(root):
    layer = make_layer()
    make_rule(layer, match={"name": "mail_*"})
    make_rule(layer, match={"name": "drop_table"})
    page = text_of(root.get(address("rule"), {"q": "drop_t"}))
    assert "drop_table" in page
    assert "mail_*" not in page


@pytest.mark.parametrize("query", ["outcome=x", "layer__id__exact=x", "q=%00", "p=99999", "o=9.9"])
def test_a_strange_address_is_no_error(root, query):
    response = root.get(f"{address('rule')}?{query}", follow=True)
    assert response.status_code in (200, 400)
