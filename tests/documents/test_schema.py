"""The published JSON Schema: what the reader accepts is valid, what it refuses mostly is not."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.growing import documents
from tests.strategies import law, several
from toolpolicy.engine.documents import dump_policy, parse_policy
from toolpolicy.engine.schema import policy_schema

jsonschema = pytest.importorskip("jsonschema")  # comes with schemathesis
ROOT = Path(__file__).resolve().parent.parent.parent
VECTORS = ROOT / "tests" / "vectors"
PUBLISHED = ROOT / "docs" / "policy.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(policy_schema())
# Refused by the reader alone: what spans several members, or lies in the calendar.
READER_ALONE = (
    *("rejected-name-twice", "rejected-rule-id-twice", "rejected-rule-settings-of-no-rule"),
    *("rejected-ordered-match-blank", "rejected-ordered-match-null"),
    *("rejected-valid_from", "rejected-valid_until"),
)


def cases(kind):
    lines = (VECTORS / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(policy_schema())


def test_the_published_schema_is_the_one_the_code_makes():
    out = io.StringIO()
    call_command("policy", "schema", stdout=out)
    assert PUBLISHED.read_text(encoding="utf-8") == out.getvalue()


def test_every_policy_of_the_stack_vectors_is_valid():
    policies = [case["input"]["document"] for case in cases("stack")]
    assert len(policies) > 100
    assert [p for p in policies if not VALIDATOR.is_valid(p)] == []


def test_what_the_vectors_accept_is_valid_and_what_they_refuse_is_not():
    accepted = {c["id"] for c in cases("rejected") if not c["expect"]["error"]}
    valid = {c["id"] for c in cases("rejected") if VALIDATOR.is_valid(c["input"])}
    assert accepted - valid == set()
    assert [name for name in valid - accepted if not name.startswith(READER_ALONE)] == []


@law(written=several(documents))
def test_whatever_the_reader_accepts_is_valid(written):
    for document in written:
        VALIDATOR.validate(document)
        VALIDATOR.validate(dump_policy(parse_policy(document)))
