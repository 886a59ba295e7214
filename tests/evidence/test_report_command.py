"""`manage.py audit report`, `at` and `replay`: output, files, exit codes and faults."""

import io
import json
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tests.admin.pages import decide
from tests.factories import SYSTEM, make_layer, make_rule
from tests.live import make_live, strict
from tests.registry.samples import imported, named
from toolpolicy.models import Record, RecordBody
from toolpolicy.services import deployment, freezes
from toolpolicy.services.evidence import tables

pytestmark = pytest.mark.django_db


def run(*arguments: object) -> str:
    out = io.StringIO()
    call_command("audit", *map(str, arguments), stdout=out)
    return out.getvalue()


@pytest.fixture
def history(db):
    deployment.adopt()
    imported(named("read", "write"))
    make_live([strict()])
    return timezone.now()


# --- report --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["html", "json", "csv"])
@pytest.mark.parametrize("name", ["changes", "access", "oversight"])
def test_a_report_is_written_to_a_file_and_recorded(history, tmp_path, name, form):
    decide("read", context={"agent": "coder"})
    file = tmp_path / "report"
    said = run("report", name, "--format", form, "--out", file)
    record = Record.objects.get(kind="export")
    body = json.loads(RecordBody.objects.get(record=record).text)
    assert f"{body['size']} bytes, {body['digest']}" in said
    assert file.stat().st_size == body["size"]
    assert (record.actor_label, body["report"]["format"]) == ("audit report", form)


def test_without_a_file_it_goes_to_standard_output(history, capsysbinary):
    assert run("report", "access", "--from", "2026-01-01", "--to", "2026-01-31") == ""
    found = json.loads(capsysbinary.readouterr().out)
    assert found["period"] == {"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


def test_a_printed_report_needs_no_server_and_says_everything_as_text(history, tmp_path):
    make_rule(make_layer("<script>"), id="x", match={"name": "<img src=x>"}, reason="<b>")
    file = tmp_path / "report.html"
    run("report", "changes", "--format", "html", "--out", file)
    page = file.read_text(encoding="utf-8")
    found = Tags(page)
    assert not {"script", "img", "link", "svg", "b"} & set(found.tags)
    assert not {"src", "href", "onload", "style"} & found.attributes
    assert "&lt;script&gt;" in page
    assert found.tags.count("h2") == 3
    assert "@media print" in page


def test_a_printed_report_has_every_row_and_every_tool(history, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", 2)
    file = tmp_path / "report.html"
    imported(named(*(f"tool-{number}" for number in range(30))), family="many")
    for number in range(5):
        decide("read", context={"agent": f"agent-{number}"})
    run("report", "access", "--format", "html", "--out", file)
    page = file.read_text(encoding="utf-8")
    assert all(f"agent-{number}" in page for number in range(5))
    assert page.count("many/tool-29") == 6  # five agents and the one that nobody named
    assert "more" not in page.split("<h2>Agents</h2>")[1].replace("once more", "")
    assert page.count("are counted among them once more") == 1
    assert page.endswith("</body>\n</html>\n")


def test_a_file_that_is_there_is_not_overwritten_and_nothing_is_recorded(history, tmp_path):
    file = tmp_path / "report.json"
    file.write_text("kept", encoding="utf-8")
    with pytest.raises(CommandError, match="is there already; evidence is not overwritten"):
        run("report", "access", "--out", file)
    assert file.read_text(encoding="utf-8") == "kept"
    assert not Record.objects.filter(kind="export").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report", "changes", "--from", "soon"), "--from: `soon` is not a date"),
        (
            ("report", "changes", "--from", "2026-02-01", "--to", "2026-01-01"),
            "--to: a period ends",
        ),
        (("report", "changes", "--from", "2026-02-30"), "--from: `2026-02-30` is no day of the"),
        (
            ("report", "changes", "--from", "2999-01-01", "--to", "2999-01-31"),
            "--from: nobody knows",
        ),
        (("report", "changes", "--out", "/nowhere/at/all"), "/nowhere/at/all cannot be written"),
        (("report", "weather"), "invalid choice: 'weather'"),
        (("at", "--on", "2999-01-01"), "--on: nobody knows yet"),
        (("at", "--on", "2026-01-01", "--against", "x"), "--against: `x` is not a date"),
        (("replay", "x"), "'x' is no id of a record"),
        (
            ("replay", "00000000-0000-4000-8000-000000000000"),
            "there is no record 00000000-0000-4000-8000-000000000000",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(history, arguments, said):
    with pytest.raises(CommandError) as refused:
        run(*arguments)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


# --- at ------------------------------------------------------------------------------------------


def test_what_an_agent_could_do_is_said_tool_by_tool(history):
    freezes.freeze(actor=SYSTEM, values={"kind": "tool", "value": "write", "reason": "a loop"})
    today = f"{timezone.now():%Y-%m-%d}"
    lines = run("at", "--agent", "coder", "--on", today).splitlines()
    assert ": version 1, registry sha256:" in lines[0]
    assert lines[1:] == [
        "  frozen: tool write, a loop",
        "  box/read: allow, listed (active)",
        "  box/write: deny, not listed (active)",
    ]


def test_what_is_not_known_is_said(db):
    said = run("at", "--on", "2020-01-01")
    assert "missing: no version was published yet, so every call was refused" in said


def test_two_moments_are_compared_with_what_happened_between(history):
    make_live([strict({"effect": "deny", "match": {"name": "write"}})])
    on, before = (f"{at:%Y-%m-%dT%H:%M:%S.%fZ}" for at in (timezone.now(), history))
    said = run("at", "--on", on, "--against", before)
    assert "1 change between" in said
    assert "  box/write: allow, listed → deny, not listed" in said
    assert "through" in said
    assert "version 2" in said
    found = json.loads(run("at", "--on", on, "--against", before, "--json"))
    assert [one["name"] for one in found["differences"]] == ["write"]
    assert found["differences"][0]["through"][0]["version"] == 2
    again = run("at", "--on", on, "--against", on)
    assert "no answer differs" in again


def test_one_moment_as_json(history):
    found = json.loads(run("at", "--agent", "coder", "--on", f"{history:%Y-%m-%d}", "--json"))
    assert found["context"] == {"agent": "coder"}
    assert [(one["name"], one["outcome"]) for one in found["tools"]] == [
        ("read", "allow"),
        ("write", "allow"),
    ]


def test_a_day_before_the_first_has_no_tools(history):
    yesterday = history - timedelta(days=1)
    assert json.loads(run("at", "--on", f"{yesterday:%Y-%m-%d}", "--json"))["tools"] == []


# --- replay --------------------------------------------------------------------------------------


def test_a_record_is_judged_again_and_the_exit_code_says_whether_it_held(history):
    uid = decide("read").decision_id
    said = run("replay", uid)
    assert "The same inputs give the same answer, member by member." in said
    assert "policy: " in said
    assert json.loads(run("replay", uid, "--json"))["verdict"] == "same"
    RecordBody.objects.all().delete()
    with pytest.raises(CommandError) as refused:
        run("replay", uid)
    assert (str(refused.value), refused.value.returncode) == ("incomplete", 1)
