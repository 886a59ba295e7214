"""A list whose names have the family's prefix already: each name that gets it twice is told of."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from tests.registry.samples import imported, named
from toolpolicy.engine.tool_lists import prefixed_twice

TWICE = (
    "`github/mcp_github_mcp_github_search` has the prefix `mcp_github_` twice: leave it out of "
    "the import, or of the name itself"
)


@pytest.mark.parametrize(
    ("prefix", "name", "told"),
    [
        ("mcp_github_", "mcp_github_mcp_github_search", True),
        ("mcp_github_", "mcp_github_MCP_GitHub_search", True),
        ("mcp_github_", "mcp_github_mcp_github_", True),
        ("mcp_github_", "mcp_github_search", False),
        ("mcp_github_", "mcp_github_github_search", False),
        ("mcp_github_", "mcp_github_search_mcp_github_", False),
        ("", "search", False),
    ],
)
def test_a_name_with_the_prefix_twice_is_found(prefix, name, told):
    found = prefixed_twice("github", prefix, [name])
    assert [(one.family, one.name, one.prefix) for one in found] == [
        ("github", name, prefix)
    ] * told


@pytest.mark.django_db
def test_a_dry_run_and_the_import_warn_of_each_such_name_with_the_way_out(tmp_path):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(named("mcp_github_search", "mcp_github_star", "fork")))

    def run(*arguments: str) -> str:
        out = StringIO()
        command = ("tools", "import", str(path), "--family", "github", *arguments)
        call_command(*command, stdout=out)
        return out.getvalue()

    prefix = ("--prefix", "mcp_github_")
    for how in (("--dry-run",), ()):
        warned = [line for line in run(*prefix, *how).splitlines() if line.startswith("warning")]
        assert warned == [f"warning: {TWICE}", f"warning: {TWICE}".replace("search", "star")]
    # They are registered now, and nobody is told again.
    assert json.loads(run("--json"))["warnings"] == []


@pytest.mark.django_db
def test_the_warning_stands_in_the_report_beside_names_that_look_alike():
    imported(named("p_p-run"), family="other")
    report = imported(named("p_run"), prefix="p_")
    (twice, near) = report.wire()["warnings"]
    assert (twice["name"], set(twice)) == ("p_p_run", {"name", "message"})
    assert (near["name"], near["like"]) == ("p_p_run", "other/p_p-run")
