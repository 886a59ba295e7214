"""The list of records, which never counts."""

import html
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin.pages import address, decide, text_of
from tests.factories import SYSTEM
from toolpolicy.admin.records.pages import RecordPage
from toolpolicy.services import clients
from toolpolicy.services.actors import Actor

pytestmark = pytest.mark.django_db


def named(response) -> list[str]:
    return [record.tool for record in response.context["cl"].result_list]


def test_pages_follow_each_other_by_id_both_ways(root, baseline, monkeypatch):
    monkeypatch.setattr(RecordPage, "list_per_page", 2)
    for number in range(5):
        decide(f"tool_{number}")
    first = root.get(address("record"), {"kind": "decision"})
    assert named(first) == ["tool_4", "tool_3"]
    assert not first.context["cl"].newer
    second = root.get(address("record") + first.context["cl"].older)
    assert named(second) == ["tool_2", "tool_1"]
    last = root.get(address("record") + second.context["cl"].older)
    assert named(last) == ["tool_0"]
    assert not last.context["cl"].older
    back = root.get(address("record") + last.context["cl"].newer)
    assert named(back) == ["tool_2", "tool_1"]
    front = root.get(address("record") + back.context["cl"].newer)
    assert named(front) == ["tool_4", "tool_3"]
    assert not front.context["cl"].newer


def test_the_list_reads_one_page_and_counts_nothing(root, baseline):
    for number in range(3):
        decide(f"tool_{number}")
    with CaptureQueriesContext(connection) as asked:
        text_of(root.get(address("record")))
    about_records = [q["sql"] for q in asked if '"toolpolicy_record"' in q["sql"]]
    assert len(about_records) == 1
    assert "COUNT(" not in about_records[0]
    assert "LIMIT 51" in about_records[0]


@pytest.mark.parametrize(
    ("sought", "found"),
    [
        ({"tool": "drop_table"}, ["drop_table"]),
        ({"tool": "drop"}, []),
        ({"tool": "read*"}, ["read_page", "read_mail"]),
        ({"outcome": "deny"}, ["drop_table"]),
        ({"outcome": "allow"}, ["read_page", "read_mail"]),
        ({"reason_code": "rule_denied"}, ["drop_table"]),
        ({"agent": "coder"}, ["read_page"]),
        ({"session": "s-1"}, ["read_mail"]),
        ({"rule": "no-drops"}, ["drop_table"]),
        ({"layer": "house*", "outcome": "deny"}, ["drop_table"]),
        ({"actor": "tests"}, ["drop_table", "read_mail"]),
        ({"since": "2000-01-01T00:00"}, ["drop_table", "read_page", "read_mail"]),
        ({"until": "2000-01-01T00:00"}, []),
        ({"within": "hour"}, ["drop_table", "read_page", "read_mail"]),
        ({"within": "hour", "until": "2000-01-01T00:00"}, []),
        ({"within": "month", "agent": "coder"}, ["read_page"]),
        ({"client": "helpdesk"}, ["read_page"]),
        ({"kind": "freeze"}, []),
    ],
)
def test_the_form_narrows_the_list(root, house, sought, found):
    decide("read_mail", context={"session": "s-1"})
    client, _ = clients.create(actor=SYSTEM, values={"name": "helpdesk"})
    decide("read_page", context={"agent": "coder"}, asker=Actor.for_client(client))
    decide("drop_table", arguments={"database": "prod-1"})
    response = root.get(address("record"), {"kind": "decision", **sought})
    assert named(response) == found


def test_a_decision_is_found_by_its_id(root, house):
    answer = decide("read_mail")
    decide("read_page")
    assert named(root.get(address("record"), {"uid": answer.decision_id})) == ["read_mail"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("uid", "x"),
        ("outcome", "perhaps"),
        ("since", "yesterday"),
        ("tool", "a\0b"),
        ("client", "nobody"),
        ("within", "year"),
    ],
)
def test_a_filter_that_cannot_be_read_finds_nothing_and_says_so(root, house, name, value):
    decide("read_mail")
    response = root.get(address("record"), {name: value})
    assert named(response) == []
    assert name in response.context["cl"].filter_form.errors


def test_two_keys_of_one_name_and_a_key_id_find_their_decisions(root, baseline):
    keys = [clients.create(actor=SYSTEM, values={"name": "helpdesk"})[0] for _ in range(2)]
    for number, key in enumerate(keys):
        decide(f"tool_{number}", asker=Actor.for_client(key))
    assert named(root.get(address("record"), {"client": "helpdesk"})) == ["tool_1", "tool_0"]
    assert named(root.get(address("record"), {"client": keys[0].key_id})) == ["tool_0"]


def test_filters_stay_in_every_link_and_can_be_cleared(root, house, monkeypatch):
    monkeypatch.setattr(RecordPage, "list_per_page", 1)
    for _ in range(3):
        decide("read_mail", context={"agent": "coder"})
    asked = "?tool=read_mail&agent=coder&within=week"
    first = root.get(address("record") + asked)
    older = first.context["cl"].older
    assert all(part in older for part in asked[1:].split("&"))
    assert '<a class="tp-btn is-quiet" href="?">' in text_of(first)
    [row] = re.findall(r'<th class="field-time"><a href="([^"]+)"', text_of(first))
    [back] = re.findall(r'<a href="([^"]+)">Records</a>', text_of(root.get(html.unescape(row))))
    assert html.unescape(back) == address("record") + asked
    nothing = text_of(root.get(address("record") + "?tool=nothing"))
    assert "Nothing found" in nothing
    assert '<a class="tp-btn" href="?">' in nothing


@pytest.mark.parametrize("key", ["x", "-1", "9" * 30, "1e3", ""])
def test_a_strange_place_in_the_list_is_the_front(root, house, key):
    decide("read_mail")
    assert "read_mail" in named(root.get(address("record"), {"before": key}))


def test_a_change_of_several_layers_is_about_the_policy(root, baseline):
    page = text_of(root.get(f"{address('record')}?kind=change"))
    assert "the policy" in re.findall(r'<td class="field-about">(.*?)</td>', page)[0]
