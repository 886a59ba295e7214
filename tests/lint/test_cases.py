"""Each case of `tests/cases/lint.json`: in the engine, the service, REST and the command alike."""

import io
import json
from datetime import UTC, datetime

import pytest
from django.core.management import call_command

from tests.api.conftest import key_with  # noqa: F401  (a fixture)
from tests.lint.cases import CASES, expected, put_live, question_of, told
from toolpolicy.engine.lint.check import lint as run_lint
from toolpolicy.engine.lint.findings import FindingCode
from toolpolicy.services import lint

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOT_HERE = {FindingCode.BASELINE_CHANGED}  # tests/lint/test_baseline.py


@pytest.mark.parametrize("case", CASES)
def test_the_engine_finds_what_a_case_expects(case):
    found = run_lint(question_of(case, NOW))
    assert told(found, case) == expected(case)
    if "witness" in case or "message" in case:
        code, layer, rule = case["expect"][0]
        (first,) = (f for f in found if (f.code, f.layer, f.rule) == (code, layer, rule))
        expected_witness = case.get("witness", {})
        assert {name: first.witness[name] for name in expected_witness} == expected_witness
        assert case.get("message", first.message) == first.message


@pytest.mark.django_db
@pytest.mark.parametrize("case", CASES)
def test_service_command_and_rest_say_the_same(case, key_with):  # noqa: F811
    put_live(case)
    found = lint.findings()
    assert told(found.found, case) == expected(case)
    out = io.StringIO()
    call_command("policy", "lint", "--json", stdout=out)
    assert json.loads(out.getvalue()) == json.loads(json.dumps(found.wire()))
    answer = key_with("policy:read").get("policy/lint/")
    assert (answer.status_code, answer.json()) == (200, json.loads(out.getvalue()))


def test_every_code_has_a_case():
    met = {code for case in CASES for code, *_ in case.values[0]["expect"]}
    assert met == {str(code) for code in set(FindingCode) - NOT_HERE}
