"""Tools that run other tools, as hosts have them: nothing is reached by a way round (SPEC §7)."""

from typing import Any

import pytest

from tests.live import SYSTEM, make_live, register, strict
from toolpolicy.engine.questions import parse_question
from toolpolicy.services import decisions

pytestmark = pytest.mark.django_db


def ask(tool, arguments=None, **members):
    said = {} if arguments is None else {"arguments": arguments}
    question = parse_question({"surface": "call", "tool": tool, **said, **members})
    return decisions.decide(asker=SYSTEM, question=question)


def told(answer):
    """Return the outcome, its reason, and the tool that it is about."""
    about = answer.document.get("about") or {}
    return answer.outcome, answer.reason_code, about.get("name")


class TestGenericConnector:
    """One tool that executes any action of a toolkit, named in its arguments."""

    @pytest.fixture(autouse=True)
    def connector(self):
        make_live(
            [
                strict(
                    {"id": "no-deleting", "effect": "deny", "match": {"name": "GMAIL_DELETE_*"}},
                    {
                        "id": "ask-to-send",
                        "effect": "require_approval",
                        "match": {
                            "name": "GMAIL_SEND_EMAIL",
                            "arg": {"pointer": "/to", "value": "*@example.com"},
                        },
                    },
                )
            ]
        )
        dispatcher = {
            "target": ["/tool_slug", "/action"],
            "arguments": "/arguments",
            "target_required": True,
            "known_targets_only": True,
        }
        register("composio", {"name": "composio_execute"}, dispatcher=dispatcher)
        names = ("GMAIL_DELETE_EMAIL", "GMAIL_SEND_EMAIL", "GMAIL_FETCH_EMAILS")
        register("gmail", *({"name": name} for name in names))

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"tool_slug": "GMAIL_FETCH_EMAILS"}, ("allow", "allowed")),
            ({"tool_slug": "GMAIL_DELETE_EMAIL"}, ("deny", "rule_denied")),
            ({"action": "GMAIL_DELETE_EMAIL"}, ("deny", "rule_denied")),
            (
                {"tool_slug": "GMAIL_FETCH_EMAILS", "action": "GMAIL_DELETE_EMAIL"},
                ("deny", "dispatcher_bad_target"),
            ),
            ({"tool_slug": "gmail_delete_email"}, ("deny", "name_refused")),
            ({"tool_slug": "GMAIL_DELETE_EMAILS"}, ("deny", "dispatcher_unknown_target")),
            ({"tool_slug": "GMAIL_DELETE_EMAIL "}, ("deny", "dispatcher_bad_target")),
            ({"tool_slug": ["GMAIL_DELETE_EMAIL"]}, ("deny", "dispatcher_bad_target")),
            ({"tool_slug": None}, ("deny", "dispatcher_bad_target")),
            ({"tool_slug": ""}, ("deny", "dispatcher_bad_target")),
            ({}, ("deny", "dispatcher_bad_target")),
            ({"arguments": {"tool_slug": "GMAIL_FETCH_EMAILS"}}, ("deny", "dispatcher_bad_target")),
            (
                {"tool_slug": "GMAIL_SEND_EMAIL", "arguments": {"to": "a@example.com"}},
                ("needs_approval", "needs_approval"),
            ),
            (
                {"tool_slug": "GMAIL_SEND_EMAIL", "arguments": {"to": "a@elsewhere.test"}},
                ("allow", "allowed"),
            ),
            (
                {"tool_slug": "GMAIL_SEND_EMAIL", "to": "a@example.com", "arguments": {}},
                ("allow", "allowed"),
            ),
        ],
    )
    def test_an_action_meets_the_rules_for_itself_against_its_own_arguments(
        self, arguments, expected
    ):
        answer = ask("composio_execute", arguments)
        assert (answer.outcome, answer.reason_code) == expected

    def test_the_refusal_names_the_action_and_not_the_connector(self):
        answer = ask("composio_execute", {"tool_slug": "GMAIL_DELETE_EMAIL"})
        assert told(answer) == ("deny", "rule_denied", "GMAIL_DELETE_EMAIL")
        assert "'GMAIL_DELETE_EMAIL'" in answer.message

    def test_a_stated_target_does_not_stand_in_for_the_one_in_the_arguments(self):
        stated = [{"tool": "GMAIL_FETCH_EMAILS"}]
        answer = ask("composio_execute", {"tool_slug": "GMAIL_DELETE_EMAIL"}, targets=stated)
        assert answer.outcome == "deny"

    def test_no_arguments_at_all_name_no_target(self):
        assert ask("composio_execute").reason_code == "dispatcher_bad_target"


