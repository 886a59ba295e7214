"""`POST decisions/`: one question, one recorded answer."""

import json
import uuid

import pytest

from tests.factories import SYSTEM, make_layer, make_rule
from toolpolicy.conf import UnregisteredTools
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import Layer, Record, SessionTaint
from toolpolicy.services import decisions, freezes, registry

QUESTION = {
    "surface": "call",
    "tool": "send_mail",
    "arguments": {"to": "a@example.org"},
    "context": {"agent": "support-bot"},
}
TOOLS = {
    "tools": [
        {"name": "send_mail", "inputSchema": {"type": "object"}},
        {"name": "wipe", "annotations": {"destructiveHint": True}},
    ]
}


@pytest.fixture
def mail(api):
    registry.import_tools(actor=SYSTEM, family="mail", document=TOOLS)


@pytest.fixture
def no_mail(mail):
    layer = make_layer("house rules")
    return make_rule(
        layer,
        id="no-mail-outside",
        effect="deny",
        on=["call"],
        match={"name": "send_*", "arg": {"pointer": "/to", "value": "*@example.org"}},
        reason="mail stays inside",
    )


def test_an_answer_has_every_member_and_is_recorded(api, mail):
    response = api.post("decisions/", QUESTION, X_Request_ID="r-1")
    answer = response.json()
    assert response.status_code == 200
    assert answer == {
        "decision_id": answer["decision_id"],
        "surface": "call",
        "tool": {"family": "mail", "name": "send_mail"},
        "outcome": "allow",
        "reason_code": "allowed",
        "message": "Tool 'send_mail' may be used.",
        "visible": True,
        "callable": True,
        "approval": "default",
        "blocked_by": None,
        "policy": {"version": 1, "digest": api.get("policy/").json()["digest"]},
    }
    record = Record.objects.select_related("body").get(uid=answer["decision_id"])
    body = json.loads(record.body.text)
    assert (record.kind, record.client, record.request_id) == ("decision", api.client, "r-1")
    assert body["asker"]["key_id"] == api.client.key_id
    assert body["answer"] == {k: v for k, v in answer.items() if k != "decision_id"}


def test_a_deny_is_no_error_and_names_its_rule(api, no_mail):
    response = api.post("decisions/", QUESTION)
    answer = response.json()
    assert (response.status_code, answer["outcome"]) == (200, "deny")
    assert answer["reason_code"] == "rule_denied"
    assert answer["blocked_by"] == {
        "layer": "house rules",
        "scope": "config",
        "rule": "no-mail-outside",
        "index": 0,
        "reason": "mail stays inside",
    }
    assert "mail stays inside" in answer["message"]
    allowed = {**QUESTION, "arguments": {"to": "a@example.com"}}
    assert api.post("decisions/", allowed).json()["outcome"] == "allow"


def test_over_http_and_in_process_the_answer_is_the_same(api, no_mail):
    over_http = api.post("decisions/", QUESTION).json()
    answer = decisions.decide(asker=SYSTEM, question=parse_question(QUESTION)).document
    assert {**over_http, "decision_id": ""} == {**answer, "decision_id": ""}


@pytest.mark.parametrize("surface", ["catalog", "search", "call"])
def test_every_surface_is_answered(api, mail, surface):
    question = {"surface": surface, "tool": {"family": "mail", "name": "wipe"}}
    answer = api.post("decisions/", question).json()
    outcome = "needs_approval" if surface == "call" else "list"
    assert (answer["outcome"], answer["reason_code"]) == (outcome, "needs_approval")


def test_a_tool_that_nobody_registered_is_judged_by_what_is_said_of_it(api):
    subject = {"name": "drop", "hints": {"needs_approval": True}}
    answer = api.post("decisions/", {"surface": "call", "subject": subject}).json()
    assert answer["outcome"] == "needs_approval"


def test_what_is_said_of_a_registered_tool_is_not_believed(api, mail):
    subject = {"name": "wipe", "family": "mail", "hints": {"needs_approval": False}}
    answer = api.post("decisions/", {"surface": "call", "subject": subject}).json()
    assert answer["outcome"] == "needs_approval"
    record = Record.objects.select_related("body").get(uid=answer["decision_id"])
    assert "hints" in json.loads(record.body.text)["submitted_differs"]


