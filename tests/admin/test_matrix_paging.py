"""The matrix page by page: what a page weighs, and the ways to the others."""

import re

import pytest

from tests.admin.matrix_table import PAGE, link_of, shown
from tests.admin.pages import text_of
from tests.live import make_live, strict
from tests.registry.samples import imported, named
from toolpolicy.admin import matrix_cells

pytestmark = pytest.mark.django_db


def test_a_page_holds_200_tools_and_20_agents_in_300_kb_and_the_rest_comes_after(root):
    names = [f"mcp__github__create_pull_request_{number:03}" for number in range(250)]
    imported(named(*names), family="github")
    rules = [{"effect": "deny", "match": {"name": f"*_{n:03}"}} for n in range(0, 250, 3)]
    asks = {"effect": "deny", "match": {"name": "*5", "arg": {"pointer": "/a", "value": "x"}}}
    agents = [f"support-bot-{number:02}" for number in range(25)]
    make_live([strict(*rules, asks), strict(name="agents", scope="agent", target=agents)])
    answer = root.get(PAGE)
    assert len(answer.content) <= 300_000
    page = text_of(answer)
    assert list(shown(page)) == names[:200]
    assert "Of 4000 cells shown" in page
    assert list(shown(text_of(root.get(link_of(page, "More tools"))))) == names[200:]
    page = text_of(root.get(link_of(page, "Agents after")))
    assert re.findall(r'<th scope="col"><span>(.*?)</span>', page) == agents[20:]


@pytest.mark.parametrize("asked", ["", "?show=deny"])
def test_pages_of_tools_follow_each_other_both_ways(root, monkeypatch, asked):
    monkeypatch.setattr(matrix_cells, "MOST_ROWS", 2)
    monkeypatch.setattr(matrix_cells, "_STEP", 3)
    names = [f"tool{number}" for number in range(10)]
    imported(named(*names), family="box")
    rules = [{"effect": "deny", "match": {"name": name}} for name in (*names[::3], "tool4")]
    make_live([strict(*rules)])
    every = [0, 3, 4, 6, 9] if asked else list(range(10))
    pages = [[names[number] for number in every[at : at + 2]] for at in range(0, len(every), 2)]
    page = text_of(root.get(PAGE + asked))
    assert "Earlier tools" not in page
    for one in pages[1:]:
        page = text_of(root.get(link_of(page, "More tools")))
        assert list(shown(page)) == one
    for one in pages[-2::-1]:
        page = text_of(root.get(link_of(page, "Earlier tools")))
        assert list(shown(page)) == one
    assert "Earlier tools" not in page
    assert "First tools" not in page


def test_however_long_names_are_a_page_stays_small(root):
    imported(named(*["t" * 120 + f"{number:03}" for number in range(200)]))
    agents = ["a" * 190 + f"{number:02}" for number in range(20)]
    make_live([strict(name="agents", scope="agent", target=agents)])
    page = root.get(PAGE)
    assert len(page.content) <= 300_000
    assert b"More tools" in page.content
