"""The matrix and the history in a real browser: no complaint, and all is done by keyboard."""

import pytest

from tests.admin.pages import address
from tests.factories import SYSTEM, make_layer, make_rule
from tests.live import make_live, strict
from tests.registry.samples import imported, named
from toolpolicy.services import policies

pytestmark = pytest.mark.django_db(transaction=True)
FOCUSED = (
    "(td => td.parentNode.rowIndex + ':' + td.cellIndex)(document.activeElement.closest('td'))"
)


def fill(agents: int) -> None:
    imported(named(*[f"mcp__box__a_rather_long_name_{number}" for number in range(30)]))
    rules = (
        {"effect": "deny", "match": {"name": "*1"}},
        {"effect": "require_approval", "match": {"name": "*2"}},
        {"effect": "deny", "match": {"name": "*3", "arg": {"pointer": "/a", "value": "x"}}},
        {"effect": "hide", "match": {"name": "*4"}},
    )
    named_agents = [f"agent-{number}" for number in range(agents)]
    target = strict(name="agents", scope="agent", target=named_agents)
    make_live([target])
    make_live([strict(*rules), target])


# What each cell of a row leaves free beside its link.
MARGINS = "cells => cells.map(one => one.clientWidth - one.firstElementChild.offsetWidth)"


@pytest.mark.parametrize("agents", [3, 12])
def test_the_matrix_has_no_fault_and_is_walked_by_arrows(watched, agents):
    fill(agents)
    if agents > 8:  # other than the page that every browser test of pages opens
        assert watched.faults("/admin/matrix/?since=1&show=changed") == []
    page = watched.page
    watched.open("/admin/matrix/?since=1")
    margins = page.locator(".tp-matrix tr:has(td) >> nth=0 >> td").evaluate_all(MARGINS)
    assert len(margins) > 2
    assert len({round(one) for one in margins}) == 1  # the last column's cells are as its head
    # One stop for the whole table, and a region that scrolls by itself.
    assert page.locator(".tp-matrix td a[tabindex='0']").count() == 1
    page.locator(".tp-scroll").focus()
    page.keyboard.press("Tab")
    while page.evaluate("!document.activeElement.closest('td')"):
        page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "2:1"
    for key, place in (
        ("ArrowUp", "2:1"),
        ("ArrowDown", "3:1"),
        ("ArrowRight", "3:2"),
        ("End", f"3:{agents}"),
        ("ArrowRight", f"3:{agents}"),
        ("Home", "3:1"),
    ):
        page.keyboard.press(key)
        assert page.evaluate(FOCUSED) == place
    row, head = (page.locator(f".tp-matrix {it}").first for it in ("th[scope=row]", "thead th"))
    page.set_viewport_size({"width": 320, "height": 700})
    page.locator(".tp-scroll").evaluate("box => box.scrollTo(200, 300)")
    box = page.locator(".tp-scroll").bounding_box()
    assert box is not None
    for sticky, side in ((row, "x"), (head, "y")):
        assert abs((sticky.bounding_box() or {})[side] - box[side]) < 2
    page.keyboard.press("Enter")
    page.wait_for_url("**/simulator/**")
    assert "tool=mcp__box__a_rather_long_name_1&" in page.url
    assert page.url.endswith("&agent=agent-0")


def test_a_publisher_goes_back_in_three_clicks(watched):
    layer = make_layer("house rules")
    rule = make_rule(layer, id="no-mail", match={"name": "mcp__box__a_rather_long_name_*"})
    change = {"match": {"name": ["mail_*", "x"]}, "when": {"agent": "clerk"}}
    policies.update_rule(actor=SYSTEM, rule=rule.pk, version=layer.version, values=change)
    imported(named("mail_send", "mcp__box__a_rather_long_name_1"))

    page = watched.page
    watched.open(address("policyversion"))
    page.click("text=Version 2")
    page.click("text=Roll back to it…")
    page.get_by_role("button", name="Roll back to version 2").press("Enter")
    page.wait_for_url("**/policyversion/")
    assert "Rolled back to version 2: version 4 is live." in watched.said()
