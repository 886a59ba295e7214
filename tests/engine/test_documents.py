"""Policy documents and layers: each fault is named with its pointer, several at once (SPEC §10)."""

from typing import Any

import pytest

from tests.engine.refusals import faults_of, message_of
from tests.engine.wire import (
    AT,
    POLICY,
    RULE,
    SETTINGS,
    document,
    matching,
    ordered,
    rule_set_to,
    set_to,
    strict,
)
from toolpolicy.engine.documents import FORMAT, parse_policy
from toolpolicy.engine.faults import Fault, Faults

WHOLE = [
    ("a list", [], [("", "invalid")]),
    ("null", None, [("", "invalid")]),
    ("nothing in it", {}, [("/format", "invalid"), ("", "missing")]),
    ("another format", {"format": "toolpolicy/2", "layers": []}, [("/format", "invalid")]),
    ("a format of another kind", {"format": 1, "layers": []}, [("/format", "invalid")]),
    ("layers that are no list", {"format": FORMAT, "layers": {}}, [("/layers", "invalid")]),
    ("layers null", {"format": FORMAT, "layers": None}, [("/layers", "invalid")]),
    ("a layer that is no object", document(1, []), [(AT, "invalid"), ("/layers/1", "invalid")]),
    ("an empty layer", document({}), [(AT, "missing")] * 4),
    (
        "unknown members everywhere",
        {"a/b": 1, **document(strict({"effect": "deny", "~": 1}, x=1, policy={"y": 1}))},
        [
            ("/a~1b", "unknown_member"),
            (f"{AT}/x", "unknown_member"),
            (f"{POLICY}/y", "unknown_member"),
            (f"{RULE}/~0", "unknown_member"),
        ],
    ),
    (
        "one name three times",
        document(strict(), {"scope": "config"}, strict(), strict()),
        [
            *[("/layers/1", "missing")] * 3,
            ("/layers/2/policy/name", "duplicate"),
            ("/layers/3/policy/name", "duplicate"),
        ],
    ),
]
ENVELOPES = [
    ("a wrong scope", strict(scope="Config"), [(f"{AT}/scope", "unknown_word")]),
    ("a scope of another kind", strict(scope=1), [(f"{AT}/scope", "unknown_word")]),
    ("a combining null", strict(combining=None), [(f"{AT}/combining", "unknown_word")]),
    ("a position true", strict(position=True), [(f"{AT}/position", "invalid")]),
    ("a position 1.0", strict(position=1.0), [(f"{AT}/position", "invalid")]),
    ("config with a target", strict(target=[]), [(f"{AT}/target", "invalid")]),
    ("an agent without one", strict(scope="agent"), [(AT, "missing")]),
    ("a target null", strict(scope="agent", target=None), [(f"{AT}/target", "invalid")]),
    (
        "a target of numbers",
        strict(scope="session", target=["a", 1]),
        [(f"{AT}/target/1", "invalid")],
    ),
    ("a policy that is a list", strict() | {"policy": []}, [(POLICY, "invalid")]),
    ("no name", strict(name=None), [(f"{POLICY}/name", "missing")]),
    ("an empty name", strict(name=""), [(f"{POLICY}/name", "missing")]),
    ("a name that is a number", strict(name=1), [(f"{POLICY}/name", "invalid")]),
    ("a default null", strict(policy={"default": None}), [(f"{POLICY}/default", "unknown_word")]),
    ("settings null", strict(settings=None), [(SETTINGS, "invalid")]),
    ("a setting null", set_to(enabled=None), [(f"{SETTINGS}/enabled", "invalid")]),
    ("a switch that is 1", set_to(observe=1), [(f"{SETTINGS}/observe", "invalid")]),
    ("an unknown setting", set_to(active=True), [(f"{SETTINGS}/active", "unknown_member")]),
    ("a description null", set_to(description=None), [(f"{SETTINGS}/description", "invalid")]),
    (
        "an ordered layer that is fail-safe",
        ordered(settings={"fail_safe": False}),
        [(f"{SETTINGS}/fail_safe", "invalid")],
    ),
    (
        "an ordered layer with a default",
        ordered(policy={"default": "allow"}),
        [(f"{POLICY}/default", "unknown_member")],
    ),
    (
        "a span that ends as it starts",
        set_to(valid_from="2026-03-01T12:00:00Z", valid_until="2026-03-01T13:00:00+01:00"),
        [(f"{SETTINGS}/valid_until", "invalid")],
    ),
    ("rules of settings null", set_to(rules=None), [(f"{SETTINGS}/rules", "invalid")]),
    ("settings of no rule", set_to(rules={"a/b": {}}), [(f"{SETTINGS}/rules/a~1b", "invalid")]),
    (
        "settings of a rule null",
        set_to(rules={"r": None}),
        [
            (f"{SETTINGS}/rules/r", "invalid"),
            (f"{SETTINGS}/rules/r", "invalid"),
        ],
    ),
]
RULE_SETTINGS: list[tuple[str, Any, str]] = [
    ("enabled", "yes", "invalid"),
    ("observe", None, "invalid"),
    ("expires_at", "2026-03-01", "invalid"),
    ("expires_at", None, "invalid"),
    ("examples", {}, "invalid"),
    ("approval", [], "invalid"),
    ("approval", None, "invalid"),
    ("fail_safe", True, "unknown_member"),
]


