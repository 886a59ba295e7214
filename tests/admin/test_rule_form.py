"""A rule is made by its form: each fault on its field, in plain words, with its place."""

import pytest

from tests.admin.pages import address, errors, form_values, text_of
from tests.admin.rule_form import NEW, add, sent
from tests.factories import make_layer, make_rule
from toolpolicy.engine.words import Effect, Mode
from toolpolicy.models import Rule

pytestmark = pytest.mark.django_db


def test_a_rule_is_made_as_the_form_says_and_leads_back_to_its_layer(root):
    layer = make_layer()
    response = root.post(add(layer), sent(layer))
    rule = Rule.objects.get()
    assert response["Location"] == f"{address('layer', 'change', layer.pk)}#rule-{rule.pk}"
    assert (rule.effect, rule.surfaces, rule.rule_id) == ("deny", ["call"], "no-chat-deletes")
    assert rule.match == {"name": ["*delete*", "*drop*"]}
    assert (rule.except_match, rule.when) == ({"family": "memory"}, {"channel": "telegram-*"})
    assert rule.approval == {"group": "finance"}


def test_a_row_counts_though_the_rows_before_it_were_taken_away(root):
    layer = make_layer()
    rows = {"when__3__key": "agent", "when__3__value": "coder"}
    rows |= {"approval__7__key": "group", "approval__7__value": "finance"}
    values = {name: value for name, value in sent(layer, **rows).items() if "__0__" not in name}
    root.post(add(layer), values)
    rule = Rule.objects.get()
    assert (rule.when, rule.approval) == ({"agent": "coder"}, {"group": "finance"})


def test_the_layers_page_says_the_rule(root):
    layer = make_layer()
    root.post(add(layer), sent(layer))
    page = text_of(root.get(address("layer", "change", layer.pk)))
    assert (
        "tools named <code>*delete*</code> or <code>*drop*</code>, except those of family" in page
    )
    assert "on <b>call</b>, when <b>channel</b> is <code>telegram-*</code>" in page
    assert "“no deletes from a chat”" in page


def test_without_a_name_a_rule_gets_one(root):
    layer = make_layer()
    root.post(add(layer), sent(layer, rule_id=""))
    assert Rule.objects.get().rule_id == "deny-delete"


FAULTS = [
    ({"effect": "on"}, "effect", "valid choice"),
    ({"effect": ""}, "effect", "required"),
    ({"surfaces": ["nowhere"]}, "surfaces", "valid choice"),
    ({"match__name": "x" * 1025}, "match__name", "longer than 1024"),
    ({"match__arg__pointer": "/a"}, "match__arg__pointer", "needs a `value`"),
    ({"match__arg__value": "a"}, "match__arg__pointer", "needs a `pointer`"),
    ({"match__hints__destructive": "perhaps"}, "match__hints__destructive", "valid choice"),
    ({"except__permission_at_most": "All"}, "except__permission_at_most", "valid choice"),
    ({"when__0__key": ""}, "when__0__key", "Name the context key"),
    ({"when__0__value": ""}, "when__0__value", "Say what the value is like"),
    ({"when__1__key": "channel", "when__1__value": "b"}, "when__1__key", "put both into one"),
    ({"when__0__value": "y" * 1025}, "when__0__value", "longer than 1024"),
    ({"rule_id": "with blanks"}, "rule_id", "letters, digits"),
    ({"rule_id": "taken"}, "rule_id", "stands twice"),
    ({"examples": "a_tool\n{"}, "examples", "Line 2: Not JSON"),
    ({"approval__0__key": ""}, "approval__0__key", "Name the option"),
    ({"approval__0__value": ""}, "approval__0__value", "Say its value"),
    ({"approval__0__value": "[1]"}, "approval__0__value", "write it as JSON"),
    (
        {"approval__1__key": "group", "approval__1__value": "x"},
        "approval__1__key",
        "sets this option",
    ),
    ({"expires_at": "tomorrow"}, "expires_at", "valid date/time"),
]


@pytest.mark.parametrize("act", ["_save", "_preview"])
@pytest.mark.parametrize(("changes", "field", "words"), FAULTS)
def test_a_fault_stands_on_its_field_and_what_was_typed_stays(root, changes, field, words, act):
    layer = make_layer()
    make_rule(layer, id="taken")
    values = sent(layer, **changes)
    del values["_save"]
    response = root.post(add(layer), {**values, act: "1"})
    assert list(errors(response)) == [field]
    assert words in errors(response)[field][0]
    assert Rule.objects.count() == 1
    form = response.context["adminform"].form
    for name in NEW.keys() & form.fields.keys() - {"enabled"}:
        assert form[name].value() == values[name]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"match": {"nmae": "x"}}', "Unknown member `nmae`; did you mean `name` (at /match/nmae)"),
        ('{"match": {"name": 5}}', "Expected a string or a list of strings"),
        ('{"match": {"name": "x"}', "Not JSON"),
        ('{"when": {"a": "x", "a": "y"}}', "This member stands twice (at /when/a)"),
        ('{"match": {"name": "\\ud800"}}', "lone surrogate"),
        ("[1e400]", "too large (at /0)"),
        ("[" * 40, "nested deeper than 32"),
        ("[]", "Expected an object"),
        ("", "Expected an object"),
        ('{"except": {"tags": {}}}', "(at /except/tags)"),
        ('{"effekt": "deny"}', "Unknown member `effekt`; did you mean `effect`"),
        ('{"expires_at": "tomorrow"}', "(at /expires_at)"),
    ],
)
@pytest.mark.parametrize("act", ["_save", "_preview", "_show"])
def test_a_fault_of_the_json_names_its_place_and_the_text_stays(root, text, words, act):
    layer = make_layer()
    values = {"shown_as": "json", "json": text, "seen_version": layer.version, act: "form"}
    response = root.post(add(layer), values)
    assert list(errors(response)) == ["json"]
    assert any(words in one for one in errors(response)["json"])
    assert response.context["adminform"].form["json"].value() == text
    assert not Rule.objects.exists()


