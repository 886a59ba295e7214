"""Policy documents: times, bounds of patterns, and what of the accepted is kept (SPEC §10)."""

from typing import Any

import pytest

from tests.engine.refusals import faults_of
from tests.engine.wire import (
    AT,
    MATCH,
    RULE,
    SETTINGS,
    document,
    matching,
    rule_set_to,
    selecting,
    set_to,
    strict,
)
from toolpolicy.engine.documents import (
    MAX_PATTERN_LENGTH,
    MAX_PATTERNS,
    allow_deny_layer,
    dump_layers,
    dump_policy,
    parse_layers,
    parse_policy,
)

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
