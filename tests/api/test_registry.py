"""`families/`, `tools/` and the import of a server's tool list."""

import pytest

from tests.factories import SYSTEM
from toolpolicy.models import Record, Tool
from toolpolicy.services import registry

TOOLS = [
    {"name": "send_mail", "description": "Sends a mail.", "inputSchema": {"type": "object"}},
    {"name": "wipe", "annotations": {"destructiveHint": True}},
]
IMPORT = {"family": "mail", "prefix": "mcp__mail__", "document": {"tools": TOOLS}}


@pytest.fixture
def mail(api):
    registry.import_tools(actor=SYSTEM, family="mail", document={"tools": TOOLS})


def test_an_import_reports_and_registers_every_tool(api):
    response = api.post("tools/import/", IMPORT, X_Request_ID="r-1")
    report = response.json()
    assert response.status_code == 200
    assert [one["name"] for one in report["added"]] == ["mcp__mail__send_mail", "mcp__mail__wipe"]
    assert (report["family"], report["kind"], report["dry_run"]) == ("mail", "mcp_server", False)
    record = Record.objects.get(request_id="r-1")
    assert (record.kind, record.client, record.family) == ("import", api.client, "mail")
    assert api.get("tools/?family=mail").json()["results"][1]["name"] == "mcp__mail__wipe"


@pytest.mark.parametrize(
    "wrap", [lambda t: t, lambda t: {"tools": t}, lambda t: {"result": {"tools": t}}]
)
def test_a_document_is_taken_whole_or_bare(api, wrap):
    report = api.post("tools/import/", {"family": "mail", "document": wrap(TOOLS)}).json()
    assert len(report["added"]) == 2


def test_a_dry_run_writes_nothing(api):
    report = api.post("tools/import/", {**IMPORT, "dry_run": True}).json()
    assert (report["dry_run"], len(report["added"])) == (True, 2)
    assert not Tool.objects.exists()


def test_a_second_import_says_what_changed_and_deletes_nothing(api, mail):
    again = [{**TOOLS[0], "description": "Sends one."}, {"name": "read_mail"}]
    report = api.post("tools/import/", {"family": "mail", "document": {"tools": again}}).json()
    assert [one["name"] for one in report["added"]] == ["read_mail"]
    assert [(one["name"], one["members"]) for one in report["changed"]] == [
        ("send_mail", ["description"])
    ]
    assert report["vanished"] == ["wipe"]
    found = api.get("tools/?vanished=true").json()["results"]
    assert [one["name"] for one in found] == ["wipe"]


@pytest.mark.parametrize(
    ("sent", "pointers"),
    [
        ({}, ["", ""]),
        ({"family": "mail"}, [""]),
        ({"family": 5, "document": TOOLS}, ["/family"]),
        ({"family": "a b", "document": TOOLS}, ["/family"]),
        ({"family": "mail", "document": TOOLS, "kind": "zoo"}, ["/kind"]),
        ({"family": "mail", "document": TOOLS, "format": "zoo"}, ["/format"]),
        (
            {"family": "mail", "document": [{"name": "a", "readonly": 1}], "format": "toolspec"},
            ["/document/0/readonly"],
        ),
        ({"family": "mail", "document": TOOLS, "prefix": "a b"}, ["/prefix"]),
        ({"family": "mail", "document": TOOLS, "dry_run": "no"}, ["/dry_run"]),
        ({"family": "mail", "document": TOOLS, "dryrun": True}, ["/dryrun"]),
        ({"family": "mail", "document": "tools"}, ["/document"]),
        ({"family": "mail", "document": None}, ["/document"]),
        (
            {"family": "mail", "document": {"tools": [{"name": "a b"}, {"title": 5}]}},
            ["/document/tools/0/name", "/document/tools/1", "/document/tools/1/title"],
        ),
        (
            {"family": "mail", "document": {"tools": [], "nextCursor": "x"}},
            ["/document/nextCursor"],
        ),
    ],
)
def test_a_wrong_import_is_refused_whole(api, sent, pointers):
    response = api.post("tools/import/", sent)
    assert response.status_code == 422, response.content
    assert [error["pointer"] for error in response.json()["errors"]] == pointers
    assert not Tool.objects.exists()


def test_families_are_listed_and_read(api, mail):
    registry.create_family(actor=SYSTEM, values={"name": "local", "kind": "toolpack"})
    found = api.get("families/").json()["results"]
    assert [one["name"] for one in found] == ["local", "mail"]
    assert api.get("families/?kind=toolpack").json()["results"] == found[:1]
    assert api.get("families/?trusted=false").json()["results"] == []
    assert api.get(f"families/{found[0]['pk']}/").json() == found[0]
    assert api.get("families/999/").status_code == 404


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("family=mail", ["send_mail", "wipe"]),
        ("name=wipe", ["wipe"]),
        ("state=quarantined", ["wipe"]),
        ("vanished=true", []),
        ("vanished=false", ["send_mail", "wipe"]),
        ("family=other", []),
    ],
)
def test_tools_are_filtered(api, mail, query, names):
    registry.quarantine_tool(actor=SYSTEM, family="mail", name="wipe")
    found = api.get(f"tools/?{query}").json()["results"]
    assert [one["name"] for one in found] == names


def test_a_tool_is_read_with_what_it_declares(api, mail):
    tool = Tool.objects.get(name="wipe")
    read = api.get(f"tools/{tool.pk}/").json()
    assert (read["family"], read["state"], read["declaration"]) == (
        "mail",
        "active",
        tool.current_id,
    )
    assert read["declared"]["subject"]["hints"] == {"destructive": True, "needs_approval": True}
    assert "permission" in read["declared"]["derived"]
    assert api.get("tools/999/").status_code == 404
