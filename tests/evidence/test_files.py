"""Reports as files: the bytes, the record of who took them, what a spreadsheet makes of them."""

import csv
import hashlib
import io
import json

import pytest
from django.utils import timezone

from tests.admin.pages import decide
from tests.evidence.asked import around_now, person
from tests.factories import ORIGIN, SYSTEM, make_layer
from tests.live import make_client, make_live, strict
from toolpolicy.models import Record
from toolpolicy.services import freezes, policies, sign_ins
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import Refused
from toolpolicy.services.evidence import reports
from toolpolicy.services.evidence.reports import ReportFormat, ReportName, export, report_of
from toolpolicy.services.evidence.tables import Column, ShownSection

pytestmark = pytest.mark.django_db
HOSTILE = ("=1+1", "+cmd", "-2", "@sum", "\t=x", "\r=x", "a\u202eb", "<b>", '"; DROP')


def taken(name: str = "changes", form: str = "json", actor: Actor = SYSTEM) -> reports.Exported:
    return export(actor=actor, name=ReportName(name), period=around_now(), form=form, origin=ORIGIN)


@pytest.mark.parametrize("form", list(ReportFormat))
@pytest.mark.parametrize("name", list(ReportName))
def test_whoever_takes_a_report_is_recorded_with_the_digest_of_what_was_given(db, name, form):
    make_live([strict()])
    decide("calc", context={"agent": "coder"})
    make_layer()
    ada = person("ada", "auditor")
    period = around_now()
    given = export(actor=ada, name=name, period=period, form=form, origin=ORIGIN)
    data = given.file.read()
    record = Record.objects.select_related("body").get(kind="export")
    body = json.loads(record.body.text)
    assert (record.actor_label, record.request_id) == ("ada", "request-1")
    assert record.object_label.startswith(f"report {name}, ")
    assert body["report"]["name"] == name
    assert body["report"]["format"] == form
    assert body["digest"] == given.digest == f"sha256:{hashlib.sha256(data).hexdigest()}"
    assert (body["size"], body["count"]) == (len(data), given.rows)
    assert given.rows > 0


def test_no_row_of_a_table_is_without_a_name(db):
    make_live([strict()])
    decide("calc")
    attempt = sign_ins.begin(name="nobody-here", origin=ORIGIN)
    sign_ins.failed(attempt=attempt, right_password=False)
    first: dict[str, list[str]] = {}
    for name in ReportName:
        for row in csv.reader(io.StringIO(taken(name, "csv").file.read().decode())):
            first.setdefault(row[0], []).append(row[1])
    assert "(no agent named)" in first["agents"]
    assert "(none known)" in first["tools"]
    assert "(no account of that name)" in first["failed_sign_ins"]
    assert all(all(names) for names in first.values())
    found = json.loads(taken("oversight").file.read())
    assert [row["agent"] for row in found["agents"]] == [""]  # a program reads what is recorded


def test_a_json_file_is_one_object_with_every_row(db):
    for name in ("one", "two"):
        make_layer(name)
    given = taken()
    found = json.loads(given.file.read())
    assert list(found) == [
        *("report", "made_at", "period", "records", "superusers_only"),
        *("exceptions", "failed_sign_ins", "others"),
    ]
    assert [entry["about"] for entry in found["exceptions"]] == ["two", "one"]
    assert given.rows == 2


@pytest.mark.parametrize("name", list(ReportName))
def test_nothing_in_a_csv_file_is_a_formula_or_hides(db, name):
    make_live([strict()])
    for text in HOSTILE:
        decide("calc", context={"agent": text.strip() or "x"})
        values = {"kind": "agent", "value": text.strip() or "x", "reason": text}
        freezes.freeze(actor=SYSTEM, values=values)
    text = taken(name, "csv").file.read().decode()
    for row in csv.reader(io.StringIO(text, newline="")):
        for field in row:
            assert field.isprintable()
            assert not field.lstrip().startswith(("=", "+", "-", "@"))


def test_each_row_of_a_csv_file_begins_with_its_section_under_its_headings(db):
    make_layer()
    rows = list(csv.reader(io.StringIO(taken(form="csv").file.read().decode(), newline="")))
    assert rows[0][:2] == ["report", "changes"]
    assert [row[0] for row in rows[1:]] == [
        *("exceptions", "exceptions", "failed_sign_ins", "others"),
    ]
    assert rows[1][1:4] == ["When (UTC)", "Who", "Kind"]
    assert rows[2][2:5] == ["tests", "policy change", "added the layer `house rules`"]


@pytest.mark.parametrize("most", [0, 10, 1 << 20])
def test_a_large_file_leaves_memory_with_the_same_bytes(db, monkeypatch, most):
    monkeypatch.setattr(reports, "IN_MEMORY", most)
    make_layer()
    given = taken()
    with given.file as file:
        data = file.read()
    assert hashlib.sha256(data).hexdigest() == given.digest.removeprefix("sha256:")
    assert (len(data), isinstance(given.file, io.BytesIO)) == (given.size, most > len(data))


def test_a_key_bound_to_a_context_takes_none(db):
    client = make_client()
    client.pinned_context = {"agent": "coder"}
    with pytest.raises(Refused) as refused:
        taken(actor=Actor.for_client(client))
    assert refused.value.code == "pinned_context"
    assert not Record.objects.filter(kind="export").exists()


def test_a_long_list_is_whole_in_every_file_and_cut_on_a_page(db):
    entries = [strict(name=f"layer {number}", position=number) for number in range(30)]
    policies.add_layers(actor=SYSTEM, layers=entries, summary="added thirty")
    found = json.loads(taken().file.read())["exceptions"][0]
    assert len(found["sentences"]) == len(found["differences"]) == 30
    row = list(csv.reader(io.StringIO(taken(form="csv").file.read().decode(), newline="")))[2]
    assert row[5].split("; ") == found["sentences"]
    report = report_of(ReportName.CHANGES, around_now(), now=timezone.now(), whole=False)
    [cells] = ShownSection.of(report.sections[0]).rows
    shown = {column.name: lines for column, lines in cells}
    assert shown["sentences"] == [*found["sentences"][:6], "and 24 more"]


def test_a_long_text_is_whole_in_a_file_and_cut_on_a_page(db):
    column, row = Column(name="said", heading="Said"), {"said": "x" * 500}
    assert column.lines(row) == ["x" * 500]
    assert column.beginning(row) == ["x" * 400 + "…"]
