"""Policy documents: every fault is named with its pointer, several at once (SPEC §10)."""

from typing import Any

import pytest

from tests.engine.refusals import faults_of, message_of
from toolpolicy.engine.documents import (
    FORMAT,
    MAX_PATTERN_LENGTH,
    MAX_PATTERNS,
    allow_deny_layer,
    dump_layers,
    dump_policy,
    parse_layers,
    parse_policy,
)
from toolpolicy.engine.faults import Fault, Faults

AT = "/layers/0"
POLICY = f"{AT}/policy"
RULE = f"{POLICY}/rules/0"
SETTINGS = f"{AT}/settings"


def document(*layers):
    return {"format": FORMAT, "layers": list(layers)}


def strict(*rules, name="n", **rest):
    policy = {"name": name, **rest.pop("policy", {}), "rules": list(rules)}
    return {
        "scope": "config",
        "position": 0,
        "combining": "deny_overrides",
        "policy": policy,
        **rest,
    }


def ordered(*rules, **rest):
    return strict(*rules, **rest) | {"combining": "last_match"}


def matching(**match):
    return strict({"effect": "deny", "match": match})


def selecting(**match):
    return ordered({"match": match, "mode": "on"})


def set_to(**settings):
    return strict(settings=settings)


def rule_set_to(**settings):
    return strict({"effect": "deny", "id": "r"}, settings={"rules": {"r": settings}})


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
RULES = [
    ("no effect", {}, [(RULE, "missing")]),
    ("an effect null", {"effect": None}, [(f"{RULE}/effect", "unknown_word")]),
    ("an effect in capitals", {"effect": "Deny"}, [(f"{RULE}/effect", "unknown_word")]),
    ("surfaces as a word", {"effect": "deny", "on": "call"}, [(f"{RULE}/on", "invalid")]),
    (
        "a wrong surface",
        {"effect": "deny", "on": ["call", "x"]},
        [(f"{RULE}/on/1", "unknown_word")],
    ),
    ("a match null", {"effect": "deny", "match": None}, [(f"{RULE}/match", "invalid")]),
    ("an exception of text", {"effect": "deny", "except": "a"}, [(f"{RULE}/except", "invalid")]),
    ("a when null", {"effect": "deny", "when": None}, [(f"{RULE}/when", "invalid")]),
    (
        "a when of numbers",
        {"effect": "deny", "when": {"a/b": [1], "c": 2}},
        [(f"{RULE}/when/a~1b/0", "invalid"), (f"{RULE}/when/c", "invalid")],
    ),
    ("an id that is a number", {"effect": "deny", "id": 1}, [(f"{RULE}/id", "invalid")]),
    ("a reason that is a list", {"effect": "deny", "reason": []}, [(f"{RULE}/reason", "invalid")]),
    ("a mode", {"mode": "on"}, [(f"{RULE}/mode", "unknown_member"), (RULE, "missing")]),
    ("a rule that is text", "deny", [(RULE, "invalid")]),
    ("a rule that is a list", [], [(RULE, "invalid")]),
]
MATCH = f"{RULE}/match"
MATCHERS = [
    ({"name": 1}, [(f"{MATCH}/name", "invalid")]),
    ({"tags": [None]}, [(f"{MATCH}/tags/0", "invalid")]),
    ({"category": "skill"}, [(f"{MATCH}/category", "invalid")]),
    ({"exposure": ["Direct"]}, [(f"{MATCH}/exposure/0", "unknown_word")]),
    ({"permission_at_least": "write"}, [(f"{MATCH}/permission_at_least", "unknown_word")]),
    ({"permission_at_most": ["Write"]}, [(f"{MATCH}/permission_at_most", "unknown_word")]),
    ({"side_effects": ["money"]}, [(f"{MATCH}/side_effects/0", "unknown_word")]),
    ({"hints": {"readOnly": True}}, [(f"{MATCH}/hints/readOnly", "unknown_member")]),
    ({"hints": {"read_only": None}}, [(f"{MATCH}/hints/read_only", "invalid")]),
    ({"hints": [], "scope": {}}, [(f"{MATCH}/scope", "invalid"), (f"{MATCH}/hints", "invalid")]),
    ({"arg": []}, [(f"{MATCH}/arg", "invalid")]),
    ({"arg": {"extra": 1}}, [(f"{MATCH}/arg", "missing")] * 2),
    (
        {"arg": {"pointer": 1, "value": None}},
        [(f"{MATCH}/arg/pointer", "invalid"), (f"{MATCH}/arg/value", "invalid")],
    ),
    ({"names": "x"}, [(f"{MATCH}/names", "unknown_member")]),
]
ORDERED_RULES = [
    ("no mode", {"match": {"name": "a"}}, [(f"{RULE}/mode", "bad_mode")]),
    ("a mode of another kind", {"match": {"name": "a"}, "mode": 1}, [(f"{RULE}/mode", "bad_mode")]),
    (
        "the Kelvin sign",
        {"match": {"name": "a"}, "mode": "as\u212a"},
        [(f"{RULE}/mode", "bad_mode")],
    ),
    ("no match", {"mode": "on"}, [(MATCH, "empty_match")]),
    ("a match null", {"mode": "on", "match": None}, [(MATCH, "invalid")]),
    (
        "an exception",
        {"mode": "on", "match": {"name": "a"}, "except": {}},
        [(f"{RULE}/except", "unknown_member")],
    ),
    ("an empty match and no mode", {}, [(MATCH, "empty_match"), (f"{RULE}/mode", "bad_mode")]),
    ("a rule that is null", None, [(RULE, "invalid")]),
    ("a rule that is a number", 1, [(RULE, "invalid")]),
]
SELECTORS = [
    ({"name": " "}, [(MATCH, "empty_match")]),
    ({"name": [], "verb": ["", "\t"], "readOnly": None}, [(MATCH, "empty_match")]),
    ({"name": 1}, [(f"{MATCH}/name", "invalid")]),
    ({"readOnly": "true"}, [(f"{MATCH}/readOnly", "invalid")]),
    ({"read_only": True, "name": "a"}, [(f"{MATCH}/read_only", "unknown_member")]),
    ({"arg": {"pointer": "", "value": "*"}, "name": "a"}, [(f"{MATCH}/arg", "unknown_member")]),
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


@pytest.mark.parametrize(("_name", "rule", "expected"), RULES, ids=lambda v: str(v)[:30])
def test_what_is_wrong_with_a_strict_rule_is_named(_name, rule, expected):
    assert faults_of(parse_policy, document(strict(rule))) == expected


@pytest.mark.parametrize(("match", "expected"), MATCHERS)
def test_what_is_wrong_with_a_matcher_is_named(match, expected):
    assert faults_of(parse_policy, document(matching(**match))) == expected


@pytest.mark.parametrize(("_name", "rule", "expected"), ORDERED_RULES, ids=lambda v: str(v)[:30])
def test_what_is_wrong_with_an_ordered_rule_is_named(_name, rule, expected):
    assert faults_of(parse_policy, document(ordered(rule))) == expected


@pytest.mark.parametrize(("match", "expected"), SELECTORS)
def test_what_is_wrong_with_a_selection_is_named(match, expected):
    assert faults_of(parse_policy, document(selecting(**match))) == expected


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
    assert str(refused) == "/: first; /a: second"
    assert refused.faults == (Fault("", "first", "invalid"), Fault("/a", "second", "code"))
    assert isinstance(refused, ValueError)


# --- times ----------------------------------------------------------------------------------------

TIMES = [
    ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"),
    ("2026-03-01t12:00:00z", "2026-03-01T12:00:00Z"),
    ("2026-03-01T13:30:00+01:30", "2026-03-01T12:00:00Z"),
    ("2026-02-28T23:00:00-13:00", "2026-03-01T12:00:00Z"),
    ("2026-03-01T12:00:00.5Z", "2026-03-01T12:00:00.500000Z"),
    ("2026-03-01T12:00:00.123456789Z", "2026-03-01T12:00:00.123456Z"),
]
NO_TIMES = [
    *("", "now", "2026-03-01", "2026-03-01T12:00Z", "2026-03-01T12:00:00", "2026-03-01 12:00:00Z"),
    *("2026-13-01T12:00:00Z", "2026-02-30T12:00:00Z", "2026-03-01T25:00:00Z"),
    *("2026-03-01T12:00:60Z", "2026-03-01T12:00:00+24:00", "2026-03-01T12:00:00.Z"),
    *("2026-03-01T12:00:00123Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"),
    *("2026-03-01T12:00:00Z\n", "\u0662026-03-01T12:00:00Z", "0000-01-01T00:00:00Z", 1772366400),
]


@pytest.mark.parametrize(("written", "kept"), TIMES)
def test_a_time_is_kept_in_utc(written, kept):
    policy = parse_policy(document(set_to(valid_from=written)))
    assert dump_policy(policy)["layers"][0]["settings"] == {"valid_from": kept}


@pytest.mark.parametrize("written", NO_TIMES)
def test_what_is_no_time_with_seconds_and_offset_is_refused(written):
    found = faults_of(parse_policy, document(set_to(valid_until=written)))
    assert found == [(f"{SETTINGS}/valid_until", "invalid")]


# --- bounds ---------------------------------------------------------------------------------------

WHERE = [
    (lambda patterns: matching(name=patterns), f"{MATCH}/name"),
    (lambda patterns: matching(arg={"pointer": "", "value": patterns}), f"{MATCH}/arg/value"),
    (lambda patterns: selecting(verb=patterns), f"{MATCH}/verb"),
    (lambda patterns: strict(scope="agent", target=patterns), f"{AT}/target"),
    (
        lambda patterns: strict({"effect": "deny", "when": {"k": patterns}}),
        f"{RULE}/when/k",
    ),
]


@pytest.mark.parametrize(("place", "pointer"), WHERE)
def test_patterns_are_bounded_in_number_and_length_wherever_they_stand(place, pointer):
    most, longest = ["a"] * MAX_PATTERNS, "a" * MAX_PATTERN_LENGTH
    assert faults_of(parse_policy, document(place([longest, *most[1:]]))) == []
    too_large = [(pointer, "too_large")]
    assert faults_of(parse_policy, document(place([*most, "a"]))) == too_large
    assert faults_of(parse_policy, document(place(most * 10))) == too_large
    assert faults_of(parse_policy, document(place([longest + "a"]))) == too_large
    assert faults_of(parse_policy, document(place([*most, longest + "a"]))) == too_large * 2


def test_bare_published_layers_have_no_bounds_but_the_same_faults():
    assert faults_of(parse_layers, [{"rules": []}, {"name": "a"}]) == []
    assert faults_of(parse_layers, {}) == [("", "invalid")]
    many = [{"rules": [{"effect": "deny", "match": {"name": ["a"] * 2_000}}]}]
    assert dump_layers(parse_layers(many)) == [{"default": "allow", **many[0]}]
    assert faults_of(parse_layers, [{"rules": [{"effect": "deny", "x": 1}]}]) == [
        ("/0/rules/0/x", "unknown_member")
    ]


# --- what is accepted -----------------------------------------------------------------------------

DEFAULTS = {
    "enabled": True,
    "fail_safe": False,
    "observe": False,
    "description": "",
    "may_waive_approval": True,
    "rules": {"r": {"enabled": True, "observe": False, "examples": []}},
}


def test_settings_at_their_defaults_are_left_out():
    layer = strict({"effect": "deny", "match": {}, "id": "r"}, settings=DEFAULTS)
    [written] = dump_policy(parse_policy(document(layer)))["layers"]
    assert "settings" not in written


@pytest.mark.parametrize(("scope", "default"), [("config", True), ("session", False)])
def test_only_config_layers_may_waive_unless_it_is_said(scope, default):
    target: dict[str, Any] = {} if scope == "config" else {"target": []}
    for said in (True, False):
        layer = strict(scope=scope, settings={"may_waive_approval": said}, **target)
        [written] = dump_policy(parse_policy(document(layer)))["layers"]
        assert written.get("settings", {}).get("may_waive_approval", default) is said
        assert ("settings" in written) == (said is not default)


def test_an_empty_id_is_an_id_and_no_repetition_of_a_missing_one():
    rules = [{"effect": "deny"}, {"effect": "deny", "id": ""}, {"effect": "deny", "id": None}]
    policy = parse_policy(document(strict(*rules)))
    assert [rule.id for rule in policy.layers[0].rules] == [None, "", None]


def test_examples_keep_every_value_null_included():
    examples = [None, {"args": {"a": [1]}}, "text"]
    [written] = dump_policy(parse_policy(document(rule_set_to(examples=examples))))["layers"]
    assert written["settings"]["rules"]["r"] == {"examples": examples}


@pytest.mark.parametrize(
    ("allow", "deny", "expected"),
    [
        ([], [], {"default": "allow", "rules": []}),
        (
            ["a"],
            ["b", "c"],
            {
                "default": "deny",
                "rules": [
                    {"effect": "allow", "match": {"name": "a"}},
                    {"effect": "deny", "match": {"name": ["b", "c"]}},
                ],
            },
        ),
    ],
)
def test_the_helper_for_allow_and_deny_lists(allow, deny, expected):
    assert dump_layers([allow_deny_layer(allow, deny)]) == [expected]
