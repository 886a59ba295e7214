"""`services.decisions.decide`: identity, freezes, taint, dispatchers, records."""

import json
from dataclasses import replace

import pytest

from tests.decisions.asking import ask
from tests.live import make_live, register, strict
from toolpolicy.conf import UnregisteredTools
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import Freeze, Record, RuleUsage, SessionTaint
from toolpolicy.services import decisions

pytestmark = pytest.mark.django_db

READ = {"name": "fs_read", "hints": {"read_only": True, "open_world": False}}
SEND = {"name": "mail_send", "hints": {"open_world": True}}


def body_of(answer):
    return json.loads(Record.objects.get(uid=answer.decision_id).body.text)


class TestIdentity:
    def test_a_registered_tool_is_judged_by_its_declaration(self):
        make_live([strict({"effect": "deny", "match": {"hints": {"read_only": False}}})])
        register("fs", {"name": "fs_write", "hints": {"read_only": False}})
        lie = {"name": "fs_write", "family": "fs", "hints": {"read_only": True}}
        answer = ask(subject=lie)
        assert answer.reason_code == "rule_denied"
        assert body_of(answer)["submitted_differs"] == ["hints"]

    def test_a_bare_name_of_several_families_is_refused(self):
        make_live([])
        register("a", READ)
        register("b", READ)
        assert ask(tool="fs_read").reason_code == "tool_ambiguous"
        assert ask(tool={"family": "b", "name": "fs_read"}).outcome == "allow"

    @pytest.mark.parametrize("named", ["FS_read", {"family": "other", "name": "fs_read"}])
    def test_a_registered_name_in_another_case_or_family_is_refused(self, named):
        make_live([])
        register("fs", READ)
        answer = ask(tool=named)
        assert (answer.outcome, answer.reason_code) == ("deny", "name_refused")

    @pytest.mark.parametrize(
        ("setting", "outcome", "code"),
        [
            ("evaluate", "allow", "allowed"),
            ("require_approval", "needs_approval", "needs_approval"),
            ("deny", "deny", "tool_unregistered"),
        ],
    )
    def test_an_unregistered_tool_meets_the_deployments_setting(
        self, settings, setting, outcome, code
    ):
        changed = replace(settings.TOOLPOLICY, unregistered_tools=UnregisteredTools(setting))
        settings.TOOLPOLICY = changed
        make_live([])
        answer = ask(tool="unknown_tool")
        assert (answer.outcome, answer.reason_code) == (outcome, code)


class TestWithoutPolicy:
    def test_every_call_is_denied_and_recorded(self):
        answer = ask(tool="anything")
        assert (answer.outcome, answer.reason_code) == ("deny", "no_policy")
        assert body_of(answer)["answer"]["reason_code"] == "no_policy"

    def test_a_version_that_is_not_live_here_yet_is_denied(self):
        make_live([])
        assert ask(tool="x", min_policy_version=2).reason_code == "stale_policy"
        assert ask(tool="x", min_policy_version=1).outcome == "allow"


class TestFreezes:
    @pytest.mark.parametrize(
        ("kind", "value"),
        [("tool", "fs_read"), ("family", "fs"), ("agent", "coder"), ("channel", "slack")],
    )
    def test_a_freeze_stops_the_next_decision(self, kind, value):
        make_live([])
        register("fs", READ)
        members = {"tool": "fs_read", "context": {"agent": "coder", "channel": "slack"}}
        assert ask(**members).outcome == "allow"
        freeze = Freeze.objects.create(
            kind=kind, value=value, reason="odd behaviour", created_by_label="x"
        )
        answer = ask(**members)
        assert (answer.outcome, answer.reason_code) == ("deny", "frozen")
        assert "odd behaviour" in answer.message
        freeze.lifted_at = freeze.created_at
        freeze.save()
        assert ask(**members).outcome == "allow"

    def test_a_frozen_target_stops_its_dispatcher(self):
        make_live([])
        register("hub", {"name": "run"}, dispatcher={"target": "/tool"})
        register("mail", SEND)
        Freeze.objects.create(kind="family", value="mail", reason="x", created_by_label="x")
        answer = ask(tool="run", arguments={"tool": "mail_send"})
        assert answer.document["about"] == {"family": "mail", "name": "mail_send"}


class TestDispatchers:
    @pytest.fixture(autouse=True)
    def hub(self):
        make_live([strict({"effect": "deny", "match": {"name": "mail_*"}})])
        dispatcher = {"target": "/tool", "arguments": "/args", "known_targets_only": True}
        register("hub", {"name": "run"}, dispatcher=dispatcher)
        register("mail", SEND)
        register("fs", READ)

    def test_a_denied_target_is_reached_by_no_dispatcher(self):
        answer = ask(tool="run", arguments={"tool": "mail_send", "args": {}})
        assert answer.reason_code == "rule_denied"
        assert answer.document["about"] == {"family": "mail", "name": "mail_send"}
        assert answer.message.startswith("Tool 'mail_send' is not permitted")

    def test_an_admitted_target_is_admitted(self):
        assert ask(tool="run", arguments={"tool": "fs_read"}).outcome == "allow"

    def test_the_answer_names_the_target_that_needs_approval(self):
        register("pay", {"name": "pay_out", "hints": {"needs_approval": True}})
        answer = ask(tool="run", arguments={"tool": "pay_out"})
        assert answer.outcome == "needs_approval"
        assert answer.document["about"] == {"family": "pay", "name": "pay_out"}
        assert answer.message.startswith("Tool 'pay_out' needs the approval")

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            ({"tool": 7}, "dispatcher_bad_target"),
            ({"tool": "nobody_knows"}, "dispatcher_unknown_target"),
            ({"tool": "run"}, "dispatcher_cycle"),
            ({"tool": "FS_READ"}, "name_refused"),
        ],
    )
    def test_a_bad_target_is_refused(self, arguments, code):
        answer = ask(tool="run", arguments=arguments)
        assert (answer.outcome, answer.reason_code) == ("deny", code)