@pytest.mark.parametrize(("_name", "broken", "expected"), WHOLE, ids=lambda v: str(v)[:30])
def test_what_is_wrong_with_a_document_is_named(_name, broken, expected):
    assert faults_of(parse_policy, broken) == expected


@pytest.mark.parametrize(("_name", "layer", "expected"), ENVELOPES, ids=lambda v: str(v)[:30])
def test_what_is_wrong_with_a_layer_is_named(_name, layer, expected):
    assert faults_of(parse_policy, document(layer)) == expected


@pytest.mark.parametrize(("setting", "value", "code"), RULE_SETTINGS)
def test_what_is_wrong_with_the_settings_of_a_rule_is_named(setting, value, code):
    found = faults_of(parse_policy, document(rule_set_to(**{setting: value})))
    assert found == [(f"{SETTINGS}/rules/r/{setting}", code)]


def test_faults_all_over_a_document_are_named_at_once_where_they_stand():
    first = strict({"effect": "dney", "id": "a"}, {"effect": "deny", "id": "a"}, scope="confg")
    second = ordered(
        {"match": {"name": "a"}, "mode": "of", "id": "b"},
        {"match": {"name": "a"}, "mode": "off", "id": "c"},
        {"match": {}, "mode": "off", "id": "c"},
        settings={"valid_from": "now", "rules": {"b": {"observe": True}, "d": {"enabled": False}}},
    )
    expected = [
        ("/layers/0/scope", "unknown_word"),
        ("/layers/0/policy/rules/0/effect", "unknown_word"),
        ("/layers/0/policy/rules/1/id", "duplicate"),
        ("/layers/1/settings/valid_from", "invalid"),
        ("/layers/1/policy/rules/0/mode", "bad_mode"),
        ("/layers/1/policy/rules/2/match", "empty_match"),
        ("/layers/1/policy/rules/2/id", "duplicate"),
        ("/layers/1/settings/rules/d", "invalid"),
        ("/layers/1/policy/name", "duplicate"),
    ]
    found = faults_of(parse_policy, document(first, second))
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    ("broken", "hint"),
    [
        (document(strict({"effect": "dney"})), "did you mean `deny`"),
        (document(strict({"effect": "deny", "excpt": {}})), "did you mean `except`"),
        (document(matching(permission_at_lest="Write")), "did you mean `permission_at_least`"),
        (document(strict({"effect": "zzz"})), "known are allow, auto_approve, deny, hide,"),
        (document(strict(scope=7)), "known are config, agent, channel, session"),
        (document(strict({"effect": "x" * 5_000})), "x…` is not a known word"),
        (document(strict({"effect": "\u202edeny\x00"})), "`\\u202edeny\\x00`"),
    ],
)
def test_a_message_says_what_may_be_meant_and_shows_no_raw_control(broken, hint):
    told = message_of(parse_policy, broken)
    assert hint in told
    assert told.isprintable()
    assert len(told) < 500
    assert told[0] == "/"
    assert not told.endswith(".")


def test_faults_are_a_value_error_that_keeps_each_fault():
    refused = Faults([Fault("", "first"), Fault("/a", "second", "code")])
    assert str(refused) == "first; /a: second"
    assert refused.faults == (Fault("", "first", "invalid"), Fault("/a", "second", "code"))
    assert isinstance(refused, ValueError)
