"""What becomes of typed text when the session ends, or another begins, before it is sent."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from tests.admin.pages import PASSWORD, address, superuser, text_of
from tests.admin.rule_form import add, sent
from tests.factories import make_layer
from toolpolicy.models import Rule

pytestmark = pytest.mark.django_db
LOGIN = reverse("admin:login")
ENDED = "your session had ended"


def test_a_form_sent_after_the_session_ended_is_not_lost_without_a_word(client):
    layer = make_layer()
    page = client.post(add(layer), sent(layer), follow=True)
    assert page.request["PATH_INFO"] == LOGIN
    assert ENDED in text_of(page)
    assert f'<a href="{LOGIN}" target="_blank">' in text_of(page)
    assert not Rule.objects.exists()


@pytest.mark.parametrize("what", ["a part that script asks for", "signing out", "a page"])
def test_where_nobody_typed_nothing_is_said(client, what):
    layer = make_layer()
    if what == "a page":
        page = client.get(add(layer), follow=True)
    elif what == "signing out":
        page = client.post(reverse("admin:logout"), follow=True)
    else:
        page = client.post(add(layer), {**sent(layer), "_part": "live"}, follow=True)
    assert ENDED not in text_of(page)


@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize(
    ("signed_in", "said"), [(True, "Somebody signed in or out"), (False, "You are signed out")]
)
def test_a_form_without_its_token_gets_a_page_of_ours(settings, debug, signed_in, said):
    settings.DEBUG = debug
    client = Client(enforce_csrf_checks=True)
    if signed_in:
        client.force_login(superuser())
    response = client.post(address("layer", "add"), {"name": "<b>typed</b>"})
    page = response.content.decode()
    assert response.status_code == 403
    assert said in page
    assert "browser’s Back" in page
    assert ("Sign in in a new tab" in page) is not signed_in
    assert "typed</b>" not in page
    assert "CSRF verification failed" not in page


# --- in a browser --------------------------------------------------------------------------------


def typed(watched, layer):
    page = watched.page
    watched.open(add(layer))
    page.fill("#id_match__name", "send_*")
    page.fill("#id_reason", "a long and careful reason")
    return page


def sign_in(page):
    page.fill("#id_username", "root")
    page.fill("#id_password", PASSWORD)
    page.click("[type=submit]")
    page.wait_for_url("**/admin/")


def back_and_again(page):
    page.go_back()
    expect(page.locator("#id_reason")).to_have_value("a long and careful reason")
    page.click("button[name=_save]")
    page.wait_for_url("**/layer/**")
    assert Rule.objects.get().match == {"name": "send_*"}


def test_back_keeps_what_was_typed_when_the_session_had_ended(watched):
    page = typed(watched, make_layer())
    Session.objects.all().delete()
    page.click("button[name=_save]")
    expect(page.locator(".messagelist")).to_contain_text(ENDED)
    assert watched.axe() == []
    with page.expect_popup() as opened:
        page.get_by_role("link", name="in a new tab").click()
    sign_in(opened.value)
    back_and_again(page)


def test_back_keeps_what_was_typed_when_somebody_signed_in_anew(watched):
    page = typed(watched, make_layer())
    Session.objects.all().delete()
    other = page.context.new_page()
    other.goto(f"{watched.server}{LOGIN}")
    sign_in(other)
    page.click("button[name=_save]")
    expect(page.locator("h1")).to_have_text("Nothing was saved")
    assert watched.axe() == []
    assert [one for one in watched.complaints if "403" not in one] == []
    watched.complaints.clear()  # the browser says so of every 403
    back_and_again(page)
