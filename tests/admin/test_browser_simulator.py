"""The simulator, and what is done about a recorded call, in a real browser."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.admin.browser import Watched
from tests.admin.pages import PASSWORD, address, decide, staff, superuser
from tests.factories import make_layer, make_rule
from tests.registry.samples import imported
from toolpolicy.models import Record, Rule

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/admin/simulator/"


@pytest.fixture
def push(transactional_db):
    schema = {"properties": {"branch": {"type": "string"}, "force": {"type": "boolean"}}}
    imported({"tools": [{"name": "push", "inputSchema": schema}]}, family="git")
    layer = make_layer()
    for branch in ("main", "release", "old"):
        match = {"name": "push", "arg": {"pointer": "/branch", "value": branch}}
        make_rule(layer, id=f"keep-{branch}", match=match, reason="ask for a review")
    make_layer("for others", scope="agent", target="support")


def test_a_call_is_asked_sent_to_somebody_and_copied(push, watched):
    page = watched.page
    watched.open(PAGE)
    page.fill("#id_tool", "push")
    page.click("text=Choose")
    page.get_by_label("branch").fill("main")
    page.get_by_label("force").select_option("true")
    page.get_by_label("agent", exact=True).fill("coder")
    page.get_by_label("agent", exact=True).press("Enter")
    expect(page.locator("#h-answer")).to_have_text("Denied")
    expect(page.locator(".is-decider")).to_have_count(1)
    expect(page.locator(".is-decider .tp-because")).to_contain_text("arg /branch is main")
    expect(page.get_by_label("branch")).to_have_value("main")
    address = page.url.removeprefix(watched.server).partition("#")[0]
    assert "answer=" in address
    assert watched.faults(address) == []
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("text=Copy as text")
    expect(page.get_by_role("status").last).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "Denied: coder may not call push (rule_denied)" in copied
    assert Record.objects.filter(kind="simulation").count() == 1


def test_it_works_without_script_on_a_phone(push, browser, live_server):
    superuser()
    watched = Watched(
        browser,
        live_server.url,
        java_script_enabled=False,
        viewport={"width": 320, "height": 800},
    )
    page = watched.page
    watched.sign_in("root")
    watched.open(PAGE)
    page.fill("#id_tool", "push")
    page.fill("#id_arguments", '{"branch": "dev"}')
    page.click("button.is-primary")
    expect(page.locator("#h-answer")).to_have_text("Allowed")
    expect(page.locator("#h-answer")).to_be_in_viewport()
    page.context.close()
    assert watched.complaints == []


class Counted:
    """Clicks, each of them counted."""

    def __init__(self, page):
        self.page, self.clicks = page, 0

    def click(self, selector):
        self.clicks += 1
        self.page.click(selector)


@pytest.fixture
def signed_in_as(browser, live_server):
    """Give a page on which somebody of one role is signed in; it may not complain."""
    opened = []

    def sign_in(role):
        person = staff(role, groups=(role,))
        person.set_password(PASSWORD)
        person.save()
        opened.append(Watched(browser, live_server.url))
        opened[-1].sign_in(role)
        return opened[-1]

    yield sign_in
    for watched in opened:
        watched.page.context.close()
        assert watched.complaints == []


def test_an_author_makes_a_rule_from_a_denied_call_in_six_clicks_at_most(push, signed_in_as):
    watched = signed_in_as("author")
    make_layer("only some", scope="agent", target="coder", default="deny")
    decide("push", arguments={"branch": "dev"}, context={"agent": "coder", "channel": "web"})
    page = watched.page
    watched.open(address("record") + "?outcome=deny")
    counted = Counted(page)
    counted.click("#result_list tbody tr:first-child th a")
    counted.click("text=Make a rule from this call")
    expect(page.get_by_label("Allow")).to_be_checked()
    assert watched.axe() == []
    counted.click("text=Open as a new rule")
    counted.click("button[name=_save]")
    page.wait_for_url("**/layer/**")
    assert counted.clicks <= 6
    rule = Rule.objects.get(layer__name="only some")
    assert (rule.effect, rule.match["arg"]) == ("allow", {"pointer": "/branch", "value": "dev"})
    assert decide(
        "push", arguments={"branch": "dev"}, context={"agent": "coder", "channel": "web"}
    ).allowed


@pytest.fixture
def denied(push):
    decide("push", arguments={"branch": "main"}, context={"agent": "coder"})
    return Record.objects.get(kind="decision")


def test_a_publisher_asks_a_recorded_call_again(denied, signed_in_as):
    watched = signed_in_as("publisher")
    page = watched.page
    watched.open(address("record", "change", denied.pk))
    page.click("text=Replay with today’s policy")
    expect(page.locator("h1")).to_have_text("Answered as before")
    assert watched.faults(page.url.removeprefix(watched.server)) == []
    page.locator(".tp-lead a").first.click()
    expect(page.locator("#h-acts")).to_be_visible()
    expect(page.get_by_text("Freeze…")).to_have_count(0)


def test_who_is_on_call_freezes_an_agent_from_its_call_and_frees_it(denied, signed_in_as):
    watched = signed_in_as("operator")
    page = watched.page
    watched.open(address("record") + "?outcome=deny")
    page.click("#result_list tbody tr:first-child th a")
    expect(page.get_by_text("Make a rule from this call")).to_have_count(0)
    page.click("text=Freeze…")
    page.click(".tp-acts li >> text=agent")
    page.fill("#id_reason", "a loop")
    page.click("button:text-is('Freeze')")
    expect(page.locator(".tp-banner")).to_contain_text("The agent coder is frozen")
    asked: dict[str, Any] = {"arguments": {"branch": "dev"}, "context": {"agent": "coder"}}
    assert decide("push", **asked).document["reason_code"] == "frozen"
    assert watched.axe() == []
    page.click("button:text-is('Lift')")
    assert "Lifted" in watched.said()
    assert decide("push", **asked).allowed
