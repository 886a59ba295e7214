"""The pages for readers: every command of README answers as README says, every link leads on."""

import json
import re
import shlex
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from tests.live import SYSTEM
from toolpolicy.services import clients, setup

ROOT = Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs").glob("*.md"))
LINKING = [README, *PAGES, *sorted((ROOT / "docs" / "recipes").glob("*.md"))]
ASKED = re.compile(r"```bash\nask (\S+) '(.*?)'\n```\n```json\n(.*?)```", re.DOTALL)
SHELL = re.compile(r"```\n\$ \.venv/bin/python manage\.py (.*?)\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
# Another one each time.
IDS = ("decision_id", "listing_id")


@pytest.fixture
def key(db):
    """Return a key as the first start makes it, over the demo."""
    call_command("setup", stdout=StringIO())
    call_command("demo", stdout=StringIO())
    scopes = [str(scope) for scope in setup.FIRST_SCOPES]
    return clients.create(actor=SYSTEM, values={"name": "reader", "scopes": scopes})[1]


def without_ids(answer):
    return {name: None if name in IDS else value for name, value in answer.items()}


def test_every_question_of_readme_is_answered_as_it_says(key):
    examples = ASKED.findall(README.read_text(encoding="utf-8"))
    assert [address for address, _, _ in examples] == ["decisions/", "catalog/"]
    for address, question, told in examples:
        answer = Client().post(
            f"/api/v1/{address}",
            question,
            content_type="application/json",
            headers={"Authorization": f"Bearer {key}"},
        )
        assert without_ids(answer.json()) == without_ids(json.loads(told))


def test_every_command_of_readme_that_shows_its_output_prints_it(key):
    ((line, told),) = SHELL.findall(README.read_text(encoding="utf-8"))
    out = StringIO()
    call_command(*shlex.split(line), stdout=out)
    printed = iter(out.getvalue().splitlines())
    for expected in told.splitlines():
        assert expected == "  ..." or expected in printed, expected  # in this order


def test_readme_names_every_page():
    text = README.read_text(encoding="utf-8")
    assert [page.name for page in PAGES if f"](docs/{page.name})" not in text] == []


def anchors(path):
    """Return the names of a page's headings, as hosts of repositories make them."""
    headings = HEADING.findall(path.read_text(encoding="utf-8"))
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {text.replace(" ", "-") for text in words}


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page):
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    wrong = []
    for link in links:
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert wrong == []
