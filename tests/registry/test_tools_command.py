"""`manage.py tools`: a readable report, every fault with file and pointer, nothing by halves."""

import io
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.registry.samples import ADMIN, TICKETS, imported, named, tool
from toolpolicy.engine.faults import Faults
from toolpolicy.management.reading import read_within
from toolpolicy.models import Tool
from toolpolicy.services import registry

pytestmark = pytest.mark.django_db


def run(*arguments: object) -> str:
    out = StringIO()
    call_command("tools", *map(str, arguments), stdout=out)
    return out.getvalue()


def written(folder, document):
    path = folder / "tools.json"
    text = document if isinstance(document, str) else json.dumps(document)
    path.write_text(text, encoding="utf-8")
    return path


def test_an_import_says_what_it_added():
    lines = run("import", TICKETS, "--family", "desk", "--prefix", "desk_").splitlines()
    assert lines == [
        "desk: 3 added, 0 changed, 0 unchanged, 0 vanished",
        "  + desk_find_ticket",
        "  + desk_close_ticket",
        "  + desk_add-comment.v2",
    ]
    assert Tool.objects.count() == 3


def test_an_import_says_what_changed_and_how(tmp_path):
    imported(named("run", "stop", "wait"))
    imported(named("run", "wait"))
    document = {"tools": [tool("run", title="Run it"), tool("stop")]}
    lines = run("import", written(tmp_path, document), "--family", "box").splitlines()
    assert lines == [
        "box: 0 added, 1 changed, 1 unchanged, 1 vanished",
        "  ~ run (derived, title: wording; now changed)",
        "  - wait (vanished; kept, retire it when it is gone for good)",
        "  ^ stop (is back)",
        "changed tools ask for approval until they are reviewed",
    ]


def test_a_dry_run_only_says_so():
    out = run("import", TICKETS, "--family", "desk", "--dry-run")
    assert out.startswith("desk: 3 would be added")
    assert not Tool.objects.exists()


def test_the_report_as_json_is_the_reports_own():
    report = json.loads(run("import", TICKETS, "--family", "desk", "--kind", "toolpack", "--json"))
    assert (report["family"], report["kind"], len(report["added"])) == ("desk", "toolpack", 3)
    assert report["registry"]["after"].startswith("sha256:")


def test_every_fault_is_named_with_file_and_pointer_and_nothing_is_imported(tmp_path):
    path = written(tmp_path, {"tools": [tool("run"), tool("a b", title=1), tool("RUN")]})
    with pytest.raises(CommandError) as refused:
        run("import", path, "--family", "box")
    assert refused.value.returncode == 1
    lines = str(refused.value).splitlines()
    assert lines[0] == f"{path}: 3 faults, nothing was imported"
    assert [line.split(": ")[0] for line in lines[1:]] == [
        f"  {path}#/tools/2/name",
        f"  {path}#/tools/1/name",
        f"  {path}#/tools/1/title",
    ]
    assert not Tool.objects.exists()


def test_faults_as_json_have_their_codes(tmp_path):
    out = StringIO()
    path = written(tmp_path, {"tools": [], "nextCursor": "2"})
    with pytest.raises(CommandError):
        call_command("tools", "import", str(path), "--family", "box", "--json", stdout=out)
    (fault,) = json.loads(out.getvalue())["faults"]
    assert (fault["pointer"], fault["code"]) == ("/nextCursor", "incomplete")


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"tools": [{"name": "ru',
        '{"tools": [], "tools": []}',
        '{"tools": [NaN]}',
        '{"tools": [1e400]}',
        "[" * 5000,
    ],
)
def test_a_file_that_is_no_good_json_is_refused(tmp_path, text):
    with pytest.raises(CommandError, match="nothing was imported"):
        run("import", written(tmp_path, text), "--family", "box")


def test_a_fault_of_the_whole_file_is_named_without_a_place_in_it(tmp_path):
    path = written(tmp_path, "{,}")
    with pytest.raises(CommandError) as refused:
        run("import", path, "--family", "box")
    assert f"  {path}: " in str(refused.value)


def test_a_file_beyond_the_limit_is_refused_unread(tmp_path):
    path = tmp_path / "big.json"
    path.write_bytes(b'{"tools": []}' + b" " * registry.import_limits().size)
    with pytest.raises(CommandError, match="at most 20971520 are read"):
        run("import", path, "--family", "box")


def test_a_file_just_within_the_limit_is_read(tmp_path):
    path = tmp_path / "big.json"
    body = json.dumps(named("run")).encode()
    path.write_bytes(body + b" " * (registry.import_limits().size - len(body)))
    assert run("import", path, "--family", "box").startswith("box: 1 added")


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(CommandError, match="cannot be read"):
        run("import", tmp_path / "none.json", "--family", "box")


def test_the_list_shows_every_tool_with_what_it_is_judged_by():
    imported({"tools": [tool("run", annotations={"readOnlyHint": True}), tool("stop")]})
    imported({"tools": [tool("run", annotations={"readOnlyHint": True})]})
    registry.retire_tool(actor=ADMIN, family="box", name="stop")
    assert run("list").splitlines() == [
        "box/run  active, ReadOnly, read_only=true, destructive=false",
        "box/stop  retired, Write, vanished",
        "2 tools registered",
    ]
    listed = json.loads(run("list", "--json"))
    assert [(row["name"], row["state"], row["vanished"]) for row in listed] == [
        ("run", "active", False),
        ("stop", "retired", True),
    ]


def test_an_empty_registry_is_listed_as_such():
    assert run("list") == "0 tools registered\n"


def test_names_that_look_alike_are_told_of_at_import_and_in_the_list(tmp_path):
    imported(named("create_issue"), family="github")
    out = run("import", written(tmp_path, named("create-issue")), "--family", "evil")
    warning = (
        "warning: `evil/create-issue` looks like `github/create_issue`: "
        "they differ by separators only"
    )
    assert out.splitlines()[-1] == warning
    assert run("list").splitlines()[-1] == warning
    alike = {one["family"]: one["looks_like"] for one in json.loads(run("list", "--json"))}
    assert alike == {"evil": ["github/create_issue"], "github": ["evil/create-issue"]}


def test_of_a_file_beyond_the_limit_one_byte_more_is_read_and_no_other():
    stream = io.BytesIO(b" " * 10_000)
    with pytest.raises(Faults, match="more than 100 bytes; at most 100 are read"):
        read_within(stream, 100)
    assert stream.tell() == 101
    assert read_within(io.BytesIO(b" " * 100), 100) == b" " * 100
