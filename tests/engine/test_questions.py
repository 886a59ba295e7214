"""What a host asks: every fault of a decision or listing is named with its pointer (DESIGN §3)."""

from typing import Any

import pytest

from tests.engine.refusals import faults_of
from toolpolicy.engine.questions import (
    MAX_CONTEXT,
    MAX_CONTEXT_TEXT,
    MAX_SUBJECTS,
    MAX_TARGETS,
    Asked,
    ListQuestion,
    Question,
    parse_list_question,
    parse_question,
)
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Surface

Expected = list[tuple[str, str]]
CALL = {"surface": "call", "tool": "x"}
SUBJECT = {"name": "x", "family": "f", "permission": "Write"}


def test_a_question_by_name_has_defaults_for_the_rest():
    asked = parse_question(CALL)
    assert asked == Question(surface=Surface.CALL, tool=Asked(name="x"))
    assert (asked.tool.arguments, asked.min_policy_version) == (ABSENT, None)


def test_a_question_in_full_is_read_whole():
    wire = {
        "surface": "search",
        "subject": SUBJECT,
        "arguments": None,
        "context": {"agent": "a", "sandbox_mode": "full"},
        "targets": [{"tool": {"name": "y", "family": "g"}, "arguments": {"p": 1}}, {"tool": "z"}],
        "dry_run": True,
        "explain": True,
        "min_policy_version": 7,
    }
    submitted = parse_subject(SUBJECT)
    assert parse_question(wire) == Question(
        surface=Surface.SEARCH,
        tool=Asked(name="x", family="f", submitted=submitted, arguments=None),
        context={"agent": "a", "sandbox_mode": "full"},
        targets=(Asked(name="y", family="g", arguments={"p": 1}), Asked(name="z")),
        dry_run=True,
        explain=True,
        min_policy_version=7,
    )


FAULTS: list[tuple[Any, Expected]] = [
    (None, [("", "invalid")]),
    ([CALL], [("", "invalid")]),
    ({}, [("", "missing")] * 2),
    ({"surface": "call"}, [("", "missing")]),
    ({**CALL, "subject": SUBJECT}, [("", "missing")]),
    ({**CALL, "tool": None}, [("", "missing")]),
    ({**CALL, "tool": "a b"}, [("/tool", "name_refused")]),
    ({**CALL, "tool": ["x"]}, [("/tool", "invalid")]),
    ({**CALL, "tool": {"family": "f"}}, [("/tool", "missing")]),
    ({**CALL, "tool": {"name": "", "family": 1}}, [
        ("/tool/name", "name_refused"), ("/tool/family", "invalid")
    ]),
    ({**CALL, "tool": {"name": "x", "verb": "get"}}, [("/tool/verb", "unknown_member")]),
    ({"surface": "call", "subject": {"name": "x", "hints": 1}}, [("/subject/hints", "invalid")]),
    ({**CALL, "surface": "Call"}, [("/surface", "unknown_word")]),
    ({**CALL, "surface": None}, [("/surface", "unknown_word")]),
    ({**CALL, "args": {}}, [("/args", "unknown_member")]),
    ({**CALL, "context": []}, [("/context", "invalid")]),
    ({**CALL, "context": None}, [("/context", "invalid")]),
    ({**CALL, "context": {"a/b": 1, "sandbox_mode": "no"}}, [
        ("/context/a~1b", "invalid"), ("/context/sandbox_mode", "unknown_word")
    ]),
    ({**CALL, "context": {"k": "v" * (MAX_CONTEXT_TEXT + 1)}}, [("/context/k", "too_large")]),
    (
        {**CALL, "context": {str(n): "" for n in range(MAX_CONTEXT + 1)}},
        [("/context", "too_large")],
    ),
    ({**CALL, "targets": {}}, [("/targets", "invalid")]),
    ({**CALL, "targets": [{}, {"tool": "y", "surface": "call"}]}, [
        ("/targets/0", "missing"), ("/targets/1/surface", "unknown_member")
    ]),
    ({**CALL, "targets": [{"tool": "y"}] * (MAX_TARGETS + 1)}, [("/targets", "too_large")]),
    ({**CALL, "dry_run": "true", "explain": None}, [
        ("/dry_run", "invalid"), ("/explain", "invalid")
    ]),
    ({**CALL, "min_policy_version": True}, [("/min_policy_version", "invalid")]),
    ({**CALL, "min_policy_version": 1.5}, [("/min_policy_version", "invalid")]),
]  # fmt: skip
LIST_FAULTS: list[tuple[Any, Expected]] = [
    (None, [("", "invalid")]),
    ({}, [("", "missing")]),
    ({"surface": "call"}, [("/surface", "unknown_word")]),
    ({"surface": "catalog", "tool": "x"}, [("/tool", "unknown_member")]),
    ({"surface": "catalog", "query": 1}, [("/query", "invalid")]),
    ({"surface": "catalog", "subjects": {}}, [("/subjects", "invalid")]),
    ({"surface": "catalog", "subjects": ["x", {"name": "a b"}]}, [
        ("/subjects/0", "invalid"), ("/subjects/1/name", "name_refused")
    ]),
    (
        {"surface": "search", "subjects": [{"name": "x"}] * (MAX_SUBJECTS + 1)},
        [("/subjects", "too_large")],
    ),
    ({"surface": "search", "context": {"untrusted_content": "yes"}}, [
        ("/context/untrusted_content", "unknown_word")
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "expected"), FAULTS, ids=lambda value: str(value)[:40])
def test_what_is_wrong_with_a_question_is_named(wire, expected):
    assert faults_of(parse_question, wire) == expected


@pytest.mark.parametrize(("wire", "expected"), LIST_FAULTS, ids=lambda value: str(value)[:40])
def test_what_is_wrong_with_a_question_for_a_listing_is_named(wire, expected):
    assert faults_of(parse_list_question, wire) == expected


def test_several_faults_are_named_at_once():
    wire = {"surface": "cal", "tool": "a b", "context": {"k": 1}, "targets": [1], "dry_run": 0}
    assert faults_of(parse_question, wire) == [
        ("/surface", "unknown_word"),
        ("/tool", "name_refused"),
        ("/context/k", "invalid"),
        ("/targets/0", "invalid"),
        ("/dry_run", "invalid"),
    ]


def test_just_inside_the_bounds_is_read():
    context = {
        str(n).rjust(MAX_CONTEXT_TEXT, "k"): "v" * MAX_CONTEXT_TEXT for n in range(MAX_CONTEXT)
    }
    wire = {**CALL, "context": context, "targets": [{"tool": "y"}] * MAX_TARGETS}
    asked = parse_question(wire)
    assert (len(asked.context), len(asked.targets)) == (MAX_CONTEXT, MAX_TARGETS)


def test_a_listing_is_of_the_registry_or_of_what_is_submitted():
    assert parse_list_question({"surface": "search"}) == ListQuestion(surface=Surface.SEARCH)
    wire = {
        "surface": "catalog",
        "subjects": [SUBJECT],
        "query": "q",
        "context": {"k": ""},
        "min_policy_version": 1,
    }
    assert parse_list_question(wire) == ListQuestion(
        surface=Surface.CATALOG,
        subjects=(parse_subject(SUBJECT),),
        query="q",
        context={"k": ""},
        min_policy_version=1,
    )
    nothing = {"surface": "catalog", "subjects": None, "query": None, "min_policy_version": None}
    assert parse_list_question(nothing) == ListQuestion(surface=Surface.CATALOG)
    assert parse_list_question({"surface": "catalog", "subjects": []}).subjects == ()