def test_several_faults_are_named_together(root):
    layer = make_layer()
    changes = {"match__name": "x" * 1025, "match__family": "y" * 1025, "when__0__value": ""}
    found = errors(root.post(add(layer), sent(layer, **changes)))
    assert list(found) == ["when__0__value"]
    del changes["when__0__value"]
    found = errors(root.post(add(layer), sent(layer, **changes)))
    assert set(found) == {"match__name", "match__family"}


def test_the_choices_are_those_of_the_layers_combining(root):
    strict, ordered = make_layer("strict"), make_layer("ordered", combining="last_match")
    form = root.get(add(strict)).context["adminform"].form
    assert [word for word, _ in form.fields["effect"].choices] == list(Effect)
    assert "surfaces" in form.fields
    form = root.get(add(ordered)).context["adminform"].form
    assert [word for word, _ in form.fields["effect"].choices] == list(Mode)
    assert not [name for name in form.fields if name.startswith(("surfaces", "except"))]


def test_an_ordered_rule_is_made_and_an_empty_match_refused(root):
    layer = make_layer(combining="last_match")
    values = {"effect": "ask", "match__verb": "list,get", "enabled": "on", "_save": "1"}
    root.post(add(layer), {**values, "seen_version": layer.version})
    rule = Rule.objects.get()
    assert (rule.effect, rule.match) == ("ask", {"verb": "list,get"})
    layer.refresh_from_db()
    found = errors(
        root.post(add(layer), {**values, "match__verb": "", "seen_version": layer.version})
    )
    assert "constrains nothing" in found["match__name"][0]


EMPTY = {"effect": "deny", "enabled": "on", "shown_as": "form"}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        (EMPTY, "match__name"),
        ({**EMPTY, "when__0__key": "channel", "when__0__value": "x"}, "match__name"),
        ({"shown_as": "json", "json": '{"effect": "deny", "match": {}}'}, "json"),
        ({"shown_as": "json", "json": '{"effect": "deny"}'}, "json"),
    ],
)
def test_a_new_strict_rule_for_every_tool_is_written_as_one(root, values, field):
    layer = make_layer()
    response = root.post(add(layer), {**values, "seen_version": layer.version, "_save": "1"})
    assert list(errors(response)) == [field]
    assert "write * as the name" in errors(response)[field][0]
    assert not Rule.objects.exists()


def test_a_star_as_the_name_is_a_rule_for_every_tool(root):
    layer = make_layer()
    values = {**EMPTY, "match__name": "*", "seen_version": layer.version, "_save": "1"}
    assert root.post(add(layer), values).status_code == 302
    assert Rule.objects.get().match == {"name": "*"}


def test_a_new_rule_is_previewed_only_once_it_says_which_tools(root):
    layer = make_layer()
    sent = {**EMPTY, "seen_version": layer.version, "_preview": "1"}
    for page in (text_of(root.get(add(layer))), text_of(root.post(add(layer), sent))):
        assert "write * as the name" in page
        assert "Answers that change" not in page
    page = text_of(root.post(add(layer), {**sent, "match__name": "*"}))
    assert "write * as the name" not in page
    assert "Answers that change" in page


def test_an_empty_form_is_shown_as_json_and_back(root):
    layer = make_layer()
    values = {**EMPTY, "seen_version": layer.version}
    shown = root.post(add(layer), {**values, "_show": "json"})
    assert shown.context["adminform"].form.by_json
    back = root.post(add(layer), form_values(shown, _show="form"))
    assert not errors(back)
    assert not back.context["adminform"].form.by_json


def test_a_stored_rule_that_names_no_tool_stays_editable_and_none_becomes_one(root):
    rule = make_rule(make_layer(), match={})
    page = address("rule", "change", rule.pk)
    sent = form_values(root.get(page), reason="closed for now", _save="1")
    assert root.post(page, sent).status_code == 302
    rule.refresh_from_db()
    assert (rule.match, rule.reason) == ({}, "closed for now")
    other = make_rule(rule.layer, match={"name": "a"})
    page = address("rule", "change", other.pk)
    sent = form_values(root.get(page), match__name="", _save="1")
    assert "write * as the name" in errors(root.post(page, sent))["match__name"][0]
