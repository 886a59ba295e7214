"""`freezes/`: something is stopped at once, listed, and lifted."""

import pytest

from tests import cases
from tests.live import make_live
from toolpolicy.models import Freeze, Record
from toolpolicy.services import freezes

QUESTION = {"surface": "call", "tool": "x", "context": {"agent": "research"}}
NEW = {"kind": "agent", "value": "research", "reason": "posting loop"}


def outcome(api):
    answer = api.post("decisions/", QUESTION).json()
    return answer["outcome"], answer["reason_code"]


def test_a_freeze_stops_the_next_decision_and_lifting_it_lets_calls_pass(api):
    response = api.post("freezes/", NEW, X_Request_ID="r-1")
    made = response.json()
    assert response.status_code == 201
    assert {name: made[name] for name in NEW} == NEW
    assert (made["until"], made["created_by"], made["lifted_at"]) == (None, "everything", None)
    assert outcome(api) == ("deny", "frozen")
    record = Record.objects.get(request_id="r-1")
    assert (record.kind, record.client, record.agent) == ("freeze", api.client, "research")
    lifted = api.post(f"freezes/{made['pk']}/lift/").json()
    assert lifted["lifted_at"]
    assert outcome(api) == ("allow", "allowed")
    assert api.post(f"freezes/{made['pk']}/lift/").json() == lifted


def test_freezes_are_listed_latest_first_and_filtered(api):
    first = api.post("freezes/", NEW).json()
    second = api.post("freezes/", {**NEW, "kind": "tool", "until": "2090-01-01T00:00:00Z"}).json()
    assert second["until"] == "2090-01-01T00:00:00Z"
    api.post(f"freezes/{first['pk']}/lift/")
    for query, expected in (
        ("", [second["pk"], first["pk"]]),
        ("?lifted=false", [second["pk"]]),
        ("?kind=agent", [first["pk"]]),
        ("?value=other", []),
    ):
        found = api.get(f"freezes/{query}").json()["results"]
        assert [one["pk"] for one in found] == expected


@pytest.mark.parametrize(
    ("sent", "pointers"),
    [
        ({}, ["/kind", "/value", "/reason"]),
        ({**NEW, "kind": "planet"}, ["/kind"]),
        ({**NEW, "value": 5}, ["/value"]),
        ({**NEW, "reason": " "}, ["/reason"]),
        ({**NEW, "until": "2020-01-01T00:00:00Z"}, ["/until"]),
        ({**NEW, "untill": None}, ["/untill"]),
    ],
)
def test_a_wrong_freeze_is_refused_with_every_fault_and_stops_nothing(api, sent, pointers):
    response = api.post("freezes/", sent)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == pointers
    assert not Freeze.objects.exists()


def test_a_freeze_that_is_not_there_is_not_found(api):
    assert api.post("freezes/9/lift/").status_code == 404


def test_a_key_bound_to_a_context_stops_its_own_agent_and_nothing_else(api, key_with):
    bound = key_with("freezes:write", pinned_context={"agent": "research"})
    own = bound.post("freezes/", NEW)
    assert own.status_code == 201
    for other in ({"value": "billing"}, {"kind": "tool"}, {"kind": "channel"}):
        refused = bound.post("freezes/", {**NEW, **other})
        assert (refused.status_code, refused.json()["code"]) == (403, "pinned_context")
    others = api.post("freezes/", {**NEW, "value": "billing"}).json()
    assert bound.post(f"freezes/{others['pk']}/lift/").status_code == 403
    assert bound.post(f"freezes/{own.json()['pk']}/lift/").status_code == 200
    assert Freeze.objects.filter(lifted_at__isnull=True).count() == 1


def test_a_bound_key_sees_the_freezes_of_its_own_context(api, key_with):
    for kind, value in (("agent", "research"), ("agent", "coder"), ("tool", "research")):
        api.post("freezes/", {"kind": kind, "value": value, "reason": "a loop"})
    bound = key_with("freezes:write", pinned_context={"agent": "research"})
    found = bound.get("freezes/").json()["results"]
    assert [(one["kind"], one["value"]) for one in found] == [("agent", "research")]
    nobody = key_with("freezes:write", pinned_context={"user": "u"})
    assert nobody.get("freezes/").json()["results"] == []
    assert len(api.get("freezes/").json()["results"]) == 3


@pytest.mark.parametrize("case", cases.load("freezes"))
def test_a_freeze_knows_what_it_stops_as_targets_and_patterns_do(api, case):
    """In any ASCII case, in every place where a freeze is asked (SPEC §2)."""
    subject, context = case.get("subject", {"name": "x"}), case.get("context", {})
    kind, value = case["freeze"]
    make_live([])
    api.post("freezes/", {**NEW, "kind": kind, "value": value})
    expected = ("deny", "frozen") if case["stops"] else ("allow", "allowed")
    asked = {"surface": "call", "subject": subject, "context": context}
    answer = api.post("decisions/", asked).json()
    assert (answer["outcome"], answer["reason_code"]) == expected
    catalog = {"surface": "catalog", "subjects": [subject], "context": context}
    assert (api.post("catalog/", catalog).json()["tools"] == []) == case["stops"]
    named = {**context, "tool": subject["name"], "family": subject.get("family", "")}
    assert bool(freezes.standing_over(named)) == case["stops"]


@pytest.mark.parametrize("value", ["research", "Research"])
def test_a_key_bound_to_an_agent_lifts_what_stops_that_agent(api, key_with, value):
    bound = key_with("freezes:write", pinned_context={"agent": "research"})
    made = api.post("freezes/", {**NEW, "value": value}).json()
    assert bound.post(f"freezes/{made['pk']}/lift/").json()["lifted_at"]