class TestSkillRunner:
    """A tool that runs a skill, which may have a family of its own and may be left out."""

    @pytest.fixture(autouse=True)
    def runner(self):
        make_live([strict({"effect": "deny", "match": {"family": "ops", "name": "deploy"}})])
        dispatcher = {"target": "/skill", "family": "/pack", "arguments": "/input"}
        register("core", {"name": "run_skill"}, dispatcher=dispatcher)
        register("ops", {"name": "deploy"}, {"name": "status"})

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"skill": "deploy"}, ("deny", "rule_denied", "deploy")),
            ({"skill": "deploy", "pack": "ops"}, ("deny", "rule_denied", "deploy")),
            ({"skill": "deploy", "pack": "made_up"}, ("deny", "rule_denied", "deploy")),
            ({"skill": "status", "pack": "ops"}, ("allow", "allowed")),
            ({"skill": "written_by_the_user"}, ("allow", "allowed")),
            ({}, ("allow", "allowed")),
        ],
    )
    def test_a_skill_is_judged_as_what_is_registered_whatever_family_is_claimed(
        self, arguments, expected
    ):
        assert told(ask("run_skill", arguments))[: len(expected)] == expected


class TestBatchWrapper:
    """A tool that runs a list of calls: one refused item refuses all of them."""

    @pytest.fixture(autouse=True)
    def wrapper(self):
        make_live(
            [
                strict(
                    {
                        "effect": "deny",
                        "match": {"name": "rm", "arg": {"pointer": "/path", "value": "/etc/*"}},
                    },
                    {"effect": "require_approval", "match": {"name": "send"}},
                )
            ]
        )
        dispatcher = {
            "items": "/calls",
            "target": "/name",
            "arguments": "/input",
            "target_required": True,
        }
        register("core", {"name": "batch"}, dispatcher=dispatcher)
        register("box", {"name": "ls"}, {"name": "rm"}, {"name": "send"})

    @pytest.mark.parametrize(
        ("calls", "expected"),
        [
            ([{"name": "ls"}, {"name": "ls"}], ("allow", "allowed")),
            ([{"name": "ls"}, {"name": "send"}], ("needs_approval", "needs_approval", "send")),
            (
                [{"name": "send"}, {"name": "rm", "input": {"path": "/etc/hosts"}}],
                ("deny", "rule_denied", "rm"),
            ),
            ([{"name": "rm", "input": {"path": "/home/x"}}], ("allow", "allowed")),
            ([{"name": "ls"}, {"input": {}}], ("deny", "dispatcher_bad_target")),
            ([{"name": "ls"}, "ls"], ("deny", "dispatcher_bad_target")),
            ([], ("deny", "dispatcher_bad_target")),
            ({"name": "ls"}, ("deny", "dispatcher_bad_target")),
            (None, ("deny", "dispatcher_bad_target")),
        ],
    )
    def test_every_item_must_be_callable(self, calls, expected):
        assert told(ask("batch", {"calls": calls}))[: len(expected)] == expected

    def test_a_thousand_items_are_judged_and_one_more_is_not(self):
        assert ask("batch", {"calls": [{"name": "ls"}] * 1000}).outcome == "allow"
        answer = ask("batch", {"calls": [{"name": "ls"}] * 1001})
        assert answer.reason_code == "dispatcher_too_deep"


class TestDispatcherOfDispatchers:
    """Tools that run tools that run tools, each with its own arguments."""

    @pytest.fixture(autouse=True)
    def tower(self):
        make_live([strict({"effect": "deny", "match": {"name": "wipe"}})])
        dispatcher = {"target": "/tool", "arguments": "/args"}
        for number in range(10):
            register("tower", {"name": f"floor_{number}"}, dispatcher=dispatcher)
        batch = {"items": "/calls", "target": "/tool", "arguments": "/args"}
        register("core", {"name": "batch"}, dispatcher=batch)
        register("box", {"name": "wipe"}, {"name": "look"})

    def through(self, *names):
        """Return the arguments of the first of these tools that reach the last of them."""
        arguments: dict[str, Any] = {}
        for name in reversed(names[1:]):
            arguments = {"tool": name, "args": arguments}
        return arguments

    @pytest.mark.parametrize("floors", [1, 2, 7])
    def test_the_last_target_is_judged_however_many_stand_between(self, floors):
        names = [f"floor_{number}" for number in range(floors)]
        assert ask(names[0], self.through(*names, "look")).outcome == "allow"
        answer = ask(names[0], self.through(*names, "wipe"))
        assert told(answer) == ("deny", "rule_denied", "wipe")

    def test_beyond_eight_hops_nothing_is_followed_any_more(self):
        names = [f"floor_{number}" for number in range(9)]
        assert ask(names[0], self.through(*names[:8], "look")).outcome == "allow"
        answer = ask(names[0], self.through(*names, "look"))
        assert (answer.outcome, answer.reason_code) == ("deny", "dispatcher_too_deep")

    def test_a_tool_that_reaches_itself_is_refused(self):
        answer = ask("floor_0", self.through("floor_0", "floor_1", "floor_0"))
        assert (answer.outcome, answer.reason_code) == ("deny", "dispatcher_cycle")

    def test_the_same_tool_beside_itself_is_no_cycle(self):
        inner = {"tool": "floor_0", "args": {"tool": "look"}}
        assert ask("batch", {"calls": [inner, inner]}).outcome == "allow"

    def test_one_bad_leaf_of_a_batch_of_dispatchers_refuses_all(self):
        calls = [
            {"tool": "floor_0", "args": {"tool": "look"}},
            {"tool": "floor_1", "args": {"tool": "floor_2", "args": {"tool": "wipe"}}},
        ]
        assert told(ask("batch", {"calls": calls})) == ("deny", "rule_denied", "wipe")
