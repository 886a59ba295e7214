"""What kind of change a change of a declaration is: a table for each grade (SPEC §8)."""

import json
from typing import Any

import pytest

from toolpolicy.engine.declarations import declare
from toolpolicy.engine.grades import IN_WORDS, Grade
from toolpolicy.engine.grading import graded_changes, moved_names
from toolpolicy.engine.mcp import read_tools
from toolpolicy.engine.schema_changes import same
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import SideEffect

OBJECT = {"type": "object"}
PATH = {"type": "object", "properties": {"path": {"type": "string"}}}


def listed(**members: Any):
    tool = {"name": "run", "description": "Runs.", "inputSchema": OBJECT, **members}
    (declaration,) = read_tools([tool], family="box")
    return declaration


def graded(before, after) -> list[tuple[str, str]]:
    changes = graded_changes(before.document, after.document)
    return [(change.pointer, str(change.grade)) for change in changes]


def of_schemas(before: Any, after: Any) -> list[tuple[str, str]]:
    found = graded(listed(inputSchema=before), listed(inputSchema=after))
    return [(pointer.removeprefix("/input_schema"), grade) for pointer, grade in found]


def argument(before: Any, after: Any) -> list[tuple[str, str]]:
    """Grade the change of the schema of one argument."""
    found = of_schemas(*({"type": "object", "properties": {"a": one}} for one in (before, after)))
    return [(pointer.removeprefix("/properties/a"), grade) for pointer, grade in found]


def test_every_grade_has_its_words():
    assert set(IN_WORDS) == set(Grade)


def test_the_same_declaration_has_no_changes():
    assert graded(listed(), listed()) == []


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"title": "Run it"}, [("/title", "wording")]),
        ({"description": "Runs more."}, [("/description", "wording")]),
        ({"description": None}, [("/description", "wording")]),
        ({"annotations": {"title": "Run it"}}, [("/title", "wording")]),
        ({"annotations": {"colour": "red"}}, [("/annotations/colour", "other")]),
        ({"outputSchema": OBJECT}, [("/other/outputSchema", "other")]),
        ({"title": "Run"}, [("", "other")]),
        ({"annotations": {}}, [("", "other")]),
        ({"inputSchema": None}, [("/input_schema/type", "wider_argument")]),
    ],
)
def test_what_a_server_shows_and_what_nobody_is_judged_by(members, expected):
    assert graded(listed(), listed(**members)) == expected


@pytest.mark.parametrize(
    ("before", "after", "grade"),
    [
        ({}, {"readOnlyHint": True}, "loosened_hint"),
        ({"readOnlyHint": False}, {"readOnlyHint": True}, "loosened_hint"),
        ({"readOnlyHint": True}, {"readOnlyHint": False}, "tightened_hint"),
        ({"readOnlyHint": True}, {}, "tightened_hint"),
        ({}, {"idempotentHint": True}, "loosened_hint"),
        ({"openWorldHint": True}, {"openWorldHint": False}, "loosened_hint"),
        ({"openWorldHint": True}, {}, "loosened_hint"),
        ({}, {"openWorldHint": True}, "tightened_hint"),
        ({"destructiveHint": True}, {"destructiveHint": False}, "loosened_hint"),
        ({"destructiveHint": True}, {}, "loosened_hint"),
        ({}, {"destructiveHint": True}, "tightened_hint"),
    ],
)
def test_a_hint_that_asks_for_less_care_is_told_from_one_that_asks_for_more(before, after, grade):
    found = graded(listed(annotations=before), listed(annotations=after))
    assert {one for _, one in found} == {grade}
    assert all(pointer.startswith("/subject/") for pointer, _ in found)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"hints": {"needs_approval": True}}, {}, [("/hints/needs_approval", "loosened_hint")]),
        (
            {},
            {"hints": {"cacheable_approval": True}},
            [("/hints/cacheable_approval", "loosened_hint")],
        ),
        ({"permission": "Write"}, {"permission": "ReadOnly"}, [("/permission", "loosened_hint")]),
        ({"permission": "Write"}, {"permission": "Execute"}, [("/permission", "tightened_hint")]),
        ({}, {"permission": "Dangerous"}, [("/permission", "loosened_hint")]),
        ({"permission": "Write"}, {}, [("/permission", "tightened_hint")]),
        ({"tags": ["a"]}, {"tags": ["b"]}, [("/tags", "other")]),
        ({"name": "ran"}, {}, [("/name", "moved_name")]),
    ],
)
def test_what_a_tool_described_by_hand_says_of_itself_is_graded_too(before, after, expected):
    one, other = (declare({"name": "run", "title": "Run", **said}) for said in (before, after))
    found = [(at.removeprefix("/subject"), grade) for at, grade in graded(one, other)]
    assert found == expected


