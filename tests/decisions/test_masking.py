"""No secret that a caller sends is in a record's text, or in any other table."""

import json
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from tests.live import SYSTEM, make_client, make_live, register, strict
from toolpolicy.engine.questions import parse_list_question, parse_question
from toolpolicy.models import MaskedValue, Record, SeenContext
from toolpolicy.services import decisions, masking, registry
from toolpolicy.services.actors import Actor, Origin

pytestmark = pytest.mark.django_db

CANARY = "canary-8f3a91c2"
RUN = {"target": "/tool", "arguments": "/args"}
MATCHES = {"arg": {"pointer": "/password", "value": "canary*"}}
SECRETS: dict[str, Any] = {
    "password": CANARY,
    "X-Api-Key": [CANARY],
    "headers": [{"name": "Authorization", "value": CANARY}],
    "deep": {"list": [{"clientSecret": {"text": CANARY}}]},
    "note": CANARY,
}
QUESTION: dict[str, Any] = {
    "surface": "call",
    "tool": "send",
    "arguments": SECRETS,
    "context": {"agent": "a", "team": "red", "api_token": CANARY, "hint": CANARY},
    "explain": True,
}


@pytest.fixture
def house(db):
    rules = [
        {"effect": "deny", "match": MATCHES, "when": {"team": "red"}},
        {"effect": "deny", "match": {"arg": {"pointer": "/note", "value": "x*"}}},
        {"effect": "require_approval", "match": {"name": "send"}, "except": MATCHES},
        {"effect": "deny", "match": {"name": "send"}, "when": {"api_token": "other"}},
    ]
    make_live([strict(*rules)])
    register("kit", {"name": "send"}, {"name": "read"})
    register("kit", {"name": "run"}, dispatcher=RUN)


def lay(name: str, **rules: Any) -> None:
    tool = registry.find_tool("kit", name)
    registry.update_tool(
        actor=SYSTEM, family="kit", name=name, version=tool.version, laid={"masking": rules}
    )


def ask(document: dict[str, Any], asker: Actor = SYSTEM) -> Record:
    answer = decisions.decide(asker=asker, question=parse_question(document))
    return Record.objects.get(uid=answer.decision_id)


def tables_with(text: str) -> set[str]:
    """Return every column of the database that holds a text somewhere."""
    found = set()
    names = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    for table in sorted(names & set(connection.introspection.table_names())):
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608  (our own names)
            columns = [column[0] for column in cursor.description]
            for row in cursor.fetchall():
                pairs = zip(columns, row, strict=True)
                found |= {f"{table}.{column}" for column, value in pairs if text in str(value)}
    return found


