"""The list of pages leaves none out, and what all pages load together stays small."""

from pathlib import Path

import pytest
from django.contrib import admin
from django.urls import resolve

from tests.admin.page_list import ADDED, MODELS, pages
from tests.admin.pages import superuser
from tests.admin.test_pages import fill
from tests.factories import SYSTEM
from toolpolicy.services import policies

STATIC = Path("toolpolicy/static/toolpolicy")
MOST_BYTES = 60_000
# Addresses that show no page of their own in the browser's test: what is only sent to, downloads,
# pages that are seen once or after something was sent, and those that every model has alike.
NO_PAGE = (
    *("login", "logout", "jsi18n", "autocomplete", "view_on_site", "app_list"),
    *(
        "_move",
        "_move_rule",
        "toolpolicy_start",
        "apiclient_key",
        "_csv",
        "_report_file",
        "_export",
        "_today",
        "_payload",
        "record_simulator",
        "_why",
        "_act",
        "_verify",
        "_take",
        "_program",
    ),
    *("_history", "_delete"),
)


@pytest.mark.django_db
def test_every_address_of_the_admin_is_in_the_list_of_pages_or_shows_none():
    superuser()
    policies.install_baseline(actor=SYSTEM)
    for number in (1, 2):
        fill(number)
    listed = {resolve(path.split("?")[0]).url_name for path in pages().values()}
    only_shown = tuple(f"{model}_add" for model in MODELS if model not in (*ADDED, "rule"))
    left_out = (*NO_PAGE, *only_shown)
    named = {name for name in _names(admin.site.urls[0]) if not name.endswith(left_out)}
    assert named - listed == set()


def _names(patterns):
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            yield from _names(pattern.url_patterns)
        elif pattern.name:
            yield pattern.name


def test_our_styles_and_scripts_together_stay_small():
    files = [*STATIC.glob("*.css"), *STATIC.glob("*.js")]
    assert sum(file.stat().st_size for file in files) <= MOST_BYTES
