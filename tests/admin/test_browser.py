"""The admin in a real browser: no complaint, no sideways scroll, for everybody, without script."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.admin.browser import Watched
from tests.admin.page_list import pages
from tests.admin.pages import PASSWORD, address, decide, staff, superuser
from tests.admin.test_pages import fill
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.models import ApiClient, Layer, Rule, Tool
from toolpolicy.services import policies

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.any_database
def test_no_page_has_a_fault_at_any_width_in_either_theme(watched):
    policies.install_baseline(actor=SYSTEM)
    for number in (1, 2):
        fill(number)
    make_rule(
        Layer.objects.get(name="layer 2"),
        effect="require_approval",
        match={"name": ["mcp__some_server__with_a_rather_long_tool_name*", "x"]},
        except_={"family": "memory"},
        when={"channel": ["telegram-*", "slack-*"]},
        reason="a reason that is told to whoever asks",
        expires_at="2090-01-01T00:00:00Z",
        position=0,
    )
    decide("tool_1")
    faults = [fault for path in pages().values() for fault in watched.faults(path)]
    assert not faults, "\n".join(faults)


def test_the_login_page_has_no_fault(browser, live_server):
    page = Watched(browser, live_server.url)
    assert page.faults("/admin/login/") == []
    page.page.context.close()


def test_the_theme_switch_changes_the_colours(watched):
    page = watched.page
    page.emulate_media(color_scheme="light")
    watched.open("/admin/")
    body = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(body)
    page.click(".theme-toggle")  # from auto to the other one
    assert page.evaluate(body) != light


def test_an_author_makes_a_layer_and_a_rule_and_mends_a_fault(watched):
    page = watched.page
    watched.open(address("layer"))
    page.click("text=Add layer")
    page.fill("#id_name", "Chat channels")
    page.check("text=Calls that come from some channels")
    page.fill("#id_target", "telegram-*\nslack-*")
    page.click("text=Save and stay")
    expect(page.locator("h1")).to_have_text("Chat channels")

    page.click("text=Add the first rule")
    expect(page.locator(".tp-chips").first).to_be_visible()  # script has taken the fields over
    page.check("text=Refuses. Nothing overrules it.")
    page.check("text=calls a tool")
    page.fill("#id_match__name", "*delete*")
    page.fill("#id_reason", "no deletes from a chat")
    page.fill("#id_when__0__value", "telegram-*")
    page.click("button[name=_save]")
    fault = page.locator(".tp-field.errors .errorlist")
    expect(fault).to_have_text("Name the context key.")
    expect(page.locator(".tp-chips code").first).to_have_text("*delete*")
    expect(page.locator("#id_reason")).to_have_value("no deletes from a chat")
    expect(page.locator("text=calls a tool")).to_be_checked()
    assert watched.axe() == []

    page.get_by_role("button", name="Remove telegram-*").click()
    page.click("button[name=_save]")
    expect(page.locator(".tp-rule .tp-say")).to_have_text("tools named *delete*, on call")
    assert "was saved and is live" in watched.said()
    assert Rule.objects.get().match == {"name": "*delete*"}


def test_layers_and_rules_are_moved_by_keyboard(watched):
    page = watched.page
    layers = [make_layer(name) for name in ("first", "second")]
    watched.open(address("layer"))
    page.get_by_role("button", name="Move second up").press("Enter")
    expect(page.get_by_role("status")).to_have_text("“second” is now 1 of 2 in the scope config.")
    assert list(Layer.objects.in_order()) == layers[::-1]
    expect(page.get_by_role("button", name="Move second up")).to_be_focused()
    page.keyboard.press("Enter")  # it is the first now: nothing is sent, and the focus stays
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("“second” is now 2 of 2")
    expect(page.get_by_role("button", name="Move second down")).to_be_focused()
    assert list(Layer.objects.in_order()) == layers
    assert watched.axe() == []

    rules = [make_rule(layers[0], id=name) for name in ("one", "two")]
    watched.open(address("layer", "change", layers[0].pk))
    page.get_by_role("button", name="Move one down").press("Enter")
    expect(page.locator("#moved")).to_have_text("The rule one is now 2 of 2.")
    assert list(Rule.objects.in_order()) == rules[::-1]


def test_a_stale_save_from_a_second_window_is_refused_and_loses_nothing(
    watched, browser, live_server
):
    rule = make_rule(make_layer(), match={"name": "a"}, reason="first")
    anna = staff("anna", groups=("author",))
    anna.set_password(PASSWORD)
    anna.save()
    other = Watched(browser, live_server.url)
    other.sign_in("anna")
    for window in (watched, other):
        window.open(address("rule", "change", rule.pk))
    other.page.fill("#id_reason", "second")
    other.page.click("button[name=_save]")
    other.page.wait_for_url("**/layer/**")
    other.page.context.close()

    page = watched.page
    page.fill("#id_reason", "third")
    page.click("button[name=_save]")
    expect(page.get_by_role("alert")).to_contain_text("anna changed this since you opened it")
    expect(page.locator(".tp-field.errors .errorlist")).to_contain_text("Stored now: second")
    expect(page.locator("#id_reason")).to_have_value("third")
    assert watched.axe() == []
    rule.refresh_from_db()
    assert rule.reason == "second"
    page.click("button[name=_save]")
    page.wait_for_url("**/layer/**")
    rule.refresh_from_db()
    assert rule.reason == "third"


def test_a_key_is_shown_once(watched):
    page = watched.page
    watched.open(address("apiclient", "add"))
    page.fill("#id_name", "helpdesk-prod")
    page.click("text=Make the key")
    key = page.locator("#key").inner_text()
    assert re.fullmatch(r"tp_live_\w{8}_\w{40}_\w{6}", key)
    assert key in page.locator("#curl").inner_text()
    for width in (320, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert watched.axe() == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("text=Copy the key")
    expect(page.get_by_role("status").first).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == key
    page.reload()
    expect(page.locator(".messagelist")).to_contain_text("A key is shown once")
    assert ApiClient.objects.count() == 1
    watched.open(address("apiclient"))
    page.click("text=helpdesk-prod")
    assert key not in page.content()
    page.click("text=Revoke…")
    assert watched.axe() == []
    page.click("button:text-is('Revoke')")
    expect(page.locator(".messagelist")).to_contain_text("Revoked: helpdesk-prod")
    assert ApiClient.objects.get().revoked_at is not None


def test_tools_are_imported_after_a_preview(watched, tmp_path):
    imported(named("read", "gone"), family="box")
    file = tmp_path / "tools.json"
    tools = [{"name": "read", "description": "changed"}, {"name": "write", "inputSchema": {}}]
    file.write_text(json.dumps({"result": {"tools": tools}}), encoding="utf-8")
    page = watched.page
    watched.open(address("tool"))
    page.click("text=Import tools")
    page.set_input_files("#id_file", file)
    page.fill("#id_family", "box")
    page.click("text=Preview")
    expect(page.locator("#h-report")).to_have_text(
        "1 added, 1 changed, 0 unchanged, 1 no longer offered"
    )
    assert watched.axe() == []
    assert Tool.objects.count() == 2
    page.click("button:text-is('Import')")
    assert "Imported box: 1 added" in watched.said()
    assert Tool.objects.count() == 3


def test_a_policy_is_saved_changed_and_imported_after_a_preview(watched, tmp_path):
    make_rule(make_layer("house rules"), match={"name": "rm_*"})
    page = watched.page
    watched.open(address("layer"))
    page.click("text=Export")
    with page.expect_download() as started:
        page.click("text=As YAML")
    assert started.value.suggested_filename == "policy-2.yaml"
    file = tmp_path / "policy.yaml"
    started.value.save_as(file)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"rm_*"', '["rm_*", "drop_*"]'), encoding="utf-8")
    page.click("text=Import")
    page.check("text=Make it the policy")
    page.set_input_files("#id_file", file)
    page.click("text=Preview")
    expect(page.locator("#h-report")).to_have_text("0 added, 0 removed, 1 changed, 0 moved")
    expect(page.locator(".tp-say").last).to_contain_text("tools named rm_* or drop_*")
    assert watched.axe() == []
    for width in (320, 768):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("button:text-is('Import')")
    assert "Version 3 is live" in watched.said()
    assert Rule.objects.get().match == {"name": ["rm_*", "drop_*"]}


def test_a_layer_is_made_from_a_recipe_after_a_fault_a_preview_and_a_change(watched):
    page = watched.page
    watched.open(address("layer"))
    page.click("text=Start from a recipe")
    page.click("text=An agent’s allowlist")
    page.fill("#id_agent", "coder-*")
    page.click("text=Preview")
    expect(page.locator(".errors .errorlist")).to_have_text("This field is required.")
    expect(page.locator("#id_agent")).to_have_value("coder-*")
    assert watched.axe() == []
    page.fill("#id_allow", "read_*\ngit_*")
    page.click("text=Preview")
    page.click("text=Change it")
    expect(page.locator("#id_allow")).to_have_value("read_*\ngit_*")
    page.fill("#id_deny", "git_push")
    page.click("text=Preview")
    expect(page.locator(".tp-rule .tp-say").last).to_have_text("tools named git_push")
    assert watched.axe() == []
    for width in (320, 768):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("text=Add the layer")
    assert "was added and is live" in watched.said()
    assert Layer.objects.get().target == "coder-*"


def test_a_changed_tool_is_read_and_then_accepted(watched):
    imported(named("read", "write"), family="box")
    imported({"tools": [{"name": "read", "description": "Now it does. " * 40}]})
    page = watched.page
    watched.open(address("tool"))
    page.check(f"[name=_selected_action][value='{Tool.objects.get(name='read').pk}']")
    page.select_option("select[name=action]", "review")
    page.click("button[name=index]")
    expect(page.locator("h2")).to_contain_text("read")
    for width in (320, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert watched.axe() == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("button:text-is('Mark as reviewed')")
    assert "Reviewed and active: read" in watched.said()
    assert Tool.objects.get(name="read").state == "active"


def test_everything_works_without_script(browser, live_server):
    superuser()
    watched = Watched(
        browser,
        live_server.url,
        java_script_enabled=False,
        viewport={"width": 360, "height": 800},
    )
    page = watched.page
    watched.sign_in("root")
    page.click("text=Menu")
    page.locator(".tp-nav").get_by_role("link", name="Layers").click()
    page.click("text=Add layer")
    page.fill("#id_name", "without script")
    page.click("text=Save and stay")
    expect(page.locator("h1")).to_have_text("without script")
    watched.open(address("layer", "recipe", "approval-allowlist"))
    page.fill("#id_allow", "read_*")
    page.click("text=Preview")
    page.click("text=Add the layer")
    expect(page.locator("h1")).to_have_text("approval allowlist")
    make_layer("another")
    watched.open(address("layer"))
    page.get_by_role("button", name="Move another up").click()
    page.wait_for_url("**-up")
    assert "“another” is now 2 of 3" in watched.said()
    page.click("text=Observe: any")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.click("text=Scope: any")
    page.get_by_role("link", name="channels").click()
    expect(page.locator("h2")).to_have_text("Nothing found")
    page.context.close()
    assert watched.complaints == []
