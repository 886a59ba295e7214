"""Findings in a real browser: on a layer's page, and the page that a remedy leads to."""

import pytest
from playwright.sync_api import expect

from tests.admin.pages import address, decide
from tests.factories import make_layer, make_rule
from tests.registry.samples import imported, named

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_remedy_leads_to_what_its_code_means(watched):
    imported(named("send_mail", "read_file"))
    layer = make_layer("house rules", scope="agent", target=["codr-*"])
    make_rule(layer, id="typo", match={"name": "read_fiel"})
    make_rule(layer, id="other-dialect", match={"name": "{send,read}_*"})
    decide("read_file", context={"agent": "coder-1"})
    path = address("layer", "change", layer.pk)
    assert watched.faults(path) == []
    watched.page.get_by_role("link", name="Correct the target").click()
    expect(watched.page.locator("h1")).to_have_text("target_unseen")
    expect(watched.page.get_by_role("heading", name="Remedy")).to_be_visible()
