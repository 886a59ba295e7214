"""The pages on which somebody says what records do not show."""

import json

import pytest

from tests.admin.pages import address, errors, form_values, signed_in, staff, text_of
from tests.live import register
from toolpolicy.engine.secret_names import DEFAULT_SECRETS
from toolpolicy.models import Masking, Record, Tool, ToolFamily

pytestmark = pytest.mark.django_db

PAGE = ("masking", "change", 1)


@pytest.fixture
def kit(db):
    register("kit", {"name": "send"})


def last():
    return json.loads(Record.objects.filter(kind="change").latest("pk").body.text)


def test_the_page_for_all_tools_shows_the_built_in_keys_and_stores_what_is_changed(root):
    page = root.get(address(*PAGE))
    assert page.context["adminform"].form["mask_keys"].value().split() == list(DEFAULT_SECRETS)
    sent = form_values(page, mask_pointers="/card\n/list/*/pin", _save="1")
    assert root.post(address(*PAGE), sent).status_code == 302
    assert Masking.objects.get().rules == {"pointers": ["/card", "/list/*/pin"]}
    sent = form_values(root.get(address(*PAGE)), mask_keys="iban", mask_mode="digest", _save="1")
    root.post(address(*PAGE), sent)
    rules = {"pointers": ["/card", "/list/*/pin"], "keys": ["iban"], "mode": "digest"}
    assert Masking.objects.get().rules == rules
    assert (last()["action"], last()["after"]) == ("change_masking", rules)


def test_wrong_rules_come_back_on_their_field(root, kit):
    sent = form_values(root.get(address(*PAGE)), mask_keys="ok\n…", mask_pointers="x", _save="1")
    response = root.post(address(*PAGE), sent)
    assert set(errors(response)) == {"mask_keys", "mask_pointers"}
    for model, row in (("tool", Tool.objects.get()), ("toolfamily", ToolFamily.objects.get())):
        page = address(model, "change", row.pk)
        response = root.post(page, form_values(root.get(page), mask_pointers="x", _save="1"))
        assert set(errors(response)) == {"mask_pointers"}


def test_a_change_that_somebody_else_made_meanwhile_is_told(root):
    old = form_values(root.get(address(*PAGE)), mask_keys="a", _save="1")
    root.post(address(*PAGE), form_values(root.get(address(*PAGE)), mask_keys="b", _save="1"))
    page = text_of(root.post(address(*PAGE), old))
    assert "root changed this since you opened it" in page


@pytest.mark.parametrize("model", ["tool", "toolfamily"])
def test_a_family_and_a_tool_have_rules_of_their_own(root, kit, model):
    row = Tool.objects.get() if model == "tool" else ToolFamily.objects.get()
    page = address(model, "change", row.pk)
    sent = form_values(root.get(page), mask_mode="masked", mask_keys="ssn", _save="1")
    assert root.post(page, sent).status_code == 302
    row.refresh_from_db()
    assert row.masking == {"mode": "masked", "keys": ["ssn"]}
    sent = form_values(root.get(page), mask_mode="", mask_keys="", _save="1")
    root.post(page, sent)
    row.refresh_from_db()
    assert row.masking == {}


def test_a_new_family_and_a_new_tool_can_have_rules(root, kit):
    sent = {"name": "crm", "kind": "toolpack", "trusted": "on", "mask_keys": "vat"}
    root.post(address("toolfamily", "add"), sent)
    family = ToolFamily.objects.get(name="crm")
    assert family.masking == {"keys": ["vat"]}
    sent = {"family": str(family.pk), "document": '{"name": "add"}', "mask_mode": "digest"}
    root.post(address("tool", "add"), sent)
    assert Tool.objects.get(name="add").masking == {"mode": "digest"}


def test_a_reader_is_told_what_is_hidden_and_changes_nothing(root, kit):
    for model, row in (("tool", Tool.objects.get()), ("toolfamily", ToolFamily.objects.get())):
        page = address(model, "change", row.pk)
        root.post(page, form_values(root.get(page), mask_keys="ssn", _save="1"))
    auditor = signed_in(staff("ada", groups=("auditor",)))
    for model, key in (
        ("tool", Tool.objects.get().pk),
        ("toolfamily", ToolFamily.objects.get().pk),
    ):
        assert "<code>ssn</code>" in text_of(auditor.get(address(model, "change", key)))
    page = text_of(auditor.get(address(*PAGE)))
    assert "<code>password</code>" in page
    assert 'name="_save"' not in page
    assert auditor.post(address(*PAGE), {"mask_keys": "x"}).status_code == 403
