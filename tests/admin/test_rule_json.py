"""A rule as fields and as JSON: each is made from the other, and nothing is lost."""

import json
from typing import Any

import pytest

from tests.admin.pages import errors, form_values, text_of
from tests.admin.rule_form import add, change
from tests.factories import make_layer, make_rule
from toolpolicy.models import PolicyVersion, Rule

pytestmark = pytest.mark.django_db

STORED: dict[str, dict[str, Any]] = {
    "texts": {"match": {"name": ["a", "b, c", '"q"', " d"], "family": "x"}},
    "words": {"match": {"category": ["skill"], "permission_at_least": "Write"}},
    "hints": {"match": {"hints": {"destructive": True, "idempotent": False}}},
    "side effects": {"match": {"side_effects": ["payment", "network"]}},
    "an argument": {"match": {"arg": {"pointer": "/path", "value": ["/etc/*", "a,b"]}}},
    "an exception": {"match": {"name": "a"}, "except_": {"tags": ["x"], "verb": "get"}},
    "contexts": {"when": {"agent": "x", "channel": ["telegram-*", "slack-*"]}},
    "the rest": {
        "on": ["call"],
        "reason": "two\nlines",
        "expires_at": "2090-01-01T00:00:00.5Z",
        "examples": [{"tool": "a"}, {"tool": "b", "arguments": {"x": 1}}, "{odd"],
        "approval": {"group": "finance", "people": 2, "wait": 1.5, "again": False},
        "observe": True,
        "enabled": False,
    },
}
ORDERED: dict[str, dict[str, Any]] = {
    "a name": {"match": {"name": "github_*"}, "effect": "on"},
    "items": {"match": {"verb": ["get", "list"], "tags": "!x,y"}, "effect": "ask"},
    "hints": {"match": {"readOnly": True, "destructive": False}, "effect": "auto"},
    "the rest": {
        "match": {"name": "*"},
        "effect": "off",
        "when": {"agent": "x", "channel": ["a", "b"]},
        "reason": "closed",
        "examples": [{"tool": "a"}],
        "approval": {"group": "finance"},
        "observe": True,
    },
}
UNUSUAL: dict[str, dict[str, Any]] = {
    "an empty list": {"match": {"name": []}},
    "an exception of everything": {"match": {"name": "a"}, "except_": {}},
    "a line break": {"match": {"arg": {"pointer": "/p", "value": "a\nb"}}},
    "a number as an example": {"examples": [5]},
    "an option that is a list": {"approval": {"groups": ["finance"]}},
    "an option that is an object": {"approval": {"who": {"group": "finance"}}},
    "an option that is a text of digits": {"approval": {"ticket": "2214"}},
    "an option that is nothing": {"approval": {"group": None}},
    "the whole arguments": {"match": {"arg": {"pointer": "", "value": "*x*"}}},
}


@pytest.mark.parametrize("name", [*STORED, *UNUSUAL])
def test_a_stored_rule_is_shown_and_saving_it_unchanged_changes_nothing(root, name):
    rule = make_rule(make_layer(), **{**STORED, **UNUSUAL}[name])
    page = root.get(change(rule))
    assert page.context["adminform"].form.by_json is (name in UNUSUAL)
    before = PolicyVersion.objects.count()
    assert root.post(change(rule), form_values(page, _save="1")).status_code == 302
    assert PolicyVersion.objects.count() == before


@pytest.mark.parametrize("name", ORDERED)
def test_a_stored_ordered_rule_is_shown_as_fields_and_saving_it_unchanged_changes_nothing(
    root, name
):
    rule = make_rule(make_layer(combining="last_match"), **ORDERED[name])
    page = root.get(change(rule))
    assert not page.context["adminform"].form.by_json
    before = PolicyVersion.objects.count()
    as_json = root.post(change(rule), form_values(page, _show="json"))
    as_fields = root.post(change(rule), form_values(as_json, _show="form"))
    assert not as_fields.context["adminform"].form.by_json
    assert root.post(change(rule), form_values(as_fields, _save="1")).status_code == 302
    assert PolicyVersion.objects.count() == before


def test_what_is_shown_as_json_says_why_and_names_the_members_that_such_a_rule_has(root):
    rule = make_rule(make_layer(), **UNUSUAL["an empty list"])
    said = text_of(root.get(change(rule)))
    assert "The fields cannot show all of this" in said
    assert "id effect on match except when reason" in said
    layer = make_layer("ordered", combining="last_match")
    ordered = make_rule(layer, match={"name": "a"}, effect="on")
    page = form_values(root.get(change(ordered)), _show="json")
    said = text_of(root.post(change(ordered), page))
    assert "The fields cannot show all of this" not in said
    assert "id effect match when reason enabled" in said


@pytest.mark.parametrize("name", STORED)
def test_fields_and_json_are_made_from_each_other_without_a_loss(root, name):
    rule = make_rule(make_layer(), **STORED[name])
    page = root.get(change(rule))
    as_json = root.post(change(rule), form_values(page, _show="json"))
    form = as_json.context["adminform"].form
    assert form.by_json
    assert json.loads(form["json"].value())["effect"] == "deny"
    as_fields = root.post(change(rule), form_values(as_json, _show="form"))
    assert not as_fields.context["adminform"].form.by_json
    again = form_values(as_fields, _save="1")
    assert filled(again) == filled(form_values(page, _save="1"))
    before = PolicyVersion.objects.count()
    assert root.post(change(rule), again).status_code == 302
    assert PolicyVersion.objects.count() == before


def filled(values):
    return {name: value for name, value in values.items() if value not in ("", [], [""])}


def test_what_has_no_field_stays_json_and_can_be_saved_there(root):
    layer = make_layer()
    text = '{"effect": "deny", "match": {"name": "a"}, "except": {}}'
    values = {"shown_as": "json", "json": text, "seen_version": layer.version}
    response = root.post(add(layer), {**values, "_show": "form"})
    assert "cannot show all of this" in errors(response)["json"][0]
    assert root.post(add(layer), {**values, "_save": "1"}).status_code == 302
    assert Rule.objects.get().except_match == {}


def test_a_rule_whose_json_says_no_name_keeps_it_in_its_fields(root):
    rule = make_rule(make_layer(), id="kept", match={"name": "a"}, when={"agent": "x"})
    text = '{"effect": "hide", "match": {"name": "a"}}'
    page = form_values(root.get(change(rule)), shown_as="json", json=text, _show="form")
    form = root.post(change(rule), page).context["adminform"].form
    assert form["rule_id"].value() == "kept"
    assert [name for name in form.fields if name.startswith("when")] == [
        "when__0__key",
        "when__0__value",
    ]


def test_a_member_that_the_json_leaves_out_goes_back_to_its_default(root):
    rule = make_rule(make_layer(), match={"name": "a"}, reason="old", on=["call"])
    text = '{"effect": "hide", "match": {"name": "a"}}'
    page = form_values(root.get(change(rule)), shown_as="json", json=text, _save="1")
    assert root.post(change(rule), page).status_code == 302
    rule.refresh_from_db()
    assert (rule.rule_id, rule.effect, rule.reason, rule.surfaces) == ("deny-a", "hide", "", [])
