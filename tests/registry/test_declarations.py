"""Declarations and the subject a tool is judged as: trust, overrides, and what is derived."""

import doctest
import json

import pytest

from tests.registry.samples import tool
from toolpolicy.engine import declarations
from toolpolicy.engine.declarations import (
    changed_members,
    declare,
    effective_subject,
    family_fault,
    prefix_fault,
)
from toolpolicy.engine.faults import Faults
from toolpolicy.engine.mcp import read_tools
from toolpolicy.engine.words import Category, Hint, Permission

LOOSE = {
    "readOnlyHint": True,
    "idempotentHint": True,
    "destructiveHint": False,
    "openWorldHint": False,
}
STRICT = {
    "readOnlyHint": False,
    "idempotentHint": False,
    "destructiveHint": True,
    "openWorldHint": True,
}


def imported(**annotations):
    (declaration,) = read_tools([tool("run", annotations=annotations)], family="box")
    return json.loads(declaration.text)


def declared(**members):
    return json.loads(declare({"name": "run", "family": "box", **members}).text)


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(declarations).failed == 0


@pytest.mark.parametrize("name", ["github", "a.b-c_d:e", "x" * 128])
def test_a_good_family_name_passes(name):
    assert family_fault(name) is None


@pytest.mark.parametrize("name", ["", "a/b", "a b", "x" * 129, "a\n", "\u0433ithub"])
def test_a_bad_family_name_is_said(name):
    assert family_fault(name)


def test_a_prefix_may_be_empty_but_not_long_or_strange():
    assert prefix_fault("") is None
    assert prefix_fault("mcp__github__") is None
    assert prefix_fault("x" * 65)
    assert prefix_fault("mcp github")


def test_a_hand_made_tool_says_what_it_says_and_only_a_title_is_made():
    document = declared(verb="list", hints={"destructive": True})
    assert document["derived"] == ["title"]
    assert document["title"] == "Run"
    assert document["subject"] == {
        "name": "run",
        "family": "box",
        "verb": "list",
        "hints": {"destructive": True},
    }
    assert effective_subject(document).permission is None


def test_what_is_only_shown_stands_beside_the_subject_and_comes_back_on_it():
    document = declared(title="Run it", description="Runs.", input_schema={"type": "object"})
    assert "title" not in document["subject"]
    subject = effective_subject(document)
    assert (subject.title, subject.description) == ("Run it", "Runs.")
    assert subject.input_schema == {"type": "object"}


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"name": "no good"}, "/name"),
        ({"permission": "readonly"}, "/permission"),
        ({"hints": {"readOnly": True}}, "/hints/readOnly"),
        ({"title": "x" * 201}, "/title"),
        ({"unknown": 1}, "/unknown"),
        ({"input_schema": float("nan")}, ""),
    ],
)
def test_a_bad_hand_made_tool_is_refused_with_its_place(members, pointer):
    with pytest.raises(Faults) as refused:
        declared(**members)
    assert [fault.pointer for fault in refused.value.faults] == [pointer]


def test_a_family_that_is_not_trusted_is_not_believed_where_it_asks_for_less_care():
    subject = effective_subject(imported(**LOOSE), trusted=False)
    assert subject.hints == ()
    assert subject.permission is Permission.WRITE


def test_nothing_is_inferred_from_a_hint_that_is_not_believed():
    subject = effective_subject(imported(readOnlyHint=True), trusted=False)
    assert subject.hint(Hint.DESTRUCTIVE) is None
    assert subject.permission is Permission.WRITE


def test_a_cacheable_approval_of_a_family_that_is_not_trusted_is_dropped():
    document = declared(hints={"cacheable_approval": True})
    assert effective_subject(document).hint(Hint.CACHEABLE_APPROVAL) is True
    assert effective_subject(document, trusted=False).hint(Hint.CACHEABLE_APPROVAL) is None


def test_what_asks_for_more_care_is_believed_of_everybody():
    document = imported(**STRICT)
    assert effective_subject(document, trusted=False) == effective_subject(document)


def test_overrides_are_laid_over_member_by_member_and_hint_by_hint():
    document = imported(destructiveHint=True, openWorldHint=True)
    subject = effective_subject(
        document, overrides={"category": "skill", "tags": ["mail"], "hints": {"open_world": False}}
    )
    assert (subject.category, subject.tags) == (Category.SKILL, ("mail",))
    assert dict(subject.hints) == {
        Hint.DESTRUCTIVE: True,
        Hint.OPEN_WORLD: False,
        Hint.NEEDS_APPROVAL: True,
    }


def test_an_override_stands_above_the_lack_of_trust():
    overrides = {"hints": {"read_only": True}}
    subject = effective_subject(imported(**LOOSE), trusted=False, overrides=overrides)
    assert subject.hint(Hint.READ_ONLY) is True
    assert subject.permission is Permission.READ_ONLY


def test_a_derived_permission_follows_the_hints_that_are_left():
    document = imported()
    assert effective_subject(document).permission is Permission.WRITE
    assert (
        effective_subject(document, overrides={"hints": {"read_only": True}}).permission
        is Permission.READ_ONLY
    )
    assert (
        effective_subject(document, overrides={"permission": "Execute"}).permission
        is Permission.EXECUTE
    )


def test_a_declared_permission_follows_nothing():
    document = declared(permission="Execute", hints={"read_only": True})
    assert effective_subject(document, trusted=False).permission is Permission.EXECUTE


def test_a_null_override_makes_unknown():
    document = imported(destructiveHint=True)
    assert effective_subject(document, overrides={"permission": None}).permission is None
    assert effective_subject(document, overrides={"hints": None}).hints == ()
    left = effective_subject(document, overrides={"hints": {"needs_approval": None}})
    assert left.hint(Hint.NEEDS_APPROVAL) is None


@pytest.mark.parametrize(
    ("overrides", "pointer"),
    [
        ({"name": "other"}, "/name"),
        ({"family": "other"}, "/family"),
        ({"hints": ["read_only"]}, "/hints"),
        ({"hints": {"read_only": "yes"}}, "/hints/read_only"),
        ({"permission": "root"}, "/permission"),
        ({"colour": "red"}, "/colour"),
    ],
)
def test_a_bad_override_is_refused_with_its_place(overrides, pointer):
    with pytest.raises(Faults) as refused:
        effective_subject(imported(), overrides=overrides)
    assert [fault.pointer for fault in refused.value.faults] == [pointer]


def test_the_changed_members_are_named_those_of_the_subject_one_by_one():
    before = imported(readOnlyHint=True)
    after = imported(readOnlyHint=False)
    assert changed_members(before, after) == ("annotations", "hints", "permission")
    assert changed_members(before, before) == ()


def test_a_number_that_changes_its_kind_is_a_change():
    assert changed_members(declared(input_schema=1), declared(input_schema=True)) == (
        "input_schema",
    )
