"""The home page, the stack of layers and the keyboard, in a real browser."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from tests.admin.browser import Watched
from tests.admin.pages import address, decide, superuser
from tests.factories import SYSTEM, make_layer, make_rule
from toolpolicy.models import Layer, Record
from toolpolicy.services import policies

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_layer_is_dragged_to_its_place(watched):
    page = watched.page
    layers = [make_layer(name) for name in ("a", "b", "c")]
    make_layer("elsewhere", scope="agent", target="x")
    watched.open(address("layer"))
    last = page.locator(".tp-layer").nth(2)
    below_its_middle = {"x": 20, "y": last.bounding_box()["height"] - 6}
    page.locator(f"#layer-{layers[0].pk}-drag").drag_to(last, target_position=below_its_middle)
    expect(page.get_by_role("status")).to_have_text("“a” is now 3 of 3 in the scope config.")
    names = Layer.objects.in_order().values_list("name", flat=True)
    assert list(names) == ["b", "c", "a", "elsewhere"]
    assert watched.axe() == []


def test_a_move_in_an_outdated_stack_says_so_and_shows_what_is_there(watched):
    page = watched.page
    layers = [make_layer(name) for name in ("a", "b")]
    watched.open(address("layer"))
    make_rule(layers[0])
    page.get_by_role("button", name="Move b up").click()
    expect(page.get_by_role("status")).to_contain_text("changed meanwhile")
    expect(page.locator(".tp-layer").first).to_contain_text("1 rule")
    page.get_by_role("button", name="Move b up").click()
    expect(page.get_by_role("status")).to_contain_text("“b” is now 1 of 2")


def test_a_first_start_leads_from_a_policy_to_the_first_call(watched):
    page = watched.page
    policies.install_baseline(actor=SYSTEM)
    assert watched.faults("/admin/") == []
    starter = page.locator("form", has=page.get_by_role("heading", name="Ask before writing"))
    starter.get_by_role("button", name="Make it live").click()
    assert "“Ask before writing” is live" in watched.said()
    expect(page.locator("#h-start")).to_have_count(0)
    expect(page.locator("#waiting")).to_contain_text("This page notices it by itself.")
    decide("read")
    expect(page.locator("#h-hours")).to_be_visible(timeout=10_000)
    expect(page.get_by_role("img")).to_have_count(3)
    page.click("text=The same as numbers")
    assert watched.axe() == []


def focused(page):
    return page.evaluate("document.activeElement.textContent.trim() || document.activeElement.id")


def test_single_keys_move_open_search_and_are_off_while_somebody_types(watched):
    page = watched.page
    for name in ("one", "two"):
        make_layer(name)
    watched.open(address("layer"))
    page.keyboard.press("j")
    assert focused(page) == "one"
    page.keyboard.press("j")
    assert focused(page) == "two"
    page.keyboard.press("j")  # there is no further row
    page.keyboard.press("k")
    assert focused(page) == "one"
    page.keyboard.press("/")
    page.keyboard.type("j/?")
    expect(page.locator("#searchbar")).to_have_value("j/?")
    page.locator("#searchbar").blur()
    page.keyboard.press("?")
    assert focused(page) == "Keyboard"
    expect(page.locator("#keys")).to_contain_text("next, previous row")
    assert watched.axe() == []
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("one")
    page.wait_for_load_state()
    page.keyboard.press("t")
    page.wait_for_url("**/simulator/**")


def test_single_keys_can_be_switched_off_for_good(watched):
    page = watched.page
    make_layer("one")
    watched.open(address("layer"))
    page.keyboard.press("?")
    page.uncheck("#keys-on")
    watched.open(address("layer"))
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.tagName") == "BODY"
    page.keyboard.press("?")
    expect(page.locator("#keys")).not_to_have_attribute("open", "")
    page.click("#keys summary")
    page.check("#keys-on")
    page.locator("#keys-on").blur()
    page.keyboard.press("j")
    assert focused(page) == "one"


def test_times_stand_in_the_viewers_zone_and_utc_stays_beside_them(browser, live_server):
    superuser()
    watched = Watched(browser, live_server.url, timezone_id="Asia/Kolkata")
    watched.sign_in("root")
    late, early = datetime(2090, 1, 2, 20, 30, tzinfo=UTC), datetime(2090, 1, 2, 4, 0, tzinfo=UTC)
    make_layer("one", valid_until=late)
    make_layer("two", valid_until=early)
    watched.open(address("layer"))
    times = watched.page.locator(".tp-layer time")
    # The day of UTC is said where it is another one.
    expect(times.first).to_have_text("2090-01-03 02:00:00 GMT+5:30 (2090-01-02 20:30:00 UTC)")
    expect(times.nth(1)).to_have_text("2090-01-02 09:30:00 GMT+5:30 (04:00:00 UTC)")
    expect(times.first).to_have_attribute("title", "2090-01-02 20:30:00 UTC")
    decide("read")
    record = Record.objects.newest_first()[0]
    lists = ("record", "policyversion", "document", "ruleusage", "user")
    for path in (*map(address, lists), address("record", "change", record.pk)):
        watched.open(path)
        time = watched.page.locator("#content time").first
        expect(time).to_have_text(re.compile(r"[-\d]+ [:\d]+ GMT\+5:30 \([-\d :]+ UTC\)"))
        for width in (1400, 320):
            watched.page.set_viewport_size({"width": width, "height": 900})
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
    watched.page.context.close()
    assert watched.complaints == []
