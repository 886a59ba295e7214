"""The page of one tool."""

import json

import pytest

from tests.admin.pages import address, decide, text_of
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, tool
from toolpolicy.services import registry
from toolpolicy.services.registry import Labels
from toolpolicy.services.touching import touching

pytestmark = pytest.mark.django_db


def page_of(client, one):
    return text_of(client.get(address("tool", "change", one.pk)))


def test_the_page_of_a_tool_says_what_lint_finds_in_it_and_in_no_other(root, kit):
    laid = {"overrides": {"hints": {"cacheable_approval": True}}}
    registry.update_tool(actor=SYSTEM, family="mail", name="wipe", version=1, laid=laid)
    imported({"tools": [tool("send-mail")]}, family="post")
    cached, near = (
        "asks for its approval only once a session",
        "looks like <code>post/send-mail</code>",
    )
    assert cached in page_of(root, kit["wipe"])
    assert "/lint/cacheable_approval/" in page_of(root, kit["wipe"])
    assert near in page_of(root, kit["send_mail"])
    for one in (kit["wipe"], kit["read_mail"]):
        assert near not in page_of(root, one)


def test_the_page_of_a_tool_shows_its_rules_what_a_call_meets_and_what_it_declared(root, kit):
    registry.label_tools(
        actor=SYSTEM, tools={kit["read_mail"].pk: 1}, labels=Labels(add=["finance"])
    )
    decide("read_mail", context={"agent": "coder"})
    imported({"tools": [tool("read_mail", description="Reads.")]}, family="mail")
    page = text_of(root.get(address("tool", "change", kit["read_mail"].pk)))
    assert "2 rules touch it" in page
    assert "tools named <code>*_mail</code>" in page
    assert "agent coder" in page
    assert "Needs approval" in page
    assert "1 call in 7 days</a>" in page
    assert page.count("the first one") == 1
    assert "Reads." in page
    assert json.dumps("Reads.").replace('"', "&quot;") in page


def test_privilege_by_argument_counts_for_what_touches(kit):
    make_rule(make_layer("powers"), id="strong", match={"permission_at_least": "Dangerous"})
    assert touching().count("mail", "read_mail") == 1
    registry.update_tool(
        actor=SYSTEM, family="mail", name="read_mail", version=1,
        laid={"privilege": [{"pointer": "/q", "patterns": ["drop*"], "level": "Dangerous"}]},
    )  # fmt: skip
    assert touching().count("mail", "read_mail") == 2
    assert touching().count("mail", "nothing") == 0
    assert [touch.rule.id for touch in touching().rules("mail", "wipe")] == ["strong"]
