"""An explanation without the values that rules met in what was sent."""

from typing import Any

from toolpolicy.engine.documents import parse_layers
from toolpolicy.engine.evaluate import Judged, compile_policy, judge
from toolpolicy.engine.explanation import explain
from toolpolicy.engine.met_values import HIDDEN, without_values
from toolpolicy.engine.values import Subject
from toolpolicy.engine.words import Surface

ARGUMENT = {"pointer": "/to", "value": "a*"}
RULES = [
    {"effect": "deny", "match": {"name": "send", "arg": ARGUMENT}, "when": {"team": "red"}},
    {"effect": "deny", "match": {"arg": {"pointer": "/to", "value": "z*"}}},
    {"effect": "deny", "match": {"name": "send"}, "except": {"arg": ARGUMENT}},
    {"effect": "deny", "match": {"name": "send"}, "when": {"team": "blue"}},
    {"effect": "deny", "match": {"arg": {"pointer": "/none", "value": "z*"}}},
]
CONTEXT = {"team": "red"}


def explained() -> dict[str, Any]:
    policy = compile_policy(parse_layers([{"name": "base", "rules": RULES}]))
    judged = Judged(Subject(name="send"), {"to": "abc"})
    decision = judge(policy, [judged], CONTEXT, Surface.CALL, None)
    return explain(policy, [judged], CONTEXT, decision, now=None)


def rules_of(explanation: dict[str, Any]) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = explanation["subjects"][0]["layers"][0]["rules"]
    return rules


def actual(explanation: dict[str, Any]) -> list[Any]:
    return [rule.get("actual", "-") for rule in rules_of(explanation)]


def test_no_value_of_an_argument_is_left_and_what_is_no_argument_stays():
    before = explained()
    assert actual(before) == ["-", "abc", "abc", "red", None]
    told = without_values(before)
    assert actual(told) == ["-", HIDDEN, HIDDEN, "red", None]
    assert rules_of(told)[0]["met"] == [
        {"field": "name", "actual": "send"},
        {"field": "arg /to", "actual": HIDDEN},
        {"field": "team", "actual": "red"},
    ]
    assert told["sentences"] == before["sentences"]
    assert actual(before) == ["-", "abc", "abc", "red", None]


def test_no_value_of_a_hidden_context_key_is_left():
    told = without_values(explained(), {"team"})
    assert actual(told) == ["-", HIDDEN, HIDDEN, HIDDEN, None]
    assert rules_of(told)[0]["met"][2] == {"field": "team", "actual": HIDDEN}


def test_a_layer_that_does_not_apply_and_a_stop_have_nothing_to_hide():
    stopped: dict[str, Any] = {"decider": {}, "sentences": {}, "subjects": []}
    assert without_values(stopped) == stopped
    away = {"layer": "x", "applies": False, "because": "disabled"}
    subject = {"tool": "x", "family": None, "layers": [away]}
    assert without_values({"subjects": [subject]}) == {"subjects": [subject]}
