"""The name of a dispatcher's target is held to what a tool can be named (SPEC §1, §7)."""

import pytest

from tests import cases
from tests.engine.names import Names
from tests.live import SYSTEM, make_live, register, strict
from toolpolicy.engine.questions import parse_question
from toolpolicy.engine.targets import Refusal, unfold
from toolpolicy.models import Record
from toolpolicy.services import decisions

CASES = cases.load("target_names")
DISPATCHERS: list[dict[str, bool]] = [{}, {"known_targets_only": True}, {"target_required": True}]


@pytest.fixture
def runner(db):
    make_live([strict({"effect": "deny", "match": {"name": "wipe_disk"}})])
    register("box", {"name": "runner"}, dispatcher={"target": "/tool", "arguments": "/args"})
    register("box", {"name": "wipe_disk"}, {"name": "look"})


def question(name):
    return {"surface": "call", "tool": "runner", "arguments": {"tool": name, "args": {}}}


@pytest.mark.parametrize("case", CASES)
def test_a_target_goes_by_an_exact_name_alone(api, runner, case):
    answer = api.post("decisions/", question(case["name"])).json()
    assert [answer["outcome"], answer["reason_code"]] == case["expect"]
    asked = parse_question(question(case["name"]))
    told = decisions.decide(asker=SYSTEM, question=asked).document
    assert {**told, "decision_id": ""} == {**answer, "decision_id": ""}


@pytest.mark.parametrize("members", DISPATCHERS)
@pytest.mark.parametrize("case", CASES)
def test_what_is_no_name_is_refused_before_the_registry_is_asked(case, members):
    names = Names({"/d": {"target": "/tool", **members}, "/wipe_disk": None, "/look": None})
    found = unfold(names, names.tools[None, "d"], {"tool": case["name"]})
    refused = isinstance(found, Refusal) and found.reason_code == "dispatcher_bad_target"
    assert refused == (case["expect"][1] == "dispatcher_bad_target")


def test_a_refusal_does_not_repeat_what_is_no_name(api, runner):
    long = "x" * 200_000
    response = api.post("decisions/", question(long))
    assert response.json()["message"] == (
        "Tool 'runner' is not permitted: the arguments do not name one tool to run."
    )
    assert long not in response.content.decode()
    # Once, as it was asked.
    assert Record.objects.newest_first()[0].body.text.count(long) == 1