EFFECTS = dict.fromkeys(SideEffect, False)


@pytest.mark.parametrize(
    ("change", "grade"),
    [
        ({"payment": True}, "tightened_hint"),
        ({"read_only": True}, "loosened_hint"),
    ],
)
def test_side_effects_are_graded_one_by_one(change, grade):
    before = declare({"name": "run", "side_effects": EFFECTS})
    after = declare({"name": "run", "side_effects": {**EFFECTS, **change}})
    (name,) = change
    assert graded(before, after) == [(f"/subject/side_effects/{name}", grade)]


def test_side_effects_that_are_no_longer_told_are_graded_by_what_they_were():
    before = declare({"name": "run", "side_effects": {**EFFECTS, "payment": True}})
    found = dict(graded(before, declare({"name": "run"})))
    assert found["/subject/side_effects/payment"] == "loosened_hint"
    assert found["/subject/side_effects/network"] == "tightened_hint"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (OBJECT, PATH, [("/properties/path", "optional_argument")]),
        (PATH, OBJECT, [("/properties/path", "narrower_argument")]),
        (
            OBJECT,
            {**PATH, "required": ["path"]},
            [("/properties/path", "wider_argument"), ("/required", "wider_argument")],
        ),
        (PATH, {**PATH, "required": ["path"]}, [("/required", "wider_argument")]),
        ({**PATH, "required": ["path"]}, PATH, [("/required", "wider_argument")]),
        ({**PATH, "required": "path"}, {**PATH, "required": 1}, [("/required", "wider_argument")]),
        (PATH, {**OBJECT, "properties": []}, [("/properties", "wider_argument")]),
        (PATH, {**PATH, "description": "d"}, [("/description", "wording")]),
        (
            {**OBJECT, "additionalProperties": False},
            OBJECT,
            [("/additionalProperties", "wider_argument")],
        ),
        (
            {**OBJECT, "additionalProperties": False},
            {**OBJECT, "additionalProperties": {"type": "string"}},
            [("/additionalProperties", "wider_argument")],
        ),
        (
            {**OBJECT, "additionalProperties": True},
            {**OBJECT, "additionalProperties": {"type": "string"}},
            [("/additionalProperties", "narrower_argument")],
        ),
        (OBJECT, {**OBJECT, "additionalProperties": True}, [("/additionalProperties", "other")]),
        (OBJECT, {**OBJECT, "$schema": "x"}, [("/$schema", "other")]),
        (OBJECT, {**OBJECT, "$defs": {"a": {}}}, [("/$defs", "other")]),
        (
            {**OBJECT, "$defs": {"a": {"enum": [1]}, "b": {}}},
            {**OBJECT, "$defs": {"a": {"enum": [1, 2]}}},
            [("/$defs/a/enum", "wider_argument"), ("/$defs/b", "other")],
        ),
    ],
)
def test_what_a_tool_takes_now_that_it_did_not_take(before, after, expected):
    assert of_schemas(before, after) == expected


NARROWER, WIDER = "narrower_argument", "wider_argument"


