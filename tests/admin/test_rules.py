"""The pages of rules: filled in by others, previewed, changed by two at once, deleted, listed."""

from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin.pages import address, decide, errors, form_values, signed_in, staff, text_of
from tests.admin.rule_form import add, change, sent
from tests.factories import make_layer, make_rule
from tests.registry.samples import imported, named, tool
from toolpolicy.engine.words import Effect
from toolpolicy.models import Rule

pytestmark = pytest.mark.django_db


def test_another_page_fills_a_new_rule_in(root):
    layer = make_layer()
    query = {
        "effect": "require_approval",
        "match": '{"name": "send", "arg": {"pointer": "/to", "value": "x"}}',
        "when": '{"agent": "a", "channel": "b"}',
        "except": '{"family": "memory"}',
        "reason": "ask first",
    }
    response = root.get(f"{add(layer)}&{urlencode(query)}")
    values = form_values(response, _save="1")
    assert root.post(add(layer), values).status_code == 302
    rule = Rule.objects.get()
    assert (rule.effect, rule.reason) == ("require_approval", "ask first")
    assert rule.match == {"name": "send", "arg": {"pointer": "/to", "value": "x"}}
    assert (rule.when, rule.except_match) == ({"agent": "a", "channel": "b"}, {"family": "memory"})


@pytest.mark.parametrize("match", ["{", '{"name": 1e400}', "[]", '{"nmae": "x"}'])
def test_an_address_that_cannot_be_read_breaks_no_page(root, match):
    page = f"{add(make_layer())}&{urlencode({'match': match})}"
    text_of(root.get(page))


def test_a_preview_saves_nothing_and_says_what_saving_would_do(root):
    imported({"tools": [tool("send"), tool("read")]}, family="box")
    layer = make_layer()
    for number in range(3):
        decide("send", context={"agent": f"agent{number}"})
    values = sent(layer, match__name="send", when__0__key="agent", when__0__value="agent1")
    values["_preview"] = values.pop("_save")
    page = text_of(root.post(add(layer), {**values, "_part": "live"}))
    assert "<html" not in page
    assert "Matches 1 tool</h2>" in page
    assert "3 decisions in 7 days were about what it matches, whichever rule decided." in page
    assert "only narrows" in page
    assert "agent1" in page
    assert not Rule.objects.exists()


def test_a_preview_asks_the_same_number_of_queries_for_many_rules_tools_and_agents(root):
    layer = make_layer()
    imported(named("first"), family="box")
    decide("first", context={"agent": "a", "channel": "b"})
    values = {**sent(layer), "_preview": "1", "_part": "live"}
    del values["_save"]

    def asked() -> int:
        text_of(root.post(add(layer), values))  # the policy and the registry are read once
        with CaptureQueriesContext(connection) as captured:
            text_of(root.post(add(layer), values))
        return len(captured)

    few = asked()
    for number in range(4):
        make_rule(layer, match={"name": f"tool{number}"}, when={"agent": f"a{number}"})
        decide("first", context={"agent": f"a{number}", "channel": f"c{number}"})
    imported(named("first", "second", "third"), family="box")
    assert asked() == few


def test_a_rule_is_changed_and_its_layer_counts_on(root):
    layer = make_layer()
    rule = make_rule(layer, reason="old")
    root.post(change(rule), form_values(root.get(change(rule)), reason="new", _save="1"))
    rule.refresh_from_db()
    assert rule.reason == "new"
    assert rule.layer.version == layer.version + 1


def test_a_stale_save_is_refused_and_shows_what_is_stored_now(root):
    layer = make_layer()
    rule = make_rule(layer, match={"name": "a"})
    opened = root.get(change(rule))
    anna = signed_in(staff("anna", groups=("author",)))
    theirs = form_values(anna.get(change(rule)), match__name="b", _save="1")
    assert anna.post(change(rule), theirs).status_code == 302
    refused = root.post(change(rule), form_values(opened, match__name="c", _save="1"))
    found = errors(refused)
    assert "anna changed this since you opened it" in found["__all__"][0]
    assert "Changed meanwhile: anna changed the rule `" in found["__all__"][0]
    assert found["match__name"] == ["Stored now: b"]
    assert "Last changed by <b>anna</b>, <time" in text_of(refused)
    assert refused.context["adminform"].form["match__name"].value() == "c"
    rule.refresh_from_db()
    assert rule.match == {"name": "b"}


