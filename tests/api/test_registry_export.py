"""Export over REST: what the command writes, and what an import takes again without a change."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from tests.factories import SYSTEM
from tests.registry.samples import imported, named, tickets
from toolpolicy.models import ToolFamily
from toolpolicy.services import registry
from toolpolicy.services.registry import ToolFormat

FORMATS = [str(form) for form in ToolFormat]
SPECS = [
    {"name": "read_file", "description": "Reads.", "input_schema": {"type": "object"}},
    {"name": "wipe", "destructive": True, "read_only": False},
]
LISTS = {"mcp": tickets(), "toolspec": SPECS}


def family(form: str) -> int:
    imported(LISTS[form], family="desk", prefix="d_", form=ToolFormat(form))
    return ToolFamily.objects.get().pk


@pytest.mark.parametrize("held", FORMATS)
@pytest.mark.parametrize("asked", FORMATS)
def test_an_export_is_the_commands_own(api, held, asked):
    out = StringIO()
    answer = api.get(f"families/{family(held)}/export/?format={asked}")
    call_command("tools", "export", "--family", "desk", "--format", asked, stdout=out)
    assert (answer.status_code, answer.json()) == (200, json.loads(out.getvalue()))
    assert answer.json()["tools"]


@pytest.mark.parametrize("form", FORMATS)
def test_what_was_exported_is_imported_again_without_a_change(api, form):
    document = api.get(f"families/{family(form)}/export/?format={form}").json()
    sent = {"family": "desk", "format": form, "document": document, "dry_run": True}
    report = api.post("tools/import/", sent).json()
    touched = ("added", "changed", "vanished", "returned", "moved", "warnings")
    assert {name: report[name] for name in touched} == {name: [] for name in touched}
    assert len(report["unchanged"]) == len(document["tools"])


def test_mcp_is_written_unless_another_format_is_asked_for(api):
    path = f"families/{family('mcp')}/export/"
    assert api.get(path).json() == api.get(f"{path}?format=mcp").json()
    assert "inputSchema" in api.get(path).json()["tools"][0]


def test_what_is_laid_over_a_tool_and_what_vanished_is_not_exported(api):
    imported(named("run", "stop"))
    imported(named("run"))
    laid = {"overrides": {"verb": "get"}}
    registry.update_tool(actor=SYSTEM, family="box", name="run", version=1, laid=laid)
    tools = api.get(f"families/{ToolFamily.objects.get().pk}/export/").json()["tools"]
    assert tools == named("run")["tools"]


def test_a_family_without_tools_is_an_empty_list(api):
    pk = registry.create_family(actor=SYSTEM, values={"name": "hub"}).pk
    assert api.get(f"families/{pk}/export/").json() == {"tools": []}


@pytest.mark.parametrize(
    ("query", "parameter", "words"),
    [
        ("format=toolspecs", "format", "did you mean `toolspec`"),
        ("format=json", "format", "`json` is not known"),
        ("format=", "format", "is not known"),
        ("formt=mcp", "formt", "did you mean `format`"),
        ("format=mcp&format=mcp", "format", "stands 2 times"),
    ],
)
def test_a_wrong_question_is_refused_with_its_place(api, query, parameter, words):
    response = api.get(f"families/{family('mcp')}/export/?{query}")
    (fault,) = response.json()["errors"]
    assert (response.status_code, fault["parameter"]) == (400, parameter)
    assert words in fault["message"]


def test_an_unknown_family_and_a_key_without_the_scope_are_refused(api, key_with):
    pk = family("mcp")
    assert api.get("families/999/export/").status_code == 404
    refused = key_with("registry:write", name="writer").get(f"families/{pk}/export/")
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")


def test_an_export_asks_the_same_for_one_tool_and_for_five(api, django_assert_num_queries):
    imported(named("run"))
    path = f"families/{ToolFamily.objects.get().pk}/export/"
    api.get(path)
    for names in (["run"], ["run", "a_tool", "b_tool", "c_tool", "d_tool"]):
        imported(named(*names))
        with django_assert_num_queries(4):  # the key, the family by its key and name, its tools
            api.get(path)
