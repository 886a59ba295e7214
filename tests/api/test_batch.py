"""`POST decisions/batch/`: many questions, one policy, each item answered or refused alone."""

import pytest
from django.conf import settings

from tests.factories import make_layer, make_rule
from tests.timing import assert_within
from toolpolicy.models import Record, RecordBody

ITEM = {"surface": "call", "tool": "send_mail"}


@pytest.fixture
def rules(api):
    layer = make_layer()
    make_rule(layer, id="no-wipe", match={"name": "wipe"})
    make_rule(
        layer,
        id="ask-outside",
        effect="require_approval",
        match={"name": "*"},
        when={"channel": "outside"},
    )


def results(api, sent):
    response = api.post("decisions/batch/", sent)
    assert response.status_code == 200, response.content
    return response.json()["results"]


def test_items_are_answered_in_their_order(api, rules):
    tools = ["send_mail", "wipe", "read_mail"]
    answers = results(api, {"items": [{**ITEM, "tool": tool} for tool in tools]})
    assert [answer["tool"]["name"] for answer in answers] == tools
    assert [answer["outcome"] for answer in answers] == ["allow", "deny", "allow"]
    assert len({answer["decision_id"] for answer in answers}) == 3


def test_an_answer_of_a_batch_is_the_answer_alone(api, rules):
    item = {**ITEM, "tool": "wipe", "arguments": {"all": True}}
    alone = api.post("decisions/", item).json()
    (answer,) = results(api, {"items": [item]})
    assert {**answer, "decision_id": ""} == {**alone, "decision_id": ""}


def test_each_answer_has_a_record_of_its_own(api, rules):
    answers = results(api, {"items": [ITEM, {**ITEM, "dry_run": True}]})
    records = [Record.objects.get(uid=answer["decision_id"]) for answer in answers]
    assert [record.kind for record in records] == ["decision", "simulation"]


def test_a_wrong_item_leaves_the_others_alone(api, rules):
    first, second, third = results(api, {"items": [ITEM, {"surface": "call"}, ITEM]})
    assert (first["outcome"], third["outcome"]) == ("allow", "allow")
    assert second["type"] == "/docs/problems/invalid/"
    assert (second["status"], second["code"], second["outcome"]) == (422, "invalid", "deny")
    assert [error["pointer"] for error in second["errors"]] == ["/items/1"]


def test_a_batch_of_wrong_items_only_is_answered_too(api, rules):
    answers = results(api, {"items": [{}, 5, None]})
    assert [answer["code"] for answer in answers] == ["invalid"] * 3


def test_items_take_what_they_leave_out_from_the_defaults(api, rules):
    sent = {
        "defaults": {**ITEM, "context": {"channel": "outside", "agent": "a"}},
        "items": [
            {},
            {"tool": "wipe"},
            {"context": {"channel": "inside"}},
            {"context": {"session": "s-1"}},
        ],
    }
    answers = results(api, sent)
    outcomes = [answer["outcome"] for answer in answers]
    assert outcomes == ["needs_approval", "deny", "allow", "needs_approval"]
    agents = Record.objects.filter(kind="decision").values_list("agent", flat=True)
    assert set(agents) == {"a"}


def test_a_fault_of_the_defaults_is_told_where_it_stands(api, rules):
    sent = {
        "defaults": {"surface": "shell", "context": {"sandbox_mode": "off", "b": 1}},
        "items": [{"tool": "x", "context": {"a": 2, "b": "c"}}, {"tool": "a b"}],
    }
    first, second = results(api, sent)
    assert sorted(error["pointer"] for error in first["errors"]) == [
        "/defaults/context/sandbox_mode",
        "/defaults/surface",
        "/items/0/context/a",
    ]
    assert sorted(error["pointer"] for error in second["errors"]) == [
        "/defaults/context/b",
        "/defaults/context/sandbox_mode",
        "/defaults/surface",
        "/items/1/tool",
    ]


