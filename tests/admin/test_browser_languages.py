"""Another language has longer words: no page gets wider than a phone, and scripts speak it too."""

import pytest
from django.conf import settings
from playwright.sync_api import expect

from tests.admin.browser import Watched
from tests.admin.page_list import pages
from tests.admin.pages import address, decide, superuser
from tests.admin.test_pages import fill
from tests.factories import SYSTEM, make_layer
from toolpolicy.services import policies

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
LANGUAGES = [language for language, _ in settings.LANGUAGES if language != settings.LANGUAGE_CODE]


@pytest.fixture
def reading(browser, live_server, request):
    """Give a page of somebody whose browser asks for a language."""
    superuser()
    found = Watched(browser, live_server.url, locale=request.param)
    found.sign_in("root")
    yield found
    found.page.context.close()
    assert found.complaints == []


@pytest.mark.parametrize("reading", LANGUAGES, indirect=True)
def test_no_page_scrolls_sideways_on_a_phone(reading):
    policies.install_baseline(actor=SYSTEM)
    for number in (1, 2):
        fill(number)
    decide("tool_1")
    found = {}
    for name, path in pages().items():
        reading.open(path)
        reading.page.set_viewport_size({"width": 320, "height": 900})
        found[name] = reading._scrolls_sideways()
    assert {name: over for name, over in found.items() if over > 0} == {}


@pytest.mark.parametrize("reading", ["de"], indirect=True)
def test_what_scripts_add_is_in_the_language_of_the_page(reading):
    reading.open(f"{address('rule', 'add')}?layer={make_layer().pk}")
    page = reading.page
    page.fill("#id_match__name", "read_*")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="read_* entfernen")).to_be_visible()
    expect(page.get_by_role("button", name="Bedingung hinzufügen").first).to_be_visible()
    assert reading.axe() == []
