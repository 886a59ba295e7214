"""The lists in a real browser: what is ticked stays ticked, and a filter stays in the address."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from tests.admin.pages import address, decide
from tests.factories import make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.models import Record, Tool
from toolpolicy.services import holds
from toolpolicy.services.actors import Actor

pytestmark = pytest.mark.django_db(transaction=True)


def test_tools_are_picked_on_several_pages_and_tagged_together(watched):
    imported(named("read_mail", "send_mail", "wipe"), family="kit")
    page = watched.page
    for sought in ("read", "wipe"):
        watched.open(f"{address('tool')}?q={sought}")
        with page.expect_response(lambda answer: answer.request.method == "POST"):
            page.locator("input.action-select").check()
    expect(page.locator("#picked")).to_have_text("2")
    assert watched.axe() == []
    page.select_option("select[name=action]", "label")
    page.click("button[name=index]")
    page.fill("#id_add", "finance")
    page.click("button:text-is('Preview')")
    assert watched.axe() == []
    for width in (320, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("text=Change 2 tools")
    assert "Changed: 2 tools" in watched.said()
    tagged = Tool.objects.filter(overrides={"tags": ["finance"]}).order_by("name")
    assert list(tagged.values_list("name", flat=True)) == ["read_mail", "wipe"]


# How many words of tools' names stand on more than one line.
BROKEN = """[...document.querySelectorAll(".tp-tool")].flatMap(name => [...name.childNodes])
  .filter(node => node.nodeType === Node.TEXT_NODE).filter(word => {
    const range = document.createRange();
    range.selectNode(word);
    return range.getClientRects().length > 1;
  }).length"""


@pytest.mark.parametrize("width", [1400, 1024, 320])
def test_a_tool_s_name_breaks_only_where_one_of_its_words_ends(watched, width):
    names = ("mcp__filesystem__list_allowed_directories", "mcp__github__create_pull_request_review")
    imported(named(*names), family="filesystem")
    watched.open(address("tool"))
    watched.page.set_viewport_size({"width": width, "height": 900})
    assert watched.page.locator(".tp-tool").count() == 2
    assert watched.page.evaluate(BROKEN) == 0


def test_a_page_of_a_tool_and_a_search_that_finds_nothing_have_no_fault(watched):
    imported(named("read_mail"), family="kit")
    imported(
        {"tools": [{"name": "read_mail", "inputSchema": {"type": "object"}, "title": "Mail"}]},
        family="kit",
    )
    decide("read_mail", context={"agent": "coder", "channel": "web"})
    paths = [
        address("tool", "change", Tool.objects.get().pk),
        f"{address('tool')}?q=nothing+like+it",
        f"{address('record')}?tool=nothing&within=week&client=nobody",
    ]
    faults = [fault for path in paths for fault in watched.faults(path)]
    assert not faults, "\n".join(faults)


# How many words of a report's cells stand on more than one line; code may break anywhere.
BROKEN_WORDS = """[...document.querySelectorAll(".tp-report tbody :is(td, th):not(.is-wide)")]
  .flatMap(cell => [...cell.childNodes].flatMap(node => [node, ...node.childNodes]))
  .filter(node => node.nodeType === Node.TEXT_NODE && node.parentElement.tagName !== "CODE")
  .flatMap(node => [...node.data.matchAll(/\\S+/g)].map(word => {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    return range.getClientRects().length;
  })).filter(lines => lines > 1).length"""


def test_the_words_of_a_report_of_changes_stay_whole(watched):
    make_rule(make_layer("house rules"), match={"name": "read"})
    hold = {"name": "case 7", "reason": "a claim", "filter": {}}
    holds.place(actor=Actor.system("audit command"), values=hold)
    page = watched.page
    page.set_viewport_size({"width": 1400, "height": 900})
    watched.open("/admin/reports/changes/?period=this_month")
    assert page.locator(".tp-report tbody tr").count() >= 2
    assert page.evaluate(BROKEN_WORDS) == 0


@pytest.mark.parametrize("path", ["/admin/audit/", "/admin/audit/timeline/"])
def test_a_box_to_tick_stands_in_line_with_its_button(watched, path):
    page = watched.page
    page.set_viewport_size({"width": 1400, "height": 900})
    watched.open(path)
    box, button = (
        page.locator(f".tp-bar:has([type=checkbox]) > {one}").bounding_box()
        for one in ("label:has([type=checkbox])", "button")
    )
    assert box["y"] + box["height"] == pytest.approx(button["y"] + button["height"], abs=2)
    assert box["height"] == pytest.approx(button["height"], abs=4)


def test_no_name_is_too_long_for_a_page(watched):
    long = "x" * 150
    root = User.objects.get(username="root")
    User.objects.filter(pk=root.pk).update(username=long)
    root.refresh_from_db()
    imported(named("read"), family="kit")
    layer = make_layer(long, scope="agent", target=[long])
    make_rule(layer, id=long, match={"name": "read"}, reason=long)
    context = {"agent": long, "channel": long, "session": long}
    answer = decide("read", context=context)
    values = {"name": long, "reason": long, "filter": context}
    hold = holds.place(actor=Actor.for_user(root), values=values)
    record = Record.objects.get(uid=answer.decision_id)
    pages = (
        *("/admin/", "/admin/audit/", f"/admin/audit/timeline/?about=agent&name={long}"),
        *(address("record"), address("record", "change", record.pk)),
        *(address("legalhold"), address("legalhold", "change", hold.pk)),
        *("/admin/reports/changes/", f"/admin/reports/point-in-time/?agent={long}"),
    )
    for path in pages:
        assert watched.open(path) == 200
        for width in (1400, 768, 320):
            watched.page.set_viewport_size({"width": width, "height": 900})
            over = watched.page.evaluate("document.documentElement.scrollWidth") - width
            assert over <= 0, f"{path} scrolls {over} px sideways at {width}"
