"""`services.decisions.list_tools`: what an agent may see, and what a call of each would meet."""

import json
from typing import Any

import pytest

from tests.live import SYSTEM, make_live, register, strict
from toolpolicy.engine.questions import parse_list_question, parse_question
from toolpolicy.models import Freeze, Record
from toolpolicy.services import decisions
from toolpolicy.services.errors import Unavailable

pytestmark = pytest.mark.django_db


def list_tools(**members):
    question = parse_list_question({"surface": "catalog", **members})
    return decisions.list_tools(asker=SYSTEM, question=question)


def states(answer):
    return {tool["name"]: tool["call"] for tool in answer.document["tools"]}


def test_each_listed_tool_says_what_a_call_would_meet():
    branch = {"pointer": "/branch", "value": "main"}
    make_live(
        [
            strict(
                {"effect": "deny", "match": {"name": "git_push", "arg": branch}},
                {"effect": "deny", "match": {"name": "git_wipe"}},
                {"effect": "deny", "on": ["call"], "match": {"name": "git_gc"}},
                {"effect": "require_approval", "match": {"name": "git_tag"}},
            )
        ]
    )
    names = ("git_push", "git_wipe", "git_gc", "git_tag", "git_log")
    register("git", *[{"name": name} for name in names])
    answer = list_tools()
    assert states(answer) == {
        "git_push": "depends_on_arguments",
        "git_gc": "refused",
        "git_tag": "needs_approval",
        "git_log": "allowed",
    }
    [push] = [tool for tool in answer.document["tools"] if tool["name"] == "git_push"]
    assert push["open"] == [
        {
            "layer": "base",
            "rule": "r0",
            "index": 0,
            "effect": "deny",
            "arguments": [{"pointer": "/branch", "value": "main"}],
        }
    ]


def test_a_dispatcher_and_a_tool_with_privilege_by_argument_always_depend_on_arguments():
    make_live([])
    register("hub", {"name": "run"}, dispatcher={"target": "/tool"})
    privilege = [{"pointer": "/sql", "patterns": "DROP*", "level": "Dangerous"}]
    register("db", {"name": "query", "permission": "ReadOnly"}, privilege=privilege)
    assert set(states(list_tools()).values()) == {"depends_on_arguments"}


def test_exposure_says_where_a_registered_tool_is_found():
    make_live([])
    for exposure in ("direct", "deferred", "hidden"):
        register("kit", {"name": f"tool_{exposure}", "exposure": exposure})
    register("kit", {"name": "tool_unknown"})
    assert list_tools().names == ["tool_direct", "tool_unknown"]
    found = list_tools(surface="search").names
    assert found == ["tool_deferred", "tool_direct", "tool_unknown"]


def test_a_search_finds_names_before_titles_before_descriptions():
    make_live([])
    register(
        "kit",
        {"name": "a", "title": "Other", "description": "Send a letter"},
        {"name": "b", "title": "Send letter"},
        {"name": "send_letter"},
        {"name": "send_parcel"},
    )
    assert list_tools(surface="search", query="letter SEND").names == ["send_letter", "b", "a"]


def test_what_is_frozen_retired_or_denied_is_withheld_and_recorded_with_its_cause():
    make_live([strict({"effect": "deny", "match": {"name": "no"}})])
    register("kit", {"name": "no"}, {"name": "yes"}, {"name": "cold"})
    Freeze.objects.create(kind="tool", value="cold", reason="x", created_by_label="x")
    answer = list_tools()
    assert answer.names == ["yes"]
    record = Record.objects.get(uid=answer.listing_id)
    body = json.loads(record.body.text)
    assert record.kind == "listing"
    assert body["listed"] == [["kit", "yes", "allowed"]]
    assert body["withheld"] == [["kit", "cold", "frozen"], ["kit", "no", "rule_denied"]]


def test_submitted_subjects_are_listed_where_the_registry_does_not_know_better():
    make_live([strict({"effect": "deny", "match": {"hints": {"destructive": True}}})])
    register("kit", {"name": "known", "hints": {"destructive": True}})
    subjects = [
        {"name": "known", "family": "kit", "hints": {"destructive": False}},
        {"name": "mine", "hints": {"destructive": False}},
        {"name": "KNOWN"},
    ]
    assert list_tools(subjects=subjects).names == ["mine"]


def test_without_a_policy_nothing_is_listed():
    with pytest.raises(Unavailable) as refused:
        list_tools()
    assert refused.value.code == "no_policy"


def test_no_call_meets_what_its_listing_ruled_out():
    """The listing law through the service, over a small policy with every effect."""
    to = {"pointer": "/to", "value": "*@example.com"}
    make_live(
        [
            strict(
                {"effect": "allow", "match": {"name": "mail_*", "arg": to}},
                {"effect": "allow", "match": {"name": "fs_*"}},
                {"effect": "require_approval", "match": {"arg": {"pointer": "/big", "value": "*"}}},
                {"effect": "hide", "match": {"name": "fs_hidden"}},
                default="deny",
                settings={"fail_safe": True},
            )
        ]
    )
    register("kit", *[{"name": n} for n in ("mail_send", "fs_read", "fs_hidden", "other")])
    listed = states(list_tools())
    allowed_by_state = {
        "allowed": {"allow"},
        "needs_approval": {"needs_approval"},
        "refused": {"deny"},
        "depends_on_arguments": {"allow", "needs_approval", "deny"},
    }
    arguments: list[Any] = [
        None,
        {},
        {"to": "a@example.com"},
        {"to": ["x"]},
        {"big": 1},
        {"big": {}},
        "text",
    ]
    assert set(listed) == {"mail_send", "fs_read"}
    for name, state in listed.items():
        for args in arguments:
            question = parse_question({"surface": "call", "tool": name, "arguments": args})
            answer = decisions.decide(asker=SYSTEM, question=question)
            assert answer.outcome in allowed_by_state[state]
