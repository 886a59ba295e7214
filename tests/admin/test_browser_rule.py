"""The rule editor in a real browser: by keyboard, without script, as fields and as JSON."""

import pytest
from playwright.sync_api import expect

from tests.admin.browser import Watched
from tests.admin.pages import address, decide, superuser
from tests.factories import make_layer, make_rule
from tests.registry.samples import imported, tool
from toolpolicy.models import Layer, Rule

pytestmark = pytest.mark.django_db(transaction=True)

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


@pytest.fixture
def layer(db):
    imported({"tools": [tool(name, inputSchema=SCHEMA) for name in ("send", "send_all", "read")]})
    layer = make_layer()
    for agent in ("coder", "support"):
        decide("send", context={"agent": agent, "channel": "slack"})
    return layer


def editor(layer: Layer, rule: Rule | None = None) -> str:
    if rule is not None:
        return address("rule", "change", rule.pk)
    return f"{address('rule', 'add')}?layer={layer.pk}"


def test_the_editor_has_no_fault_as_fields_and_as_json(watched, layer):
    plain = make_rule(
        layer,
        match={"name": ["send*", "read"], "arg": {"pointer": "/path", "value": "*"}},
        except_={"family": "memory"},
        when={"channel": ["slack", "telegram-*"]},
        examples=[{"tool": "send"}, {"tool": "other"}],
    )
    unusual = make_rule(layer, match={"name": []})
    paths = [editor(layer), editor(layer, plain), editor(layer, unusual)]
    assert [fault for path in paths for fault in watched.faults(path)] == []


def test_a_rule_is_made_by_keyboard_alone(watched, layer):
    page = watched.page
    watched.open(editor(layer))
    press, live = page.keyboard.press, page.locator("#rule-live")
    expect(live).to_contain_text("Matches 3 tools")
    page.get_by_role("radio", name="Allow").focus()
    press("ArrowDown")
    press("ArrowDown")
    press("ArrowDown")  # allow, deny, hide, needs approval
    press("Tab")
    page.locator("#id_match__name").focus()
    page.keyboard.type("send_*,x*")
    press("Enter")
    expect(page.locator(".tp-chips code")).to_have_text(["send_*", "x*"])
    press("Backspace")  # to the last chip
    press("Enter")  # which is a button that removes it
    expect(page.locator(".tp-chips code")).to_have_text(["send_*"])
    expect(live).to_contain_text("tools named send_*")
    expect(live).to_contain_text("Matches 1 tool")
    expect(live).to_contain_text("0 decisions in 7 days were about what it matches")
    expect(live).to_contain_text("only narrows")
    assert page.locator("#tp-pointers option").get_attribute("value") == "/path"
    page.locator("#id_when__0__key").focus()
    page.keyboard.type("agent")
    press("Tab")
    page.keyboard.type("coder")
    page.get_by_role("button", name="Add a condition").press("Enter")
    page.keyboard.type("channel")
    press("Tab")
    page.keyboard.type("slack, web")
    expect(live).to_contain_text("when agent is coder and channel is slack or web")
    expect(live).to_contain_text("coder, slack")
    page.get_by_role("button", name="Save the rule").press("Enter")
    page.wait_for_url("**/layer/**")
    rule = Rule.objects.get()
    assert (rule.effect, rule.match) == ("require_approval", {"name": "send_*"})
    assert rule.when == {"agent": "coder", "channel": ["slack", "web"]}


def test_enter_in_a_field_shows_and_never_saves(watched, layer):
    page = watched.page
    watched.open(editor(layer))
    page.locator("#id_rule_id").fill("no-sending")
    page.locator("#id_rule_id").press("Enter")
    expect(page.locator("#rule-live")).to_contain_text("Deny")
    assert not Rule.objects.exists()


def test_fields_and_json_stay_in_step(watched, layer):
    page = watched.page
    watched.open(editor(layer))
    page.fill("#id_match__name", "send")
    page.get_by_role("button", name="JSON").click()
    box = page.locator("#id_json")
    expect(box).to_have_value('{\n  "effect": "deny",\n  "match": {\n    "name": "send"\n  }\n}')
    box.fill('{"effect": "hide", "match": {"nmae": "read"}}')
    page.get_by_role("button", name="Form").click()
    expect(page.locator("#rule-body [role=alert]")).to_contain_text("did you mean `name`")
    expect(box).to_have_value('{"effect": "hide", "match": {"nmae": "read"}}')
    box.fill('{"effect": "hide", "match": {"name": ["read", "a, b"]}}')
    page.get_by_role("button", name="Form").click()
    expect(page.locator(".tp-chips code")).to_have_text(["read", "a, b"])
    expect(page.get_by_role("radio", name="Hide")).to_be_checked()
    page.click("button[name=_save]")
    page.wait_for_url("**/layer/**")
    assert Rule.objects.get().match == {"name": ["read", "a, b"]}


