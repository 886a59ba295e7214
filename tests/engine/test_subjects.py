"""Submitted tools and contexts: strict on the faces, lenient as published (SPEC §1, §5)."""

from typing import Any

import pytest

from tests.engine.refusals import faults_of, message_of
from toolpolicy.engine.subjects import dump_subject, parse_context, parse_subject
from toolpolicy.engine.words import Hint, Mode, SideEffect

FLAGS = {str(flag): False for flag in SideEffect}
WHOLE = {
    "name": "x",
    "family": "f",
    "group": "",
    "parent": "p",
    "verb": "v",
    "method": "m",
    "scope": "s",
    "category": "skill",
    "exposure": "deferred",
    "permission": "Execute",
    "default_permission": "auto",
    "title": "X",
    "description": "does x",
    "input_schema": {"type": "object"},
    "tags": ["a", "a"],
    "side_effects": {**FLAGS, "payment": True},
    "hints": {"read_only": False, "cacheable_approval": True},
}
NAMES = ["x", "A-Z_a.z/0:9", "mcp__github__create_issue", "x" * 128]
BAD_NAMES = [
    *("", "x" * 129, "a b", "a\n", "\na", "caf\u00e9", "a\u200b", "\uff41", "a\x00", "a*", "a?"),
    *("\u202ea", "a'", "a\\", "a,b", "\u0430"),
]
FAULTS: list[tuple[Any, list[tuple[str, str]]]] = [
    (None, [("", "invalid")]),
    ([], [("", "invalid")]),
    ({}, [("", "missing")]),
    ({"name": None}, [("/name", "invalid")]),
    ({"name": 1, "family": 2}, [("/name", "invalid"), ("/family", "invalid")]),
    ({"name": "x", "tags": None}, [("/tags", "invalid")]),
    ({"name": "x", "tags": ["a", 1, None]}, [("/tags/1", "invalid"), ("/tags/2", "invalid")]),
    ({"name": "x", "category": "workflow"}, [("/category", "unknown_word")]),
    ({"name": "x", "permission": "readonly"}, [("/permission", "unknown_word")]),
    ({"name": "x", "exposure": ["direct"]}, [("/exposure", "unknown_word")]),
    ({"name": "x", "side_effects": []}, [("/side_effects", "invalid")]),
    ({"name": "x", "side_effects": {}}, [("/side_effects", "missing")] * 7),
    (
        {"name": "x", "side_effects": {**FLAGS, "payment": None}},
        [("/side_effects/payment", "invalid")],
    ),
    ({"name": "x", "hints": True}, [("/hints", "invalid")]),
    ({"name": "x", "hints": {"read_only": "yes"}}, [("/hints/read_only", "invalid")]),
    ({"name": "x", "default_permission": "maybe"}, [("/default_permission", "bad_default")]),
    ({"name": "x", "default_permission": 1}, [("/default_permission", "bad_default")]),
    ({"name": "x", "title": 1}, [("/title", "invalid")]),
]
STRICT_FAULTS: list[tuple[Any, list[tuple[str, str]]]] = [
    ({"name": "x", "nmae": 1}, [("/nmae", "unknown_member")]),
    (
        {"name": "x", "side_effects": {**FLAGS, "a/b": 1}},
        [("/side_effects/a~1b", "unknown_member")],
    ),
    ({"name": "x", "hints": {"readOnly": True}}, [("/hints/readOnly", "unknown_member")]),
    (
        {"name": "a b", "colour": "red", "exposure": "no"},
        [("/colour", "unknown_member"), ("/name", "name_refused"), ("/exposure", "unknown_word")],
    ),
]


@pytest.mark.parametrize(("wire", "expected"), FAULTS)
def test_what_is_wrong_with_a_subject_is_named_strict_or_not(wire, expected):
    assert faults_of(parse_subject, wire) == expected
    assert faults_of(parse_subject, wire, strict=False) == expected


@pytest.mark.parametrize(("wire", "expected"), STRICT_FAULTS)
def test_unknown_members_and_bad_names_are_refused_on_the_faces_alone(wire, expected):
    assert faults_of(parse_subject, wire) == expected
    lenient = [fault for fault in expected if fault[1] == "unknown_word"]
    assert faults_of(parse_subject, wire, strict=False) == lenient


@pytest.mark.parametrize("name", NAMES)
def test_names_of_tools(name):
    assert parse_subject({"name": name}).name == name


@pytest.mark.parametrize("name", BAD_NAMES)
def test_what_is_no_name_is_refused_and_shown_in_print(name):
    assert faults_of(parse_subject, {"name": name}) == [("/name", "name_refused")]
    assert message_of(parse_subject, {"name": name}).isprintable()


def test_all_attributes_are_kept_and_null_is_absent():
    assert dump_subject(parse_subject(WHOLE)) == WHOLE
    optional = {name: None for name in WHOLE if name not in ("name", "tags")}
    assert dump_subject(parse_subject({"name": "x", **optional})) == {"name": "x"}


@pytest.mark.parametrize(
    ("hints", "strict", "lenient"),
    [
        ({"read_only": True}, False, None),
        ({"read_only": True, "destructive": None}, False, None),
        ({"read_only": True, "destructive": True}, True, True),
        ({"read_only": False}, None, None),
        ({"idempotent": True}, None, None),
    ],
)
def test_read_only_implies_not_destructive_on_the_faces_alone(hints, strict, lenient):
    for switch, expected in ((True, strict), (False, lenient)):
        subject = parse_subject({"name": "x", "hints": hints}, strict=switch)
        assert subject.hint(Hint.DESTRUCTIVE) is expected


def test_a_default_permission_is_trimmed_and_folded():
    assert (
        parse_subject({"name": "x", "default_permission": " AsK\t"}).default_permission is Mode.ASK
    )


CONTEXTS = [
    ([], [("", "invalid")]),
    ({"a/b": 1, "c": None}, [("/a~1b", "invalid"), ("/c", "invalid")]),
    ({"sandbox_mode": "Full"}, [("/sandbox_mode", "unknown_word")]),
    ({"sandbox_mode": ""}, [("/sandbox_mode", "unknown_word")]),
    ({"untrusted_content": "yes"}, [("/untrusted_content", "unknown_word")]),
    ({"untrusted_content": True}, [("/untrusted_content", "invalid")]),
    (
        {"x": [], "untrusted_content": "1", "sandbox_mode": "off"},
        [
            ("/x", "invalid"),
            ("/sandbox_mode", "unknown_word"),
            ("/untrusted_content", "unknown_word"),
        ],
    ),
]
GOOD_CONTEXTS = [
    {},
    {"": "", "agent": "", "Sandbox_mode": "anything"},
    *({"sandbox_mode": word} for word in ("read_only", "workspace_write", "full")),
    *({"untrusted_content": word} for word in ("true", "false")),
]


@pytest.mark.parametrize(("wire", "expected"), CONTEXTS)
def test_what_is_wrong_with_a_context_is_named(wire, expected):
    assert faults_of(parse_context, wire) == expected


@pytest.mark.parametrize("context", GOOD_CONTEXTS)
def test_a_context_is_texts_by_name(context):
    assert parse_context(context) == context
