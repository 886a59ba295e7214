"""`POST explain/`: what a decision would be, and why."""

from tests.factories import make_layer, make_rule
from toolpolicy.models import Record, RuleUsage

QUESTION = {"surface": "call", "tool": "send_mail", "arguments": {"to": "a@example.org"}}


def rules():
    layer = make_layer("house rules")
    make_rule(layer, id="outside", match={"arg": {"pointer": "/to", "value": "*@example.org"}})
    make_rule(layer, id="other", match={"name": "wipe"})


def test_each_rule_says_whether_it_matched_and_which_field_did_not(api):
    rules()
    answer = api.post("explain/", QUESTION).json()
    explanation = answer["explanation"]
    assert answer["outcome"] == "deny"
    assert explanation["decider"]["rule"] == "outside"
    (layer,) = [
        one for one in explanation["subjects"][0]["layers"] if one["layer"] == "house rules"
    ]
    first, second = layer["rules"]
    assert (first["result"], first["decider"]) == ("matches", True)
    assert (second["field"], second["actual"]) == ("name", "send_mail")
    assert set(explanation["sentences"]) == {"agent", "person", "admin"}


def test_an_explanation_is_recorded_as_a_simulation_and_counts_no_use(api):
    rules()
    answer = api.post("explain/", QUESTION).json()
    assert Record.objects.get(uid=answer["decision_id"]).kind == "simulation"
    assert not RuleUsage.objects.exists()


def test_an_explanation_answers_as_the_decision_does(api):
    rules()
    explained = api.post("explain/", QUESTION).json()
    decided = api.post("decisions/", QUESTION).json()
    del explained["explanation"]
    assert {**explained, "decision_id": ""} == {**decided, "decision_id": ""}


def test_a_decision_can_be_explained_and_counted_at_once(api):
    rules()
    answer = api.post("decisions/", {**QUESTION, "explain": True}).json()
    assert answer["explanation"]["decider"]["rule"] == "outside"
    assert Record.objects.get(uid=answer["decision_id"]).kind == "decision"