def test_the_json_below_the_fields_follows_them_and_they_follow_it(watched, layer):
    page = watched.page
    watched.open(editor(layer))
    page.get_by_text("The same as JSON").click()
    box, said = page.locator("#id_as_json"), page.locator("#rule-json [role=status]")
    page.fill("#id_match__name", "send")
    expect(box).to_have_value('{\n  "effect": "deny",\n  "match": {\n    "name": "send"\n  }\n}')
    box.fill('{"effect": "hide", "match": {"name": "read"}, "approval": {"group": "finance"}}')
    expect(page.get_by_role("radio", name="Hide")).to_be_checked()
    expect(page.locator(".tp-chips code").first).to_have_text("read")
    expect(page.locator("#id_approval__0__value")).to_have_value("finance")
    expect(page.locator("#rule-live")).to_contain_text("Matches 1 tool")
    expect(box).to_be_focused()
    box.fill('{"effect": "hide", "match": {"nmae": "read"}}')
    expect(said).to_contain_text("did you mean `name`")
    expect(page.locator("#rule-live")).to_contain_text("Not readable yet")
    assert watched.axe() == []
    page.click("button[name=_save]")  # what was typed last is what is judged, and it stays
    expect(page.locator("#id_json")).to_have_value('{"effect": "hide", "match": {"nmae": "read"}}')
    assert not Rule.objects.exists()


def test_fields_that_are_typed_after_json_win_over_it(watched, layer):
    page = watched.page
    watched.open(editor(layer))
    page.get_by_text("The same as JSON").click()
    box = page.locator("#id_as_json")
    box.fill('{"match": ')
    expect(page.locator("#rule-json [role=status]")).to_contain_text("Not JSON")
    page.fill("#id_reason", "no sending")
    expect(box).to_have_value('{\n  "effect": "deny",\n  "match": {},\n  "reason": "no sending"\n}')
    expect(page.locator("#rule-json [role=status]")).to_be_empty()
    page.get_by_text("Approval options").click()
    page.fill("#id_approval__0__key", "people")
    page.fill("#id_approval__0__value", "2")
    page.get_by_role("button", name="Add an option").click()
    page.keyboard.type("group")
    page.keyboard.press("Tab")
    page.keyboard.type("finance")
    page.get_by_role("button", name="Remove this option").first.click()
    page.fill("#id_match__name", "send")  # without it, it is said that no tool is named
    page.click("button[name=_save]")
    page.wait_for_url("**/layer/**")
    rule = Rule.objects.get()
    assert (rule.reason, rule.approval) == ("no sending", {"group": "finance"})


def test_a_rule_is_made_without_script(browser, live_server, layer):
    superuser()
    watched = Watched(
        browser,
        live_server.url,
        java_script_enabled=False,
        viewport={"width": 320, "height": 800},
    )
    page = watched.page
    watched.sign_in("root")
    watched.open(editor(layer))
    page.fill("#id_match__name", "send, nothing_like_it")
    page.fill("#id_when__0__key", "agent")
    page.fill("#id_when__0__value", "coder")
    page.get_by_role("button", name="Preview", exact=True).click()
    live = page.locator("#rule-live")
    expect(live).to_contain_text("Matches 1 tool")
    expect(live).to_contain_text("2 decisions in 7 days were about what it matches")
    expect(page.locator("#id_when__1__key")).to_be_visible()  # one more is always free
    page.get_by_role("button", name="JSON").click()
    page.fill("#id_json", '{"effect": "deny", "match": {"name": "send"}, "when": {"agent": "c*"}}')
    page.get_by_role("button", name="Form").click()
    expect(page.locator("#id_when__0__value")).to_have_value("c*")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.get_by_role("button", name="Save the rule").click()
    expect(page.locator(".tp-rule .tp-say")).to_have_text("tools named send, when agent is c*")
    page.context.close()
    assert watched.complaints == []


def test_rules_are_dragged_moved_and_switched_on_their_layers_page(watched, layer):
    rules = [make_rule(layer, id=name, match={"name": "send"}) for name in "abc"]
    page, path = watched.page, address("layer", "change", layer.pk)
    assert watched.faults(path) == []
    watched.open(path)
    last = page.locator(".tp-rule").nth(2)
    below_its_middle = {"x": 20, "y": last.bounding_box()["height"] - 6}
    page.locator(f"#rule-{rules[0].pk}-drag").drag_to(last, target_position=below_its_middle)
    expect(page.locator("#moved")).to_have_text("The rule a is now 3 of 3.")
    page.get_by_role("button", name="Move a up").press("Enter")
    expect(page.locator("#moved")).to_have_text("The rule a is now 2 of 3.")
    assert page.evaluate("document.activeElement.id") == f"rule-{rules[0].pk}-up"
    assert [rule.rule_id for rule in layer.rules.in_order()] == ["b", "a", "c"]
    page.locator(f"#rule-{rules[0].pk}-more").press("Enter")
    assert watched.axe() == []
    page.get_by_role("button", name="Switch off").press("Enter")
    page.wait_for_url("**-more")
    assert "The rule a is switched off" in watched.said()
    expect(page.locator(".tp-rule.is-off")).to_contain_text("Switched off")
