"""The rules on their layer's page: what each did, what may be done to it, and one page of many."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin.pages import address, decide, signed_in, staff, text_of
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.models import Layer, Rule
from toolpolicy.services import policies

pytestmark = pytest.mark.django_db


def page_of(layer: Layer, query: str = "") -> str:
    return address("layer", "change", layer.pk) + query


def act(layer: Layer) -> str:
    return address("layer", "rule_act", layer.pk)


def shown(response) -> list[str]:
    return [one["rule"].rule_id for one in response.context["rules"]]


@pytest.fixture
def layer(db):
    imported(named("send", "send_all", "read"))
    return make_layer()


@pytest.fixture
def many(db):
    """Return a layer of five thousand rules."""
    rules = [
        {"id": f"r{n}", "effect": "deny", "match": {"name": f"mcp__server_{n}__*"}}
        for n in range(5_000)
    ]
    entry = {
        "scope": "config",
        "combining": "deny_overrides",
        "policy": {"name": "many", "rules": rules},
    }
    policies.add_layers(actor=SYSTEM, layers=[entry], summary="added many")
    return Layer.objects.get(name="many")


def test_a_rule_says_its_tools_its_hits_and_what_lint_finds(root, layer):
    make_rule(layer, id="sending", match={"name": "send*"}, reason="not now")
    make_rule(layer, id="lost", match={"name": "sned"})
    for _ in range(3):
        decide("send")
    page = text_of(root.get(page_of(layer)))
    assert "matches 2 tools" in page
    assert 'aria-label="Matches a day, the last 7 days: 0, 0, 0, 0, 0, 0, 3"' in page
    assert "“not now”" in page
    assert "matches no tool" in page
    assert "never matched" in page
    assert "<b>lost</b>: " in page


def test_a_finding_says_what_to_do_and_leads_to_what_its_code_means(root):
    empty = make_layer("nobody", scope="agent", target=[])
    make_rule(empty, id="twice", match={"name": "x"})
    page = root.get(page_of(empty))
    assert "<b>nobody</b>: the target is an empty list: the layer never applies." in text_of(page)
    assert '<a href="/docs/lint/switched_off/">Fill in what is empty' in text_of(page)
    assert root.get("/docs/lint/switched_off/").status_code == 200


def test_rules_are_found_by_words_by_tool_by_effect_and_by_state(root, layer):
    make_rule(layer, id="a", match={"name": "send*"}, reason="because of finance")
    make_rule(layer, id="b", effect="hide", match={"name": "re?d"}, observe=True)
    make_rule(layer, id="c", match={"name": "nothing"}, enabled=False, when={"agent": "finance"})
    for query, expected in {
        "": ["a", "b", "c"],
        "?q=FINANCE": ["a", "c"],
        "?q=read": ["b"],
        "?effect=hide": ["b"],
        "?effect=deny&q=send": ["a"],
        "?state=on": ["a"],
        "?state=observe": ["b"],
        "?state=off": ["c"],
        "?state=findings": [],
        "?state=wrong": [],
        "?q=%25": [],
    }.items():
        response = root.get(page_of(layer, query))
        assert shown(response) == expected, query
        assert text_of(response)


def test_rules_with_findings_are_found(root, layer):
    make_rule(layer, id="fine", match={"name": "send"})
    make_rule(layer, id="lost", match={"name": "sned"})
    assert shown(root.get(page_of(layer, "?state=findings"))) == ["lost"]


def test_five_thousand_rules_are_paged_in_a_small_page(root, many):
    first = root.get(page_of(many))
    assert len(first.content) < 300_000
    assert shown(first) == [f"r{n}" for n in range(40)]
    assert "5\u202f000 rules" in text_of(first)
    second = root.get(page_of(many, first.context["later"]))
    assert shown(second)[0] == "r40"
    assert shown(root.get(page_of(many, second.context["earlier"]))) == shown(first)
    last = root.get(page_of(many, "?after=4979"))
    assert (shown(last)[-1], last.context["later"]) == ("r4999", "")
    filtered = root.get(page_of(many, "?q=server_49"))
    assert shown(filtered)[0] == "r49"
    assert "q=server_49" in filtered.context["later"]


@pytest.mark.parametrize("query", ["?after=x", "?before=99999999999999999999", "?after=-1"])
def test_a_place_that_is_none_shows_the_first_page(root, layer, query):
    make_rule(layer, id="a")
    assert shown(root.get(page_of(layer, query))) == ["a"]


def test_the_page_asks_the_same_number_of_queries_for_one_rule_and_for_sixty(root, layer):
    make_rule(layer, match={"name": "send"})
    decide("send")

    def asked() -> int:
        text_of(root.get(page_of(layer)))  # the policy and the registry are read once
        with CaptureQueriesContext(connection) as captured:
            text_of(root.get(page_of(layer)))
        return len(captured)

    few = asked()
    for number in range(60):
        make_rule(layer, match={"name": f"send_{number}"})
    decide("send")
    assert asked() == few


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("disable", {}, (False, False)),
        ("enable", {"enabled": False}, (True, False)),
        ("observe", {}, (True, True)),
        ("enforce", {"observe": True}, (True, False)),
    ],
)
def test_a_button_switches_a_rule_and_leads_back_to_the_same_page(root, layer, name, before, after):
    rule = make_rule(layer, **before)
    sent = {name: rule.pk, "version": layer.version, "back": "q=x&after=3"}
    response = root.post(act(layer), sent)
    assert response["Location"] == f"{page_of(layer)}?q=x&after=3#rule-{rule.pk}-more"
    rule.refresh_from_db()
    assert (rule.enabled, rule.observe) == after


def test_a_copy_stands_behind_its_rule_and_is_opened(root, layer):
    rule = make_rule(
        layer,
        id="first",
        match={"name": "a"},
        except_={"family": "x"},
        when={"agent": "b"},
        reason="because",
        expires_at="2090-01-01T00:00:00Z",
        examples=[{"tool": "a"}],
    )
    make_rule(layer, id="second")
    response = root.post(act(layer), {"duplicate": rule.pk, "version": layer.version})
    copy = Rule.objects.exclude(rule_id__in=("first", "second")).get()
    assert response["Location"] == address("rule", "change", copy.pk)
    assert [one.rule_id for one in layer.rules.in_order()] == ["first", copy.rule_id, "second"]
    for name in ("effect", "match", "except_match", "when", "reason", "expires_at", "examples"):
        assert getattr(copy, name) == getattr(rule, name) or name == "expires_at"
    assert copy.expires_at is not None


@pytest.mark.parametrize("name", ["disable", "duplicate"])
def test_an_act_on_a_layer_that_changed_says_who_did_what(root, layer, name):
    rule = make_rule(layer, id="mine")
    seen = layer.version
    anna = signed_in(staff("anna", groups=("author",)))
    anna.post(act(layer), {"observe": rule.pk, "version": seen})
    response = root.post(act(layer), {name: rule.pk, "version": seen}, follow=True)
    page = text_of(response)
    assert "was changed meanwhile: anna changed the rule `mine` of the layer" in page
    rule.refresh_from_db()
    assert (rule.enabled, rule.observe) == (True, True)
    assert layer.rules.count() == 1


@pytest.mark.parametrize("sent", [{"disable": "99"}, {"duplicate": "x"}, {"enable": ""}])
def test_an_act_on_no_rule_of_the_layer_says_so(root, layer, sent):
    make_rule(layer)
    assert b"This rule is gone" in root.post(act(layer), sent, follow=True).content


def test_an_act_that_is_none_is_refused(root, layer):
    rule = make_rule(layer)
    response = root.post(act(layer), {"destroy": rule.pk})
    assert b"This rule is gone" in root.post(act(layer), {}, follow=True).content
    assert response.status_code == 302
    assert Rule.objects.count() == 1


def test_a_rule_is_moved_to_a_place(root, layer):
    rules = [make_rule(layer, id=name) for name in "abcd"]
    url = address("layer", "move_rule", layer.pk)
    root.post(url, {"rule": rules[0].pk, "place": "2", "version": layer.version})
    assert [rule.rule_id for rule in layer.rules.in_order()] == ["b", "c", "a", "d"]


def test_what_is_stored_is_shown_escaped(root, layer):
    make_rule(layer, match={"name": "<b>\u202ex"}, reason="<script>alert(1)</script>")
    page = text_of(root.get(page_of(layer)))
    assert "<script>alert" not in page
    assert "\u202e" not in re.sub(r"<textarea.*?</textarea>", "", page, flags=re.DOTALL)


def test_a_saved_rule_leads_to_the_page_that_holds_it(root, many):
    rule = many.rules.get(rule_id="r45")
    values = {"_save": "1", "shown_as": "json", "seen_version": many.version}
    text = '{"effect": "hide", "match": {"name": "x"}}'
    response = root.post(address("rule", "change", rule.pk), {**values, "json": text})
    assert response["Location"] == f"{page_of(many)}?after=39#rule-{rule.pk}"
