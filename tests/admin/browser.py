"""A real browser on the admin, and what it complains about."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import TimeoutError as WaitedTooLong

from tests.admin.pages import PASSWORD

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
WIDTHS = (1400, 768, 320)
# A sheet that axe would fetch again is no fault of the page.
AXE = {"resultTypes": ["violations"], "preload": False}
COLOURS = {**AXE, "runOnly": ["color-contrast", "link-in-text-block"]}
RUN_AXE = "options => axe.run(document, options).then(found => found.violations)"


@contextmanager
def running_browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        if IN_CI:
            pytest.fail("chromium is not installed")
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


class Watched:
    """One signed-in page that notes every complaint of the browser."""

    def __init__(self, browser: Browser, server: str, **context: Any) -> None:
        self.server = server
        # A colour that is still on its way to the other theme is no colour of the page.
        self.page: Page = browser.new_context(reduced_motion="reduce", **context).new_page()
        self.page.set_default_timeout(15_000)
        self.complaints: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", self._request_failed)

    def _request_failed(self, request: Any) -> None:
        # The browser drops what it still asks for, its icon say, when the page moves on.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"{request.url}: {request.failure}")

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def sign_in(self, username: str) -> None:
        self.open("/admin/login/")
        self.page.fill("#id_username", username)
        self.page.fill("#id_password", PASSWORD)
        self.page.click("[type=submit]")
        self.page.wait_for_url("**/admin/")

    def open(self, path: str) -> int:
        response = self.page.goto(f"{self.server}{path}")
        return response.status if response else 0

    def said(self) -> str:
        """Return the messages on the page."""
        return self.page.locator(".messagelist").inner_text()

    def faults(self, path: str) -> list[str]:
        """Open a page and return what is wrong with it, at every width and in both themes."""
        status = self.open(path)
        found = [] if status == 200 else [f"HTTP {status}"]
        found += self.complaints
        self.complaints.clear()
        if self.page.locator("h1").count() != 1:
            found.append("not one h1")
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": 900})
            over = self._scrolls_sideways()
            if over > 0:
                found.append(f"scrolls {over} px sideways at {width}")
        # It is narrow and light now. The other theme differs in its colours only.
        found += self.axe()
        self.page.emulate_media(color_scheme="dark")
        self.page.set_viewport_size({"width": 1400, "height": 900})
        found += [f"dark: {one}" for one in self._run_axe(COLOURS)]
        self.page.emulate_media(color_scheme="light")
        return [f"{path}: {one}" for one in found]

    def _scrolls_sideways(self) -> int:
        """Return by how many pixels, once the page has found its new shape."""
        over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        try:
            self.page.wait_for_function(f"{over} <= 0", timeout=2_000)
        except WaitedTooLong:
            return int(self.page.evaluate(over))
        return 0

    def axe(self) -> list[str]:
        """Return what keeps somebody from using the page as it stands."""
        self.page.evaluate(AXE_SCRIPT)
        return self._run_axe(AXE)

    def _run_axe(self, options: dict[str, Any]) -> list[str]:
        violations = self.page.evaluate(RUN_AXE, options)
        return [f"{one['id']} {one['nodes'][0]['target']}" for one in violations]