def test_many_faults_of_the_defaults_do_not_stand_in_every_item_of_the_answer(api):
    context = dict.fromkeys(map(str, range(60)), 1)
    sent = {"defaults": {**ITEM, "context": context}, "items": [{}, {"more": 1}]}
    for own, answer in enumerate(results(api, sent)):
        assert len(answer["errors"]) == 20
        assert answer["more_errors"] == 40 + own


def test_a_thousand_items_are_answered(api, rules):
    def ask(items: int) -> None:
        answers = results(api, {"defaults": ITEM, "items": [{}] * items})
        assert [answer["outcome"] for answer in answers] == ["allow"] * items

    ask(1_000)
    assert Record.objects.filter(kind="decision").count() == 1_000
    assert_within(40, lambda: ask(1_000), lambda: ask(100), times=1)


def test_all_items_are_judged_by_one_version(api, rules):
    answers = results(api, {"defaults": ITEM, "items": [{}] * 5})
    assert len({answer["policy"]["version"] for answer in answers}) == 1


def test_what_an_earlier_item_lets_in_counts_for_the_later_ones(api):
    layer = make_layer()
    make_rule(layer, match={"name": "send_mail"}, when={"untrusted_content": "true"})
    context = {"session": "s-1"}
    items = [{"tool": "send_mail"}, {"tool": "read_web"}, {"tool": "send_mail"}]
    sent = {"defaults": {"surface": "call", "context": context}, "items": items}
    assert [answer["outcome"] for answer in results(api, sent)] == [
        "allow",
        "allow",
        "deny",
    ]


def stored():
    return sum(len(body.text) for body in RecordBody.objects.all())


@pytest.mark.parametrize("member", ["arguments", "targets"])
def test_large_defaults_are_not_written_down_once_an_item(api, rules, member):
    large = {
        "arguments": {"text": "x" * 200_000},
        "targets": [{"tool": "a", "arguments": "x" * 200_000}],
    }
    answers = results(api, {"defaults": {**ITEM, member: large[member]}, "items": [{}] * 100})
    refused = [number for number, answer in enumerate(answers) if "decision_id" not in answer]
    assert 0 < len(refused) < 100
    for number in refused:
        assert (answers[number]["code"], answers[number]["outcome"]) == ("too_large", "deny")
        assert [error["pointer"] for error in answers[number]["errors"]] == [f"/items/{number}"]
    assert stored() < 2 * settings.TOOLPOLICY.max_batch_bytes


CONTEXT = {f"k{number}": "x" * 200 for number in range(50)}
"""About 10 KB."""


@pytest.mark.parametrize(
    ("room", "item", "outcome"),
    [
        (15_000, {}, "allow"),
        (5_000, {}, "too_large"),
        (5_000, {"arguments": {}}, "allow"),
        (15_000, {"context": {**CONTEXT, "k0": "y"}}, "allow"),
        (15_000, {"context": {f"own-{key}": CONTEXT[key] for key in list(CONTEXT)[:14]}}, "allow"),
        (
            11_000,
            {"context": {f"own-{key}": CONTEXT[key] for key in list(CONTEXT)[:14]}},
            "too_large",
        ),
        (-1, {}, "too_large"),
    ],
)
def test_an_item_with_its_defaults_may_be_as_large_as_a_question_alone(
    api, rules, room, item, outcome
):
    text = "x" * (settings.TOOLPOLICY.max_body_bytes - room)
    defaults = {**ITEM, "arguments": {"text": text}, "context": CONTEXT}
    first, last = results(api, {"defaults": defaults, "items": [item, {"arguments": {}}]})
    assert first.get("code", first["outcome"]) == outcome
    assert last["outcome"] == "allow"


def test_an_item_that_says_all_itself_may_be_no_larger_either(api, rules):
    text = "x" * settings.TOOLPOLICY.max_body_bytes
    large, small = results(api, {"items": [{**ITEM, "arguments": text}, ITEM]})
    assert (large["code"], small["outcome"]) == ("too_large", "allow")