def test_an_unknown_or_ambiguous_tool_is_denied_and_says_which(api, mail, settings):
    settings.TOOLPOLICY = type(settings.TOOLPOLICY)(unregistered_tools=UnregisteredTools.DENY)
    registry.import_tools(actor=SYSTEM, family="post", document=TOOLS)
    asked = {
        "send_mail": "tool_ambiguous",
        "SEND_MAIL": "name_refused",
        "send_mails": "tool_unregistered",
    }
    for name, code in asked.items():
        answer = api.post("decisions/", {**QUESTION, "tool": name}).json()
        assert (answer["outcome"], answer["reason_code"]) == ("deny", code)
        assert name in answer["message"]
    elsewhere = {**QUESTION, "tool": {"family": "chat", "name": "send_mail"}}
    assert api.post("decisions/", elsewhere).json()["reason_code"] == "name_refused"


def test_a_dry_run_is_recorded_as_a_simulation(api, mail):
    answer = api.post("decisions/", {**QUESTION, "dry_run": True}).json()
    assert Record.objects.get(uid=answer["decision_id"]).kind == "simulation"


def test_a_freeze_comes_before_every_rule(api, mail):
    values = {"kind": "agent", "value": "support-bot", "reason": "it misbehaves"}
    freezes.freeze(actor=SYSTEM, values=values)
    answer = api.post("decisions/", QUESTION).json()
    assert (answer["outcome"], answer["reason_code"]) == ("deny", "frozen")
    assert "it misbehaves" in answer["message"]


def test_without_a_policy_nothing_is_allowed(key_with):
    api = key_with("decide")
    answer = api.post("decisions/", QUESTION).json()
    assert (answer["outcome"], answer["reason_code"]) == ("deny", "no_policy")
    assert Record.objects.get(uid=answer["decision_id"]).reason_code == "no_policy"


def test_a_newer_policy_than_the_live_one_can_be_asked_for(api, mail):
    make_layer("one more")
    for least, expected in ((2, ("allow", "allowed")), (3, ("deny", "stale_policy"))):
        answer = api.post("decisions/", {**QUESTION, "min_policy_version": least}).json()
        assert (answer["outcome"], answer["reason_code"]) == expected


def test_a_published_change_decides_the_next_request(api, mail):
    made = api.post("layers/", {"name": "house rules"}).json()
    rule = {"layer": made["pk"], "effect": "deny", "match": {"name": "send_mail"}}
    published = api.post("rules/", rule).json()["policy"]
    answer = api.post("decisions/", QUESTION).json()
    assert answer["outcome"] == "deny"
    assert answer["policy"] == published


def test_reading_untrusted_content_taints_the_session_of_this_key_only(api, key_with, mail):
    question = {**QUESTION, "context": {"session": "s-1"}}
    api.post("decisions/", question)
    assert [(t.client, t.session) for t in SessionTaint.objects.all()] == [(api.client, "s-1")]
    other = key_with("decide")
    answer = other.post("decisions/", {**question, "dry_run": True}).json()
    record = Record.objects.select_related("body").get(uid=answer["decision_id"])
    assert json.loads(record.body.text)["context"] == {"session": "s-1"}


# --- pinned context -------------------------------------------------------------------------------


@pytest.fixture
def pinned(key_with, api):
    pins = {"agent": "support-bot", "sandbox_mode": "read_only"}
    return key_with("decide", "explain", pinned_context=pins)


SENT = {"agent": "support-bot", "sandbox_mode": "read_only", "session": "s-1"}
FAULTY = [
    ({}, ["/context/agent", "/context/sandbox_mode"]),
    ({**SENT, "agent": "other"}, ["/context/agent"]),
    ({**SENT, "agent": "Support-Bot"}, ["/context/agent"]),
    ({"agent": "support-bot"}, ["/context/sandbox_mode"]),
]


def test_a_bound_key_may_ask_with_its_context_and_more(pinned):
    assert pinned.post("decisions/", {**QUESTION, "context": SENT}).status_code == 200


