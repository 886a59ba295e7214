"""The page of the API in a real browser: offline, under its policy, without one console message."""

import shutil

import pytest
from playwright.sync_api import sync_playwright


@pytest.fixture
def page():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield browser.new_page()
        browser.close()


def test_the_page_shows_every_operation_and_breaks_no_rule(live_server, page):
    messages, requests = [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{live_server.url}/api/v1/docs/")
    page.wait_for_selector(".opblock")
    assert page.locator(".opblock").count() > 30
    page.click("#operations-decisions-decide .opblock-summary")
    page.wait_for_selector("#operations-decisions-decide .opblock-body")
    assert messages == []
    assert [url for url in requests if not url.startswith((live_server.url, "data:"))] == []
