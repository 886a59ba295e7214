"""The list of tools: what is counted and found beside each, and what is ticked."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin.pages import address, decide, signed_in, staff, text_of
from tests.admin.tool_list import LIST, cells, names, sent
from tests.factories import SYSTEM
from tests.registry.samples import imported, tool
from toolpolicy.models import Tool
from toolpolicy.services import registry
from toolpolicy.services.registry import Labels

pytestmark = pytest.mark.django_db


def test_each_tool_says_how_many_rules_touch_it_and_how_often_it_was_called(root, kit):
    for _ in range(2):
        decide("read_mail")
    page = root.get(LIST)
    assert names(page) == ["read_mail", "send_mail", "wipe"]
    assert cells(page, "rules") == ["1 rule", "1 rule", "0 rules"]
    assert cells(page, "calls") == ["2 calls", "0 calls", "0 calls"]


def test_a_hint_says_whether_it_is_declared_or_set_here(root, kit):
    registry.update_tool(
        actor=SYSTEM, family="mail", name="wipe", version=1,
        laid={"overrides": {"hints": {"idempotent": True}}},
    )  # fmt: skip
    read, _, wipe = cells(root.get(LIST), "hints")
    assert read == "reads only"
    assert "may destroy" in wipe
    assert "may be repeated set here" in wipe


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("permission=ReadOnly", ["read_mail"]),
        ("permission=Dangerous", ["wipe"]),
        ("permission=unknown", []),
        ("tag=finance", ["send_mail"]),
        ("group=money", ["send_mail"]),
        ("tag=nothing", []),
        ("touched=no", ["wipe"]),
        ("touched=yes", ["read_mail", "send_mail"]),
        ("picked=yes", []),
    ],
)
def test_tools_are_filtered_by_what_they_are_judged_as(root, kit, query, found):
    labels = Labels(add=["finance"], group="money")
    registry.label_tools(actor=SYSTEM, tools={kit["send_mail"].pk: 1}, labels=labels)
    assert names(root.get(f"{LIST}?{query}")) == found


def test_who_may_not_see_rules_or_counts_sees_neither(kit):
    page = signed_in(staff("olga", groups=("operator",))).get(LIST)
    assert "field-rules" not in text_of(page)
    assert "field-calls" not in text_of(page)
    assert "touched=" not in text_of(page)
    single = text_of(
        signed_in(staff("otto", groups=("operator",))).get(
            address("tool", "change", kit["wipe"].pk)
        )
    )
    assert "touch it" not in single
    assert "What a call meets now" not in single


def test_what_lint_finds_in_a_tool_is_counted_beside_its_name(root, kit):
    imported({"tools": [tool("send-mail")]}, family="post")
    laid = {"overrides": {"hints": {"cacheable_approval": True}}}
    registry.update_tool(actor=SYSTEM, family="mail", name="wipe", version=1, laid=laid)
    page = text_of(root.get(LIST))
    rows = re.findall(r'<th class="field-name_shown">(.*?)</th>', page, re.DOTALL)
    said = [re.sub(r"<(?!/span)[^>]+>", "", row).replace("</span>", " ").split() for row in rows]
    assert said == [
        ["read_mail"],
        ["send_mail", "1", "notice"],
        ["wipe", "1", "warning"],
        ["send-mail", "1", "notice"],
    ]


def test_the_list_asks_the_same_of_the_database_for_three_tools_and_for_forty(root, kit):
    root.get(LIST)
    with CaptureQueriesContext(connection) as few:
        root.get(LIST)
    imported({"tools": [tool(f"t{number}") for number in range(40)]}, family="other")
    root.get(LIST)
    with CaptureQueriesContext(connection) as many:
        assert len(names(root.get(LIST))) == 43
    assert len(many) == len(few)


def test_calls_that_were_refused_by_name_count_for_the_one_tool_of_that_name(root, kit):
    registry.quarantine_tool(actor=SYSTEM, family="mail", name="wipe")
    decide("wipe")
    assert cells(root.get(LIST), "calls") == ["0 calls", "0 calls", "1 call"]
    imported({"tools": [tool("wipe")]}, family="other")
    assert cells(root.get(LIST), "calls") == ["0 calls", "0 calls", "0 calls", "0 calls"]


# --- the selection -------------------------------------------------------------------------------


def test_what_is_ticked_is_kept_across_searches_and_pages(root, kit):
    mails = root.get(f"{LIST}?q=_mail")
    root.post(f"{LIST}?q=read", sent(root.get(f"{LIST}?q=read"), kit["read_mail"], keep="yes"))
    page = root.get(f"{LIST}?q=wipe")
    assert '<b id="picked" class="tp-num">1</b>' in text_of(page)
    kept = root.post(f"{LIST}?q=wipe", sent(page, kit["wipe"], keep="yes"))
    assert kept["Location"] == f"{LIST}?q=wipe"
    assert names(root.get(f"{LIST}?picked=yes")) == ["read_mail", "wipe"]
    boxes = re.findall(r"<input[^>]*action-select[^>]*>", text_of(root.get(LIST)))
    assert [" checked" in box for box in boxes] == [True, False, True]
    # Unticked on a page that shows it, it is gone; what that page does not show stays.
    root.post(f"{LIST}?q=_mail", sent(mails, keep="yes"))
    assert names(root.get(f"{LIST}?picked=yes")) == ["wipe"]
    root.post(LIST, sent(page, forget="yes"))
    assert names(root.get(f"{LIST}?picked=yes")) == []


def test_an_act_is_about_all_that_is_ticked_and_then_it_is_not_ticked_any_more(root, kit):
    page = root.get(f"{LIST}?q=read")
    root.post(f"{LIST}?q=read", sent(page, kit["read_mail"], keep="yes"))
    page = root.get(f"{LIST}?q=wipe")
    root.post(f"{LIST}?q=wipe", sent(page, kit["wipe"], action="quarantine", index="0"))
    states = dict(Tool.objects.values_list("name", "state"))
    assert states == {"read_mail": "quarantined", "wipe": "quarantined", "send_mail": "active"}
    assert names(root.get(f"{LIST}?picked=yes")) == []


def test_a_button_of_one_tool_leaves_the_selection_alone(root, kit):
    root.post(LIST, sent(root.get(LIST), kit["read_mail"], keep="yes"))
    root.post(LIST, {"action": "retire", "_selected_action": [kit["wipe"].pk]})
    assert Tool.objects.get(state="retired").name == "wipe"
    assert names(root.get(f"{LIST}?picked=yes")) == ["read_mail"]


def test_somebody_who_changes_no_tools_has_no_selection(kit):
    auditor = signed_in(staff("ada", groups=("auditor",)))
    page = auditor.get(LIST)
    assert "Keep what is ticked" not in text_of(page)
    assert auditor.post(LIST, sent(page, kit["wipe"], keep="yes")).status_code == 403


@pytest.mark.parametrize("shown", ["", "x", "1,,x,-1", "9" * 40])
def test_a_strange_form_selects_nothing(root, kit, shown):
    posted = {"shown": shown, "_selected_action": ["x", "9" * 40], "keep": "yes"}
    assert root.post(LIST, posted).status_code == 302
    assert names(root.get(f"{LIST}?picked=yes")) == []