INNER = {"tool": "send", "args": SECRETS}
SUBJECT = {"name": "send", "input_schema": {"token": CANARY, "properties": {}}}
PLACES: dict[str, dict[str, Any]] = {
    "arguments": QUESTION,
    "not explained": {**QUESTION, "explain": False},
    "a dry run": {**QUESTION, "dry_run": True},
    "a target": {**QUESTION, "targets": [{"tool": "read", "arguments": SECRETS}]},
    "only a target": {
        "surface": "call",
        "tool": "read",
        "targets": [{"tool": "send", "arguments": SECRETS}],
    },
    "a dispatcher": {**QUESTION, "tool": "run", "arguments": INNER},
    "a dispatcher in a dispatcher": {
        **QUESTION, "tool": "run", "arguments": {"tool": "run", "args": INNER}
    },
    "a tool that nobody knows": {**QUESTION, "tool": "unheard_of"},
    "a name in other letters": {**QUESTION, "tool": "SEND"},
    "another family": {**QUESTION, "tool": {"name": "send", "family": "x"}},
    "a submitted tool": {**QUESTION, "tool": None, "subject": SUBJECT},
    "a catalog": {**QUESTION, "surface": "catalog"},
    "an older policy than seen": {**QUESTION, "min_policy_version": 99},
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_stands_in_no_table_but_where_masked_values_are_kept(place, house):
    ask(PLACES[place])
    assert tables_with(CANARY) == {"toolpolicy_maskedvalue.value"}


def test_a_secret_stands_nowhere_else_after_a_batch_a_listing_and_a_simulation(house):
    client = Actor.for_client(make_client())
    question = parse_question(QUESTION)
    decisions.decide_batch(asker=client, questions=[question, question])
    decisions.simulate(asker=SYSTEM, question=question, origin=Origin(request_id="r"))
    context = {"agent": "a", "api_token": CANARY}
    listing = {"surface": "catalog", "context": context, "subjects": [SUBJECT]}
    decisions.list_tools(asker=client, question=parse_list_question(listing))
    assert tables_with(CANARY) == {"toolpolicy_maskedvalue.value"}


def test_without_a_policy_a_secret_stands_nowhere_else_either(db):
    ask(QUESTION)
    assert tables_with(CANARY) == {"toolpolicy_maskedvalue.value"}


def test_what_is_kept_as_a_digest_stands_nowhere_at_all(house):
    for name in ("send", "run"):
        lay(name, mode="digest")
    record = ask({**QUESTION, "context": {"agent": "a"}})
    body = json.loads(record.body.text)
    assert body["asked"]["arguments"].startswith("masked:sha256:")
    assert body["masked"] == [
        {
            "pointer": "/asked/arguments",
            "rule": "digest only",
            "of": "kit/send",
            "kept": False,
        }
    ]
    ask({**QUESTION, "tool": "run", "arguments": INNER, "context": {}})
    assert tables_with(CANARY) == set()


def test_in_full_arguments_are_recorded_as_they_were_sent(house):
    lay("send", mode="full")
    record = ask({"surface": "call", "tool": "send", "arguments": SECRETS})
    body = json.loads(record.body.text)
    assert body["asked"]["arguments"] == SECRETS
    assert "masked" not in body
    assert not MaskedValue.objects.exists()


def test_the_text_says_what_is_masked_by_which_rule(house):
    lay("send", keys=["passport"], pointers=["/card"])
    sent = {"card": 1, "Passport": 2, "password": 3, "to": "x"}
    body = json.loads(ask({"surface": "call", "tool": "send", "arguments": sent}).body.text)
    assert [(one["pointer"], one["rule"], one["of"], one["kept"]) for one in body["masked"]] == [
        ("/asked/arguments/Passport", "key passport", "kit/send", True),
        ("/asked/arguments/card", "pointer /card", "kit/send", True),
        ("/asked/arguments/password", "key password", "all tools", True),
    ]
    assert body["asked"]["arguments"]["to"] == "x"
    assert body["masking"].startswith("sha256:")


def test_equal_values_have_different_commitments(house):
    sent = {"password": "same", "token": "same"}
    texts = [ask({"surface": "call", "tool": "send", "arguments": sent}) for _ in range(2)]
    said = [json.loads(one.body.text)["asked"]["arguments"] for one in texts]
    assert len({value for one in said for value in one.values()}) == 4
    assert len(set(MaskedValue.objects.values_list("salt", flat=True))) == 4


def test_no_masked_context_is_offered_to_authors_of_rules(house):
    ask(QUESTION)
    kept = dict(SeenContext.objects.values_list("key", "value"))
    assert kept == {"agent": "a", "team": "red"}


def test_another_masking_changes_no_answer_and_no_digest_that_answers_are_judged_by(house):
    before = json.loads(ask(QUESTION).body.text)
    row = masking.everywhere()
    masking.change(actor=SYSTEM, version=row.version, rules={"keys": ["password"]})
    after = json.loads(ask(QUESTION).body.text)
    assert before["masking"] != after["masking"]
    for member in ("policy", "registry", "settings", "freezes", "judged"):
        assert before[member] == after[member]
    assert before["answer"]["reason_code"] == after["answer"]["reason_code"]


def test_masking_adds_one_query_where_something_is_masked(house, django_assert_num_queries):
    plain = {"surface": "call", "tool": "read", "arguments": {"a": 1}}
    secret = {"surface": "call", "tool": "read", "arguments": {"a": 1, "password": 2, "token": 3}}
    ask(plain)
    question = parse_question(plain)
    with django_assert_num_queries(6):
        decisions.decide(asker=SYSTEM, question=question)
    question = parse_question(secret)
    with django_assert_num_queries(7):
        decisions.decide(asker=SYSTEM, question=question)
