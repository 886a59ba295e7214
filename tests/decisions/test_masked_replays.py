"""Masked records judged again, checked and repeated; and what is said once a value is gone."""

import json
from typing import Any

import pytest

from tests.decisions.test_masking import QUESTION, SECRETS, ask, house, lay  # noqa: F401  (a fixture)
from tests.live import SYSTEM, make_client
from toolpolicy.audit.commitments import opens
from toolpolicy.engine import canonical
from toolpolicy.engine.met_values import HIDDEN
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import MaskedValue, Record
from toolpolicy.services import decisions
from toolpolicy.services.actors import Actor
from toolpolicy.services.decisions import Idempotency
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