@pytest.mark.parametrize(("context", "pointers"), FAULTY)
@pytest.mark.parametrize("path", ["decisions/", "explain/", "catalog/"])
def test_a_bound_key_may_not_ask_with_another_context(pinned, path, context, pointers):
    surface = "catalog" if path == "catalog/" else "call"
    question = {"surface": surface, "context": context}
    response = pinned.post(path, question if path == "catalog/" else {**QUESTION, **question})
    problem = response.json()
    assert (response.status_code, problem["code"]) == (403, "pinned_context")
    assert [error["pointer"] for error in problem["errors"]] == pointers
    assert list(Record.objects.filter(client=pinned.client).values_list("kind", flat=True)) == [
        "refused"
    ]


def test_in_a_batch_only_the_items_of_another_context_are_refused(pinned):
    items = [{}, {"context": {"agent": "other"}}]
    sent = {"defaults": {**QUESTION, "context": SENT}, "items": items}
    first, second = pinned.post("decisions/batch/", sent).json()["results"]
    assert first["reason_code"] == "needs_approval"  # the sandbox is read-only
    assert (second["status"], second["code"], second["outcome"]) == (403, "pinned_context", "deny")
    assert second["errors"][0]["pointer"] == "/items/1/context/agent"


# --- idempotency ----------------------------------------------------------------------------------


def decide(api, key="k-1", question=QUESTION):
    return api.post("decisions/", question, Idempotency_Key=key)


def test_a_repeat_gets_the_recorded_answer_again(api, mail):
    first, again = decide(api), decide(api)
    assert first.content == again.content
    assert Record.objects.filter(kind="decision").count() == 1
    assert decide(api, "k-2").json()["decision_id"] != first.json()["decision_id"]


def test_a_key_of_another_body_is_refused(api, mail):
    decide(api)
    response = decide(api, question={**QUESTION, "arguments": {}})
    assert (response.status_code, response.json()["code"]) == (422, "idempotency_key_reused")
    assert Record.objects.filter(kind="decision").count() == 1


def test_keys_of_two_clients_have_nothing_to_do_with_each_other(api, key_with, mail):
    assert decide(api).json()["decision_id"] != decide(key_with("decide")).json()["decision_id"]


def change_policy():
    make_rule(Layer.objects.filter(name="house rules").first() or make_layer(), match={"name": "*"})


def change_registry():
    registry.quarantine_tool(actor=SYSTEM, family="mail", name="send_mail")


def change_freezes():
    values = {"kind": "tool", "value": "send_mail", "reason": "stop"}
    freezes.freeze(actor=SYSTEM, values=values)


@pytest.mark.parametrize("change", [change_policy, change_registry, change_freezes])
def test_a_repeat_is_decided_anew_once_something_changed(api, mail, change):
    first = decide(api).json()
    change()
    again = decide(api).json()
    assert (first["outcome"], again["outcome"]) == ("allow", "deny")


def test_a_repeat_is_decided_anew_after_a_while(api, mail, settings, monkeypatch):
    first = decide(api).json()
    settings.TOOLPOLICY = type(settings.TOOLPOLICY)(idempotency_seconds=1)
    record = Record.objects.get(uid=first["decision_id"])
    later = record.at.timestamp() + 2
    monkeypatch.setattr(
        "django.utils.timezone.now", lambda: type(record.at).fromtimestamp(later, record.at.tzinfo)
    )
    assert decide(api).json()["decision_id"] != first["decision_id"]


@pytest.mark.parametrize("key", ["", "x" * 129, "é", "a\tb"])
def test_a_key_is_1_to_128_printable_characters(api, mail, key):
    response = decide(api, key)
    problem = response.json()
    assert (response.status_code, problem["code"]) == (400, "bad_header")
    assert problem["errors"][0]["header"] == "Idempotency-Key"
    assert decide(api, "x" * 128).status_code == 200


def test_a_decision_id_is_a_uuid(api, mail):
    assert uuid.UUID(api.post("decisions/", QUESTION).json()["decision_id"]).version == 4
