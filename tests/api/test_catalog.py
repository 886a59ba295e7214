"""`POST catalog/`: what may be seen, of the registry or of what is sent."""

import json

import pytest

from tests.factories import SYSTEM, make_layer, make_rule
from toolpolicy.models import Record
from toolpolicy.services import registry

TOOLS = {
    "tools": [
        {"name": "send_mail", "description": "Sends a mail."},
        {"name": "read_mail", "annotations": {"readOnlyHint": True}},
        {"name": "wipe", "annotations": {"destructiveHint": True}},
    ]
}


@pytest.fixture
def mail(api):
    registry.import_tools(actor=SYSTEM, family="mail", document=TOOLS)
    layer = make_layer()
    make_rule(layer, id="hidden", effect="hide", match={"name": "read_mail"})
    outside = {"name": "send_mail", "arg": {"pointer": "/to", "value": "*@example.org"}}
    make_rule(layer, id="outside", match=outside)
    make_rule(layer, id="not-called", match={"name": "wipe"}, on=["call"])


def test_each_listed_tool_says_what_a_call_would_meet(api, mail):
    answer = api.post("catalog/", {"surface": "catalog"}).json()
    assert answer["policy"]["version"] == 5
    assert {tool["name"]: tool["call"] for tool in answer["tools"]} == {
        "send_mail": "depends_on_arguments",
        "wipe": "refused",
    }
    (send,) = [tool for tool in answer["tools"] if tool["name"] == "send_mail"]
    assert (send["family"], send["title"], send["description"]) == (
        "mail",
        "Send Mail",
        "Sends a mail.",
    )
    (rule,) = send["open"]
    assert (rule["rule"], rule["effect"]) == ("outside", "deny")
    assert rule["arguments"] == [{"pointer": "/to", "value": "*@example.org"}]


def test_a_listing_is_recorded_with_what_it_withheld(api, mail):
    answer = api.post("catalog/", {"surface": "catalog"}, X_Request_ID="r-1").json()
    record = Record.objects.select_related("body").get(uid=answer["listing_id"])
    assert (record.kind, record.client, record.request_id) == ("listing", api.client, "r-1")
    assert json.loads(record.body.text)["withheld"] == [["mail", "read_mail", "hidden"]]


def test_a_search_finds_by_words(api, mail):
    answer = api.post("catalog/", {"surface": "search", "query": "sends"}).json()
    assert [tool["name"] for tool in answer["tools"]] == ["send_mail"]


def test_tools_that_are_sent_are_judged_in_place_of_the_registry(api, mail):
    subjects = [{"name": "shell"}, {"name": "read_mail", "family": "mail"}]
    answer = api.post("catalog/", {"surface": "catalog", "subjects": subjects}).json()
    assert [tool["name"] for tool in answer["tools"]] == ["shell"]
    assert api.post("catalog/", {"surface": "catalog", "subjects": []}).json()["tools"] == []


def test_list_and_call_agree(api, mail):
    for tool in api.post("catalog/", {"surface": "catalog"}).json()["tools"]:
        named = {"family": tool["family"], "name": tool["name"]}
        answer = api.post("decisions/", {"surface": "call", "tool": named, "arguments": {}}).json()
        if tool["call"] != "depends_on_arguments":
            assert answer["outcome"] == {"refused": "deny", "allowed": "allow"}[tool["call"]]


def test_without_a_policy_nothing_is_listed(key_with):
    response = key_with("decide").post("catalog/", {"surface": "catalog"})
    assert (response.status_code, response.json()["code"]) == (503, "no_policy")