def test_of_a_rule_that_nobody_changed_the_page_says_who_changed_its_layer(root, baseline):
    rule = Rule.objects.get(rule_id="declares-needs-approval")
    assert "changed by" not in text_of(root.get(change(rule)))
    page = address("layer", "change", rule.layer_id)
    root.post(page, form_values(root.get(page), description="As agreed in May", _save="1"))
    assert "Its layer was last changed by <b>root</b>, <time" in text_of(root.get(change(rule)))


def test_a_rule_added_to_a_layer_that_changed_meanwhile_is_added(root):
    layer = make_layer()
    opened = layer.version
    make_rule(layer, id="meanwhile")
    root.post(add(layer), sent(layer, seen_version=opened))
    assert Rule.objects.count() == 2


def test_the_chosen_rules_are_deleted_all_or_none(root, monkeypatch):
    layer = make_layer()
    rules = [make_rule(layer, id=f"r{number}") for number in range(3)]
    chosen = {
        "action": "delete_selected",
        "_selected_action": [rule.pk for rule in rules[:2]],
        "post": "yes",
    }
    root.post(address("rule"), chosen)
    assert list(Rule.objects.all()) == rules[2:]


def test_one_rule_that_may_not_be_deleted_keeps_all(baseline):
    author = signed_in(staff("author", groups=("author",)))
    own = make_rule(make_layer())
    guarded = Rule.objects.get(rule_id="declares-needs-approval")
    chosen = {
        "action": "delete_selected",
        "_selected_action": [own.pk, guarded.pk],
        "post": "yes",
    }
    assert author.post(address("rule"), chosen).status_code == 403
    assert Rule.objects.filter(pk__in=(own.pk, guarded.pk)).count() == 2


def test_one_rule_is_deleted_through_the_service(root):
    rule = make_rule(make_layer())
    done = root.post(address("rule", "delete", rule.pk), {"post": "yes"})
    assert done["Location"] == address("layer", "change", rule.layer_id)
    assert "was deleted" in text_of(root.get(done["Location"]))
    assert not Rule.objects.exists()


def test_a_rule_whose_layer_changed_since_the_question_is_not_deleted(root):
    layer = make_layer()
    rule = make_rule(layer)
    page = address("rule", "delete", rule.pk)
    assert f'name="seen_version" value="{layer.version}"' in text_of(root.get(page))
    sent = {"post": "yes", "seen_version": layer.version - 1}
    assert b"changed meanwhile" in root.post(page, sent, follow=True).content
    assert Rule.objects.exists()


@pytest.mark.parametrize("query", ["", "?layer=x", "?layer=99"])
def test_a_rule_without_a_layer_leads_to_the_layers(root, query):
    response = root.get(f"{address('rule', 'add')}{query}")
    assert response["Location"] == address("layer")


def test_rules_of_the_baseline_are_only_shown_to_authors(baseline):
    author = signed_in(staff("author", groups=("author",)))
    rule = Rule.objects.get(rule_id="declares-needs-approval")
    assert not author.get(change(rule)).context["has_change_permission"]
    assert author.get(add(rule.layer)).status_code == 403
    assert author.post(address("rule", "delete", rule.pk), {"post": "yes"}).status_code == 403


def test_a_row_that_the_engine_cannot_read_is_shown_as_such(root):
    rule = make_rule(make_layer())
    Rule.objects.filter(pk=rule.pk).update(match={"nonsense": 1})
    assert "cannot be read" in text_of(root.get(address("rule")))
    assert "cannot be read" in text_of(root.get(change(rule)))
    assert "cannot be read" in text_of(root.get(address("layer", "change", rule.layer_id)))


def test_every_effect_is_a_word_and_a_shape(root):
    layer = make_layer()
    for effect in Effect:
        make_rule(layer, effect=str(effect))
    page = text_of(root.get(address("rule")))
    for word, shape in (
        ("Allow", "allow"),
        ("Deny", "deny"),
        ("Hide", "hide"),
        ("Needs approval", "ask"),
        ("Auto-approve", "waive"),
    ):
        assert f'icons.svg#{shape}"/></svg>{word}</span>' in page


def test_an_observing_rule_says_what_it_would_do(root):
    make_rule(make_layer(observe=True))
    assert "Would deny" in text_of(root.get(address("rule")))
