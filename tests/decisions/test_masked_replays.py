"""Masked records judged again, checked and repeated; and what is said once a value is gone."""

import json
from typing import Any

import pytest

from tests.decisions.test_masking import (
    QUESTION,
    RUN,
    SECRETS,
    ask,
    house,  # noqa: F401  (a fixture)
    lay,
    tables_with,
)
from tests.live import SYSTEM, make_client, make_live, register, strict
from toolpolicy.audit.commitments import opens
from toolpolicy.engine import canonical
from toolpolicy.engine.met_values import HIDDEN
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import MaskedValue, Record
from toolpolicy.services import decisions
from toolpolicy.services.actors import Actor
from toolpolicy.services.decisions import Idempotency
from toolpolicy.services.decisions.proving import prove
from toolpolicy.services.payloads import ValuesMissing, look, payload_of

pytestmark = pytest.mark.django_db

CALL: dict[str, Any] = {
    "surface": "call",
    "tool": "send",
    "arguments": {"password": "canary-x", "n": 1},
}


@pytest.mark.parametrize("explain", [True, False])
def test_a_masked_record_is_judged_again_by_the_values_that_are_kept(house, explain):  # noqa: F811
    record = ask({**QUESTION, "explain": explain})
    replayed = decisions.replay(record)
    assert replayed.same
    [rule] = replayed.explanation["subjects"][0]["layers"][0]["rules"][:1]
    assert rule["met"][0] == {"field": "arg /password", "actual": SECRETS["password"]}


def test_a_record_holds_its_explanation_without_values(house):  # noqa: F811
    body = json.loads(ask(QUESTION).body.text)
    rules = body["answer"]["explanation"]["subjects"][0]["layers"][0]["rules"]
    assert rules[0]["met"][0] == {"field": "arg /password", "actual": HIDDEN}
    assert rules[3]["actual"] == HIDDEN  # of a context key that is masked
    assert rules[0]["met"][1] == {"field": "team", "actual": "red"}


def said(error: pytest.ExceptionInfo[ValuesMissing]) -> list[tuple[str, str]]:
    return [(fault.pointer, fault.message) for fault in error.value.faults]


def test_what_was_erased_is_named_and_nothing_is_guessed(house):  # noqa: F811
    record = ask({**CALL, "arguments": {"password": "canary-x", "token": "y"}})
    MaskedValue.objects.get(pointer="/asked/arguments/password").delete()
    with pytest.raises(ValuesMissing) as missing:
        decisions.replay(record)
    pointer = "/asked/arguments/password"
    assert said(missing) == [(pointer, f"the value at {pointer} was erased")]


def test_what_was_never_kept_is_named(house):  # noqa: F811
    lay("send", mode="digest")
    record = ask(CALL)
    with pytest.raises(ValuesMissing) as missing:
        decisions.replay(record)
    pointer = "/asked/arguments"
    words = f"the value at {pointer} was never kept, only a digest of it"
    assert said(missing) == [(pointer, words)]


def test_who_has_the_value_has_a_digest_only_record_judged_again(house):  # noqa: F811
    lay("send", mode="digest")
    record = ask(CALL)
    assert decisions.question_of(record, {"asked": CALL}).tool.arguments == CALL["arguments"]
    with pytest.raises(ValuesMissing):
        decisions.question_of(record, {"asked": {**CALL, "arguments": {}}})
    assert decisions.replay(record, parse_question(CALL)).same


def forge(row: MaskedValue, value: Any) -> None:
    row.delete()
    MaskedValue.objects.create(
        record=row.record, pointer=row.pointer, salt=row.salt, value=canonical.dumps(value)
    )


def test_a_value_that_is_not_the_recorded_one_is_not_taken_for_it(house):  # noqa: F811
    record = ask(CALL)
    forge(MaskedValue.objects.get(), "another")
    with pytest.raises(ValuesMissing) as missing:
        decisions.replay(record)
    assert said(missing)[0][1].endswith("is not the value that was recorded")


VALUES: list[Any] = [None, True, 0, -0.0, 1.5, "", "text é", [], {"b": [1], "a": None}]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_who_holds_value_and_salt_can_check_one_commitment(house, value):  # noqa: F811
    record = ask({**CALL, "arguments": {"password": value}})
    commitment = json.loads(record.body.text)["asked"]["arguments"]["password"]
    row = MaskedValue.objects.get()
    assert opens(commitment, salt=row.salt, value=value)
    assert not opens(commitment, salt=row.salt, value=[value])
    assert not opens(commitment, salt="00" * 16, value=value)
    assert payload_of(record).body["asked"]["arguments"] == {"password": value}


