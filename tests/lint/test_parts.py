"""The parts that lint is made of: nearest names, schemas, and conditions on contexts."""

import pytest

from toolpolicy.engine.lint.conditions import MOST_PARTS, Asks, example, implies, parts
from toolpolicy.engine.lint.nearest import Nearest
from toolpolicy.engine.lint.schemas import DEEPEST, may_hold, pointers


def test_a_name_is_found_among_many_that_begin_alike():
    near = Nearest([f"github_{number}" for number in range(100)] + ["github_search_code"])
    assert near.find("gihub_serch_code*") == "github_search_code"
    assert near.find("quux") is None
    assert Nearest([]).find("anything") is None


PLAIN = {"type": "object", "properties": {"path": {"type": "string"}, "to": {"type": "object"}}}
LIST = {"type": "array", "items": {"type": "string"}}
REFERRING = {
    "$defs": {"place": PLAIN},
    "type": "object",
    "properties": {"at": {"$ref": "#/$defs/place"}, "far": {"$ref": "other.json"}, "list": LIST},
}
LOOP: dict[str, object] = {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "names", "may"),
    [
        (PLAIN, ["path"], True),
        (PLAIN, ["paht"], False),
        (PLAIN, ["path", "x"], False),
        (PLAIN, ["to", "anything"], True),
        (PLAIN, [], True),
        (None, ["x"], True),
        ({}, ["x"], True),
        (True, ["x"], True),
        ({"type": "object"}, ["x"], True),
        ({"type": "object", "additionalProperties": False}, ["x"], False),
        ({**PLAIN, "additionalProperties": True}, ["x"], True),
        ({**PLAIN, "additionalProperties": {"type": "string"}}, ["x"], True),
        ({**PLAIN, "patternProperties": {"^x": {}}}, ["y"], True),
        ({**PLAIN, "anyOf": [{"properties": {"x": {}}}, {"properties": {}}]}, ["x"], True),
        ({**PLAIN, "allOf": [{"properties": {"x": {}}}], "then": {"required": []}}, ["y"], True),
        ({**PLAIN, "oneOf": [{"properties": {"x": {}}}]}, ["y"], False),
        ({"oneOf": [{"properties": {"x": {}}}, {"type": "string"}]}, ["y"], False),
        (REFERRING, ["at", "path"], True),
        (REFERRING, ["at", "paht"], False),
        (REFERRING, ["far", "x"], True),
        (REFERRING, ["list", "0"], True),
        (REFERRING, ["list", "x"], False),
        (LOOP, ["a"] * (DEEPEST + 1), True),
        (LOOP, ["a", "b"], False),
    ],
)
def test_an_argument_is_missed_only_where_the_schema_says_what_there_is(schema, names, may):
    assert may_hold(schema, names) is may


def test_the_arguments_that_a_schema_names_are_pointers():
    nested = {"properties": {"a/b": {"properties": {"c": {"properties": {"d": {}}}}}, "e": True}}
    assert list(pointers(nested)) == ["/a~1b", "/e", "/a~1b/c", "/a~1b/c/d"]
    assert list(pointers(None)) == []


def test_lists_of_values_are_split_up_to_a_bound():
    few = frozenset({Asks("k", ("a", "b"), items=False), Asks("l", ("c", "d*"), items=False)})
    assert len(parts(few)) == 2
    many = frozenset({Asks("k", tuple(f"v{n}" for n in range(MOST_PARTS + 1)), items=False)})
    assert parts(many) == [many]


def test_what_would_take_too_long_to_prove_is_not_claimed():
    plain, same = Asks("k", ("a*",), items=False), Asks("k", ("a*", "b"), items=False)
    assert implies(plain, same)
    hard = "*".join("a" * 40)
    nasty = tuple(f"{'?' * n}*a{'?' * n}*" for n in range(1, 14))
    assert not implies(Asks("k", (f"*{hard}*",), items=False), Asks("k", nasty, items=False))


def test_conditions_on_other_keys_or_in_the_other_dialect_imply_nothing():
    one = Asks("k", ("a",), items=False)
    assert not implies(one, Asks("l", ("a",), items=False))
    assert not implies(one, Asks("k", ("a",), items=True))


def test_an_example_is_a_value_that_was_sent_where_one_fits():
    box = frozenset({Asks("agent", ("c*",), items=False), Asks("agent", ("*r",), items=False)})
    assert example(box, {"agent": ("x", "coder")}) == {"agent": "coder"}
    contrary = frozenset({Asks("agent", ("x",), items=False), Asks("agent", ("y",), items=False)})
    assert example(contrary, {}) is None
