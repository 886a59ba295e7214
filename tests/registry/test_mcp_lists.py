"""What a published tool list becomes: names, titles, hints exactly as declared, what is derived."""

import json

import pytest

from tests.registry.samples import (
    PUBLISHED_COUNTS,
    needs_published,
    published,
    tickets,
    tool,
)
from toolpolicy.engine.declarations import Declaration, effective_subject
from toolpolicy.engine.mcp import HINTS, read_tools
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.words import Hint, Permission


def document_of(declaration: Declaration):
    return json.loads(declaration.text)


def read_one(**members):
    (declaration,) = read_tools([tool("run", **members)], family="box")
    return document_of(declaration)


def test_the_whole_answer_its_result_and_the_bare_list_are_one():
    answer = tickets()
    whole = read_tools(answer, family="desk")
    assert whole == read_tools(answer["result"], family="desk")
    assert whole == read_tools(answer["result"]["tools"], family="desk")
    assert [declaration.name for declaration in whole] == [
        "find_ticket",
        "close_ticket",
        "add-comment.v2",
    ]


def test_the_prefix_stands_before_every_name_and_not_in_made_titles():
    found = read_tools(tickets(), family="desk", prefix="mcp__desk__")
    assert [declaration.name for declaration in found] == [
        "mcp__desk__find_ticket",
        "mcp__desk__close_ticket",
        "mcp__desk__add-comment.v2",
    ]
    assert [declaration.title for declaration in found] == [
        "Find a ticket",
        "Close a ticket",
        "Add Comment V2",
    ]


def test_a_title_comes_from_the_tool_then_its_annotations_then_its_name():
    assert read_one(title="Own", annotations={"title": "Noted"})["title"] == "Own"
    assert read_one(title=" ", annotations={"title": "Noted"})["title"] == "Noted"
    made = read_one(annotations={"title": ""})
    assert (made["title"], "title" in made["derived"]) == ("Run", True)
    assert "title" not in read_one(title="Own")["derived"]


def test_a_declaration_keeps_everything_that_was_published():
    (_, close, _) = read_tools(tickets(), family="desk")
    kept = document_of(close)
    published_tool = tickets()["result"]["tools"][1]
    assert kept["annotations"] == published_tool["annotations"]
    assert kept["description"] == published_tool["description"]
    assert kept["input_schema"] == published_tool["inputSchema"]
    assert kept["other"] == {name: published_tool[name] for name in ("outputSchema", "_meta")}


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("published_name", HINTS)
def test_one_declared_hint_is_that_hint_and_no_other(published_name, value):
    said = read_one(annotations={published_name: value})["subject"]["hints"]
    expected = {str(HINTS[published_name]): value}
    if (published_name, value) == ("destructiveHint", True):
        expected["needs_approval"] = True
    assert said == expected


def test_silence_and_null_stay_unknown():
    for members in ({}, {"annotations": None}, {"annotations": {"readOnlyHint": None}}):
        document = read_one(**members)
        assert "hints" not in document["subject"]
        assert effective_subject(document).hints == ()


def test_a_read_only_tool_is_not_destructive():
    subject = effective_subject(read_one(annotations={"readOnlyHint": True}))
    assert subject.hints == ((Hint.READ_ONLY, True), (Hint.DESTRUCTIVE, False))


@pytest.mark.parametrize(
    ("annotations", "permission"),
    [
        ({}, Permission.WRITE),
        ({"readOnlyHint": False}, Permission.WRITE),
        ({"readOnlyHint": True}, Permission.READ_ONLY),
        ({"readOnlyHint": True, "destructiveHint": False}, Permission.READ_ONLY),
        ({"destructiveHint": True}, Permission.DANGEROUS),
        ({"destructiveHint": False}, Permission.WRITE),
        ({"readOnlyHint": True, "destructiveHint": True}, Permission.DANGEROUS),
    ],
)
def test_the_permission_is_derived_from_the_hints_and_marked(annotations, permission):
    document = read_one(annotations=annotations)
    assert document["subject"]["permission"] == permission
    assert "permission" in document["derived"]


def test_a_declared_destructive_tool_needs_approval_and_that_is_marked():
    document = read_one(annotations={"destructiveHint": True})
    assert document["subject"]["hints"]["needs_approval"] is True
    assert "hints.needs_approval" in document["derived"]
    assert "hints.needs_approval" not in read_one()["derived"]


def test_the_text_does_not_depend_on_the_order_of_members():
    turned = [dict(reversed(item.items())) for item in tickets()["result"]["tools"]]
    assert [d.digest for d in read_tools(turned, family="desk")] == [
        d.digest for d in read_tools(tickets(), family="desk")
    ]


@needs_published
@pytest.mark.parametrize("name", PUBLISHED_COUNTS)
def test_a_published_list_is_read_whole_and_its_hints_as_declared(name):
    document = published(name)
    found = read_tools(document, family=name)
    assert len(found) == PUBLISHED_COUNTS[name]
    for item, declaration in zip(document["tools"], found, strict=True):
        kept = document_of(declaration)
        annotations = item.get("annotations") or {}
        said = {str(hint): annotations[key] for key, hint in HINTS.items() if key in annotations}
        if said.get("destructive"):
            said["needs_approval"] = True
        assert kept["subject"].get("hints", {}) == said
        assert kept["annotations"] == item.get("annotations")
        assert parse_subject(kept["subject"]).name == item["name"]