@pytest.mark.parametrize(
    ("said", "salt", "value"),
    [("masked:sha256:x", "zz", 1), ("é", "00", 1), (None, "00", 1), ("x", "00", float("nan"))],
)
def test_what_cannot_be_a_commitment_is_none(said, salt, value):
    assert not opens(said, salt=salt, value=value)


# --- repeats -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["masked", "digest", "full"])
def test_a_repeat_gets_the_same_answer_with_its_whole_explanation(house, mode):  # noqa: F811
    lay("send", mode=mode)
    client, once = Actor.for_client(make_client()), Idempotency("k", "hmac:x")
    question = parse_question(QUESTION)
    first, again = (
        decisions.decide(asker=client, question=question, idempotency=once) for _ in range(2)
    )
    assert canonical.dumps(again.document) == canonical.dumps(first.document)
    assert Record.objects.filter(kind="decision").count() == 1
    MaskedValue.objects.all().delete()
    third = decisions.decide(asker=client, question=question, idempotency=once)
    assert canonical.dumps(third.document) == canonical.dumps(first.document)


# --- targets that are named where nothing is shown -----------------------------------------------

SECRET = "s3cr3t-in-a-name"
NAMED = {"surface": "call", "tool": "run", "arguments": {"tool": SECRET, "args": {}}}
MASKS: list[dict[str, Any]] = [{"mode": "digest"}, {"pointers": ["/tool"]}, {"pointers": [""]}]
RULES: list[dict[str, Any]] = [
    {"effect": "allow", "match": {}},
    {"effect": "deny", "match": {"name": "s3cr3t*"}},
    {"effect": "require_approval", "match": {"name": "s3cr3t*"}},
]


@pytest.mark.parametrize("rules", MASKS, ids=str)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["effect"])
@pytest.mark.parametrize("known_only", [True, False])
def test_a_masked_targets_name_stands_nowhere_and_the_record_proves_as_others_do(
    house,  # noqa: F811
    rules,
    rule,
    known_only,
):
    make_live([strict(rule)])
    register("kit", {"name": "hub"}, dispatcher={**RUN, "known_targets_only": known_only})
    lay("hub", **rules)
    client, once = Actor.for_client(make_client()), Idempotency("k", "hmac:x")
    question = parse_question({**NAMED, "tool": "hub", "explain": True})
    first, again = (
        decisions.decide(asker=client, question=question, idempotency=once) for _ in range(2)
    )
    assert canonical.dumps(again.document) == canonical.dumps(first.document)
    if first.outcome != "allow":
        assert SECRET in first.message  # the caller knows it
    record = Record.objects.get(uid=first.decision_id)
    kept = set() if rules.get("mode") else {"toolpolicy_maskedvalue.value"}
    assert tables_with(SECRET) == kept
    body = json.loads(record.body.text)
    assert [one["name"] for one in body["judged"][1:]] == ([] if known_only else [HIDDEN])
    assert prove(record).verdict == ("same" if kept else "incomplete")


def test_a_registered_targets_name_is_the_registrys_and_is_shown(house):  # noqa: F811
    lay("run", mode="digest")
    record = ask({**NAMED, "arguments": {"tool": "read", "args": {}}, "explain": True})
    body = json.loads(record.body.text)
    assert [one["name"] for one in body["judged"]] == ["run", "read"]
    assert "explanation" in body["answer"]


def test_a_target_that_is_masked_nowhere_is_shown(house):  # noqa: F811
    body = json.loads(ask(NAMED).body.text)
    assert [one["name"] for one in body["judged"]] == ["run", SECRET]


# --- looking -------------------------------------------------------------------------------------


def test_each_look_is_a_record_that_says_who_what_and_why_and_no_value(house):  # noqa: F811
    record = ask({**QUESTION, "targets": [{"tool": "read", "arguments": SECRETS}]})
    MaskedValue.objects.get(pointer="/context/api_token").delete()
    payload = look(actor=SYSTEM, record=record, why="a test")
    assert payload.body["asked"]["arguments"] == SECRETS
    made = Record.objects.get(kind="payload_read")
    body = json.loads(made.body.text)
    assert (made.actor_label, made.object_label, made.tool) == ("tests", str(record.uid), "send")
    assert body["object"] == {"record": str(record.uid)}
    assert body["why"] == "a test"
    assert body["pointers"][:2] == ["/asked/arguments", "/asked/targets/0/arguments"]
    assert "/asked/arguments/password" in body["pointers"]
    assert body["missing"] == [{"pointer": "/context/api_token", "why": "was erased"}]
    assert SECRETS["password"] not in made.body.text
