"""A rule is made from a recorded call: what it does, how far it reaches, and in which layer."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.admin.pages import address, decide, form_values, signed_in, staff, text_of
from tests.admin.recorded import READS, place, record_of
from tests.factories import make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.admin.records.making import preferred
from toolpolicy.models import Rule
from toolpolicy.services import registry, usage
from toolpolicy.services.rule_from_call import MOST_ARGUMENTS, reaches

pytestmark = pytest.mark.django_db


def reaches_of(record):
    body = json.loads(record.body.text)
    return reaches(body, registry=registry.live(), calls=usage.tool_calls())


def test_reaches_go_from_the_call_itself_to_its_family_and_count_what_they_meet(dropped):
    decide("drop_table")
    decide("read_table")
    who = {"agent": "coder", "channel": "web"}
    tool = {"name": "drop_table", "family": "db"}
    argument = {**tool, "arg": {"pointer": "/database", "value": "prod"}}
    assert [(r.match, r.when, r.tools, r.calls) for r in reaches_of(dropped)] == [
        (argument, who, 1, 2),
        (tool, who, 1, 2),
        (tool, {"agent": "coder"}, 1, 2),
        (tool, {}, 1, 2),
        ({"family": "db"}, {"agent": "coder"}, 2, 3),
        ({"family": "db"}, {}, 2, 3),
    ]


def test_a_tool_of_no_family_has_no_wider_reach_and_no_registered_tool(layer):
    record = record_of(decide("drop_x"))
    assert [(r.match, r.when, r.tools, r.calls) for r in reaches_of(record)] == [
        ({"name": "drop_x"}, {}, 0, 1)
    ]


def test_only_arguments_that_a_rule_can_name_exactly_are_offered(layer):
    given = {
        "a/b~": "slash",
        "glob": "prod*",
        "question": "a?",
        "list": ["x"],
        "nothing": None,
        "empty": "",
        "flag": True,
        "number": 1.5,
        "long": "x" * 201,
    }
    record = record_of(decide("drop_x", arguments=given))
    offered = [r.match["arg"] for r in reaches_of(record) if r.looks_at_arguments]
    assert offered == [
        {"pointer": "/a~1b~0", "value": "slash"},
        {"pointer": "/flag", "value": "true"},
        {"pointer": "/number", "value": "1.5"},
    ]
    many = record_of(decide("drop_x", arguments={f"k{n}": "v" for n in range(9)}))
    assert sum(r.looks_at_arguments for r in reaches_of(many)) == MOST_ARGUMENTS


def test_the_reason_being_about_another_tool_the_rule_is_about_that_one(layer):
    imported(named("drop_table", "run"), family="db")
    targets = [{"tool": "drop_table", "arguments": {"a": "b"}}]
    record = record_of(decide("run", arguments={"x": "y"}, targets=targets))
    assert reaches_of(record)[0].match == {"name": "drop_table", "family": "db"}


def test_calls_through_another_tool_are_said_to_be_counted_there(root, layer):
    imported(named("drop_table", "run"), family="db")
    record = record_of(decide("run", targets=[{"tool": "drop_table"}]))
    page = text_of(root.get(place(record, "rule")))
    assert "Calls that run it through <code>run</code> are counted there" in page


def form_of(client, record):
    return client.get(place(record, "rule")).context["form"]


def test_the_narrowest_reach_and_the_strictest_change_are_chosen_first(root, dropped):
    form = form_of(root, dropped)
    assert (form["reach"].value(), form["effect"].value()) == (0, "deny")
    page = text_of(root.get(place(dropped, "rule")))
    assert "No new rule lets this call through" in page
    assert "1 registered tool, some of 1 call in 7 days" in page


RUN = {"name": "run"}
OPENING = [
    ({"default": "deny"}, {"effect": "deny", "match": {"name": "z"}}, "allow", "only some"),
    (
        {"combining": "last_match"},
        {"effect": "off", "match": {"name": "run"}},
        "allow",
        "only some",
    ),
    ({}, {"effect": "deny", "match": {"name": "run"}}, "deny", "house rules"),
    ({}, {"effect": "allow", "match": {"name": "run"}}, "deny", "house rules"),
    ({}, {"effect": "require_approval", "match": {"name": "run"}}, "deny", "house rules"),
]


@pytest.mark.parametrize(("values", "rule", "effect", "home"), OPENING)
def test_the_layer_to_start_from_is_the_one_that_blocks_if_an_allow_helps(
    root, layer, values, rule, effect, home
):
    blocking = make_layer("only some", **values)
    make_rule(blocking, **rule)
    form = form_of(root, record_of(decide("run")))
    assert form["effect"].value() == effect
    assert form.layers[form["layer"].value()].name == home


def choose(client, record, **sent):
    return client.get(place(record, "rule"), {"effect": "deny", "reach": "0", **sent})


def test_the_choices_open_the_form_of_a_rule_and_saving_it_makes_it(root, dropped, layer):
    response = choose(root, dropped, layer=layer.pk, effect="ask")
    parts = urlsplit(response["Location"])
    assert parts.path == address("rule", "add")
    sent = {name: value for name, [value] in parse_qs(parts.query).items()}
    assert sent["effect"] == "require_approval"
    assert json.loads(sent["match"])["arg"] == {"pointer": "/database", "value": "prod"}
    assert json.loads(sent["when"]) == {"agent": "coder", "channel": "web"}
    when = dropped.at.strftime("%Y-%m-%d %H:%M UTC")
    assert sent["reason"] == f"from the denied call of {when} by coder"
    assert Rule.objects.count() == 1
    page = root.get(response["Location"])
    root.post(response["Location"], {**form_values(page), "_save": "1"})
    made = Rule.objects.exclude(rule_id="no-drops").get()
    assert (made.effect, made.layer) == ("require_approval", layer)
    assert made.match == json.loads(sent["match"])
    assert made.when == json.loads(sent["when"])


REASONS = [
    ({}, {"effect": "require_approval"}, "from the call of {} by coder that needed approval"),
    ({}, {"effect": "allow"}, "from the allowed call of {} by coder"),
    ({"surface": "catalog"}, {"effect": "hide"}, "from what was listed on {} to coder"),
]


@pytest.mark.parametrize(("asked", "rule", "reason"), REASONS)
def test_the_reason_says_which_call_the_rule_came_from(root, layer, asked, rule, reason):
    make_rule(layer, match={"name": "run"}, **rule)
    record = record_of(decide("run", context={"agent": "coder"}, **asked))
    response = choose(root, record, layer=layer.pk)
    [said] = parse_qs(urlsplit(response["Location"]).query)["reason"]
    assert said == reason.format(record.at.strftime("%Y-%m-%d %H:%M UTC"))


def test_in_an_ordered_layer_the_effect_has_its_own_word_and_arguments_are_refused(root, dropped):
    ordered = make_layer("modes", combining="last_match")
    response = choose(root, dropped, layer=ordered.pk, reach="1")
    assert "effect=off" in response["Location"]
    refused = choose(root, dropped, layer=ordered.pk)
    assert "does not look at arguments" in refused.context["form"].errors["reach"][0]


@pytest.mark.parametrize(
    ("sent", "field"),
    [({"reach": "99"}, "reach"), ({"effect": "x"}, "effect"), ({"layer": "x"}, "layer")],
)
def test_a_choice_that_is_none_is_refused_beside_it(root, dropped, layer, sent, field):
    response = choose(root, dropped, **{"layer": layer.pk, **sent})
    assert list(response.context["form"].errors) == [field]


def test_layers_of_the_baseline_are_offered_to_those_who_may_change_them(root, dropped, baseline):
    author = staff("anna", permissions=(*READS, "add_rule", "view_rule"))
    offered = [layer.name for layer in form_of(signed_in(author), dropped).layers.values()]
    assert offered == ["house rules"]
    assert len(form_of(root, dropped).layers) > 1


def test_without_a_layer_there_is_a_way_to_one(root, baseline):
    record = record_of(decide("x"))
    author = signed_in(staff("anna", permissions=(*READS, "add_rule")))
    page = text_of(author.get(place(record, "rule")))
    assert "There is no layer that you may change" in page


def test_a_refusal_without_a_rule_says_that_no_rule_helps(root, layer):
    imported(named("read"), family="box")
    record = record_of(decide("READ"))
    page = text_of(root.get(place(record, "rule")))
    assert "No rule decided this call" in page
    assert preferred(root.get(place(record, "rule")).context["answer"]) == "deny"
