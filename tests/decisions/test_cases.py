"""The cases of `tests/cases/decisions.json`, in the engine and through the service."""

import pytest

from tests import cases
from tests.live import SYSTEM, make_live
from toolpolicy.engine.documents import FORMAT, parse_policy
from toolpolicy.engine.evaluate import Judged, judge
from toolpolicy.engine.questions import parse_question
from toolpolicy.engine.values import ABSENT, Subject
from toolpolicy.services import decisions

CASES = cases.load("decisions")
# Members of an answer that the engine's decision has by the same name.
SHARED = ("visible", "callable", "approval", "reason_code", "outcome")


def subject_of(asked):
    return asked.submitted or Subject(name=asked.name, family=asked.family)


@pytest.mark.parametrize("case", CASES)
def test_the_engine_decides_a_case(case):
    policy = parse_policy({"format": FORMAT, "layers": case["layers"]})
    question = parse_question(case["question"])
    args = question.tool.arguments
    targets = [
        Judged(subject_of(asked), args if asked.arguments is ABSENT else asked.arguments)
        for asked in (question.tool, *question.targets)
    ]
    decision = judge(policy, targets, question.context, question.surface, None)
    expected = {name: case["expect"][name] for name in SHARED if name in case["expect"]}
    assert {name: getattr(decision, name) for name in expected} == expected


@pytest.mark.django_db
@pytest.mark.parametrize("case", CASES)
def test_the_service_decides_a_case_and_replays_it(case):
    version = make_live(case["layers"])
    answer = decisions.decide(asker=SYSTEM, question=parse_question(case["question"]))
    document = answer.document
    assert {name: document.get(name) for name in case["expect"]} == case["expect"]
    assert document["policy"] == {"version": version.number, "digest": version.document_id}
    assert "observed" in case["expect"] or "observed" not in document