@pytest.mark.parametrize(
    ("keyword", "before", "after", "grade"),
    [
        ("type", "integer", "number", WIDER),
        ("type", "number", "integer", NARROWER),
        ("type", "string", ["string", "null"], WIDER),
        ("type", ["string", "null"], "string", NARROWER),
        ("type", "string", "integer", WIDER),
        ("type", "string", None, WIDER),
        ("type", None, "string", NARROWER),
        ("enum", ["a"], ["a", "b"], WIDER),
        ("enum", ["a", "b"], ["a"], NARROWER),
        ("enum", [1], [True], WIDER),
        ("enum", ["a"], None, WIDER),
        ("enum", None, ["a"], NARROWER),
        ("const", "a", "b", WIDER),
        ("const", None, "b", NARROWER),
        ("maxLength", 10, 20, WIDER),
        ("maxLength", 20, 10, NARROWER),
        ("maxLength", 20, None, WIDER),
        ("maxLength", None, 20, NARROWER),
        ("maxLength", 20, "lots", WIDER),
        ("maximum", None, "lots", WIDER),
        ("minimum", 10, 20, NARROWER),
        ("minimum", 20, 10, WIDER),
        ("pattern", "^a$", None, WIDER),
        ("pattern", None, "^a$", NARROWER),
        ("pattern", "^a$", "^b$", WIDER),
        ("default", "a", "b", "other"),
        ("title", "a", "b", "wording"),
        ("items", {"type": "string"}, {}, WIDER),
        ("items", {}, False, NARROWER),
        ("anyOf", [{"const": 1}], [{"const": 1}, {"const": 2}], WIDER),
        ("anyOf", None, [{"const": 1}], NARROWER),
        ("oneOf", [{"const": 1}, {"const": 2}], [{"const": 1}], NARROWER),
        ("allOf", [{"const": 1}], [{"const": 1}, {"const": 2}], NARROWER),
        ("allOf", [{"const": 1}], None, WIDER),
    ],
)
def test_one_keyword_of_one_argument(keyword, before, after, grade):
    old, new = ({} if value is None else {keyword: value} for value in (before, after))
    found = argument(old, new)
    assert {one for _, one in found} == {grade}
    assert all(pointer.startswith(f"/{keyword}") for pointer, _ in found)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({"a": None}, {"b": None}, False),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        (1, 1.0, False),
        (1, True, False),
        (0, False, False),
        (0.0, -0.0, False),
        (0.1, 0.1, True),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1.0}]}, False),
        ("1", 1, False),
        ("", None, False),
        ([], {}, False),
        (None, None, True),
        (ABSENT, None, False),
        (ABSENT, "absent", False),
        (ABSENT, ABSENT, True),
    ],
)
def test_values_are_the_same_where_their_texts_are(one, other, expected):
    assert (same(one, other), same(other, one)) == (expected, expected)


def test_alternatives_and_items_are_compared_to_the_word():
    one = {"anyOf": [{"type": "string"}, {"items": {"maxLength": 5}}], "allOf": [{"const": 1}]}
    other = {"anyOf": [{"type": "string"}, {"items": {"maxLength": 9}}], "allOf": [{"enum": [1]}]}
    assert argument(one, other) == [
        ("/allOf/0/const", WIDER),
        ("/allOf/0/enum", NARROWER),
        ("/anyOf/1/items/maxLength", WIDER),
    ]


def test_a_change_says_what_was_and_what_is_and_leaves_out_what_is_not():
    (change,) = graded_changes(listed().document, listed(description="More.").document)
    assert change.wire() == {
        "grade": "wording",
        "pointer": "/description",
        "before": "Runs.",
        "after": "More.",
    }
    (added,) = graded_changes(listed().document, listed(inputSchema=PATH).document)
    assert "before" not in added.wire()
    assert json.loads(json.dumps(added.wire())) == added.wire()


def test_a_tool_under_another_name_is_the_same_tool_where_it_says_the_same():
    gone = {name: listed(name=name).document for name in ("a", "b")}
    new = [listed(name="c"), listed(name="d", title="Dee"), listed(name="e"), listed(name="f")]
    assert moved_names(gone, new) == {"c": "a", "e": "b"}


def test_tools_that_say_nothing_are_not_taken_for_each_other():
    gone = {"a": listed(name="a", description=None).document}
    assert moved_names(gone, [listed(name="b", description=None)]) == {}
