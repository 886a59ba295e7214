"""A recorded answer is judged again by exactly what it names: the same, or it is said why not."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import SYSTEM, make_layer, make_rule
from tests.live import make_live, strict
from tests.registry.samples import imported, named
from toolpolicy.audit.writer import leaf_hash
from toolpolicy.engine.questions import parse_list_question, parse_question
from toolpolicy.models import MaskedValue, Record, RecordBody
from toolpolicy.services import decisions, deployment, freezes, live, registry
from toolpolicy.services.decisions import proving, recording
from toolpolicy.services.decisions.proving import Lack, Verdict, prove

pytestmark = pytest.mark.django_db
RULES = (
    {"effect": "deny", "match": {"name": "wipe"}, "reason": "nobody wipes"},
    {
        "effect": "require_approval",
        "match": {"name": "send", "arg": {"pointer": "/to", "value": "*@x"}},
    },
)


@pytest.fixture
def answered(db):
    """Answer calls of every kind, then change the policy, the registry and the freezes."""
    imported(named("read", "send", "wipe"))
    make_live([strict(*RULES)])
    freeze = freezes.freeze(
        actor=SYSTEM, values={"kind": "agent", "value": "frozen", "reason": "a loop"}
    )
    for name, more in (
        ("read", {}),
        ("wipe", {}),
        ("send", {"arguments": {"to": "a@x"}}),
        ("send", {"arguments": {"to": "a@y"}}),
        ("read", {"context": {"agent": "frozen"}}),
        ("nowhere", {}),
        ("read", {"dry_run": True, "explain": True}),
        ("read", {"surface": "catalog"}),
        ("read", {"min_policy_version": 9}),
    ):
        asked = parse_question({"surface": "call", "tool": name, **more})
        decisions.decide(asker=SYSTEM, question=asked)
    for surface in ("catalog", "search"):
        question = parse_list_question({"surface": surface, "context": {"agent": "frozen"}})
        decisions.list_tools(asker=SYSTEM, question=question)
        question = parse_list_question(
            {"surface": surface, "subjects": [{"name": "read"}, {"name": "wipe"}]}
        )
        decisions.list_tools(asker=SYSTEM, question=question)
    freezes.lift(actor=SYSTEM, freeze=freeze.pk)
    registry.quarantine_tool(actor=SYSTEM, family="box", name="read")
    make_live([strict({"effect": "deny", "match": {}}, default="deny")])


def judged():
    return Record.objects.filter(kind__in=proving.JUDGED).select_related("body")


def newest():
    return judged().newest_first().first()


def test_every_answer_follows_from_its_record_whatever_came_later(answered):
    proofs = [prove(record) for record in judged()]
    assert len(proofs) == 13
    assert {proof.verdict for proof in proofs} == {Verdict.SAME}
    assert all(proof.members > 2 for proof in proofs if proof.members)
    assert not any(proof.differences or proof.lacks for proof in proofs)


def test_a_proof_names_what_was_judged_by(answered):
    record = judged().earliest("id")
    assert prove(record).judged_by["policy"]["version"] == record.policy_version == 1


def rewritten(record, change):
    """Return the record as if it had always said something else, with a fitting hash."""
    body = json.loads(record.body.text)
    change(body)
    record.body.text = json.dumps(body)
    record.leaf_hash = leaf_hash(record.body.text)
    return record


def test_an_answer_that_does_not_follow_is_shown_member_by_member(answered):
    def lie(body):
        body["answer"] |= {"outcome": "allow", "extra": 1}
        body["answer"]["blocked_by"]["rule"] = "another"
        del body["answer"]["visible"]

    proof = prove(rewritten(judged().filter(tool="wipe").first(), lie))
    assert proof.verdict is Verdict.DIFFERS
    assert {one["pointer"]: one for one in proof.wire()["differences"]} == {
        "/outcome": {"pointer": "/outcome", "recorded": "allow", "replayed": "deny"},
        "/blocked_by/rule": {
            "pointer": "/blocked_by/rule",
            "recorded": "another",
            "replayed": "r0",
        },
        "/extra": {"pointer": "/extra", "recorded": 1},
        "/visible": {"pointer": "/visible", "replayed": False},
    }


def test_a_listing_that_hides_a_tool_is_shown(answered):
    listing = judged().filter(kind="listing", agent="").first()

    def lie(body):
        body["listed"] = []

    proof = prove(rewritten(listing, lie))
    assert proof.verdict is Verdict.DIFFERS
    assert [one.pointer for one in proof.differences] == ["/listed/0"]
    assert proof.differences[0].recorded_text == "nothing"


def test_numbers_that_python_takes_for_equal_are_not_the_same(answered):
    def lie(body):
        body["answer"]["blocked_by"]["index"] = False

    [difference] = prove(rewritten(judged().filter(tool="wipe").first(), lie)).differences
    assert difference.pointer == "/blocked_by/index"


# --- what is missing -----------------------------------------------------------------------------


def lacks(record):
    proof = prove(record)
    assert proof.verdict is Verdict.INCOMPLETE
    assert [one["code"] for one in proof.wire()["missing"]] == list(proof.lacks)
    return set(proof.lacks)


def test_what_was_not_judged_is_not_judged_again(db):
    make_rule(make_layer())
    assert lacks(Record.objects.select_related("body").first()) == {Lack.KIND}


def test_without_its_text_a_record_proves_nothing(answered):
    RecordBody.objects.all().delete()
    assert lacks(newest()) == {Lack.TEXT}


def test_a_text_that_is_not_the_hashed_one_proves_nothing(answered):
    record = newest()
    record.body.text += " "
    assert lacks(record) == {Lack.ALTERED}


def test_an_engine_with_another_meaning_proves_nothing(answered, monkeypatch):
    monkeypatch.setattr(proving, "ENGINE", "2")
    assert recording.ENGINE == "1"
    assert lacks(newest()) == {Lack.ENGINE}
    assert prove(newest()).lacks[Lack.ENGINE].endswith("engine 1 then, 2 now")


def test_masked_values_are_judged_again_while_they_are_kept_and_named_when_they_are_not(answered):
    asked = {"surface": "call", "tool": "send", "arguments": {"to": "a@x", "password": "hunter2"}}
    decisions.decide(asker=SYSTEM, question=parse_question(asked))
    record = newest()
    assert "hunter2" not in record.body.text
    assert prove(record).verdict is Verdict.SAME
    MaskedValue.objects.all().delete()
    assert lacks(newest()) == {Lack.VALUES}
    assert "/asked/arguments/password" in prove(newest()).lacks[Lack.VALUES]


@pytest.mark.parametrize("lack", [Lack.POLICY, Lack.REGISTRY, Lack.SETTINGS])
def test_a_document_that_is_not_kept_is_named(answered, lack):
    def elsewhere(body):
        if lack is Lack.POLICY:
            body["policy"]["digest"] = "sha256:gone"
        else:
            body[str(lack)] = "sha256:gone"

    assert lacks(rewritten(newest(), elsewhere)) == {lack}


def test_a_proof_reads_few_documents_and_none_twice(answered):
    record = judged().filter(kind="decision").first()
    for cached in (live.compiled, live.policy_of, registry.load, deployment.load):
        cached.cache_clear()
    with CaptureQueriesContext(connection) as first:
        prove(record)
    with CaptureQueriesContext(connection) as second:
        prove(record)
    # Policy, registry and settings; declarations of tools that nothing else remembers.
    assert 3 <= len(first) <= 5
    assert len(second) == 0