class TestTaint:
    def test_an_open_world_call_taints_the_later_decisions_of_its_session(self, client_actor):
        when = {"untrusted_content": "true"}
        make_live([strict({"effect": "deny", "match": {"name": "fs_*"}, "when": when})])
        register("fs", READ)
        register("mail", SEND)
        here, there = {"session": "s1"}, {"session": "s2"}
        assert ask(client_actor, tool="fs_read", context=here).outcome == "allow"
        assert ask(client_actor, tool="mail_send", context=here).outcome == "allow"
        lowered = {**here, "untrusted_content": "false"}
        assert ask(client_actor, tool="fs_read", context=here).outcome == "deny"
        assert ask(client_actor, tool="fs_read", context=lowered).outcome == "deny"
        assert ask(client_actor, tool="fs_read", context=there).outcome == "allow"
        assert SessionTaint.objects.get().session == "s1"

    @pytest.mark.parametrize(
        "members",
        [
            {"tool": "mail_send", "dry_run": True},
            {"tool": "mail_send", "surface": "catalog"},
            {"tool": "fs_read"},
            {"tool": "denied"},
        ],
    )
    def test_nothing_else_taints(self, client_actor, members):
        make_live([strict({"effect": "deny", "match": {"name": "denied"}})])
        register("fs", READ)
        register("mail", SEND)
        ask(client_actor, context={"session": "s1"}, **members)
        assert not SessionTaint.objects.exists()

    def test_within_a_batch_earlier_items_count_for_later_ones(self, client_actor):
        when = {"untrusted_content": "true"}
        make_live([strict({"effect": "deny", "match": {"name": "fs_*"}, "when": when})])
        register("fs", READ)
        register("mail", SEND)
        questions = [
            parse_question({"surface": "call", "tool": name, "context": {"session": "s"}})
            for name in ("fs_read", "mail_send", "fs_read")
        ]
        answers = decisions.decide_batch(asker=client_actor, questions=questions)
        assert [answer.outcome for answer in answers] == ["allow", "allow", "deny"]


class TestRecords:
    def test_a_record_names_all_that_the_decision_was_judged_by(self, client_actor):
        version = make_live([strict({"effect": "deny", "match": {"name": "mail_*"}})])
        register("mail", SEND)
        answer = ask(client_actor, tool="mail_send", context={"agent": "coder"})
        record = Record.objects.get(uid=answer.decision_id)
        assert (record.kind, record.outcome, record.tool) == ("decision", "deny", "mail_send")
        assert (record.layer, record.rule, record.agent) == ("base", "r0", "coder")
        assert record.client == client_actor.client
        body = body_of(answer)
        assert body["policy"] == {"version": 1, "digest": version.document_id}
        assert body["asked"]["arguments"] == {}
        assert body["judged"][0]["declaration"].startswith("sha256:")
        assert body["answer"]["outcome"] == "deny"

    def test_a_dry_run_is_a_simulation_and_counts_no_use(self):
        make_live([])
        answer = ask(tool="x", dry_run=True)
        assert Record.objects.get(uid=answer.decision_id).kind == "simulation"
        assert not RuleUsage.objects.exists()

    def test_each_rule_that_matched_is_counted_and_the_decision_once(self):
        make_live(
            [
                strict(
                    {"effect": "allow", "match": {"name": "x*"}},
                    {"effect": "deny", "match": {"name": "*x"}},
                    {"effect": "deny", "match": {"name": "y"}},
                )
            ]
        )
        ask(tool="x")
        ask(tool="x")
        counted = {(u.layer, u.rule): u.count for u in RuleUsage.objects.all()}
        assert counted == {("", ""): 2, ("base", "r0"): 2, ("base", "r1"): 2}

    def test_a_replay_gives_the_recorded_answer_after_everything_changed(self):
        make_live([strict({"effect": "deny", "match": {"name": "mail_*"}})])
        register("mail", SEND)
        answer = ask(tool="mail_send", explain=True)
        make_live([])
        register("mail", {**SEND, "description": "now another one"})
        replayed = decisions.replay(Record.objects.get(uid=answer.decision_id))
        assert replayed.same
        assert replayed.explanation == answer.document["explanation"]

    def test_a_changed_tool_needs_approval_until_it_is_reviewed(self):
        make_live([])
        register("fs", READ)
        register("fs", {**READ, "description": "other words"})
        assert ask(tool="fs_read").outcome == "needs_approval"
