"""Rules of policy documents, strict and ordered: each fault is named where it stands (SPEC §10)."""

import pytest

from tests.engine.refusals import faults_of
from tests.engine.wire import MATCH, RULE, document, matching, ordered, selecting, strict
from toolpolicy.engine.documents import parse_policy

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
