"""`manage.py audit export`, `audit verifier`: evidence from a terminal."""

import csv
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from tests.audit.logs import sealed_log, tampering, write_records
from tests.audit.taking import VERIFIER, judged, lines_of, records_of
from toolpolicy.models import Record
from toolpolicy.services.records import document_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def mixed():
    write_records(2, tool="mail_send")
    write_records(1, tool="file_read", outcome="deny")


def export(path, *words):
    out = StringIO()
    call_command("audit", "export", "--out", str(path), *words, stdout=out)
    return out.getvalue()


def test_a_bundle_is_written_to_a_new_file_and_said_to_be(mixed, tmp_path):
    path = tmp_path / "all.jsonl"
    told = export(path)
    said = document_of(Record.objects.filter(kind="export").latest("pk")) or {}
    assert told == f"{path}: 4 records, 1 block, {path.stat().st_size} bytes, {said['digest']}\n"
    assert said["actor"]["label"] == "audit command"
    assert judged(path)["exit"] == 0


def test_what_is_asked_for_are_records_where_all_is_as_said(mixed, tmp_path):
    words = ("--filter", "outcome=deny", "--filter", "tool=file_read", "--complete", "--json")
    told = json.loads(export(tmp_path / "a.jsonl", *words))
    assert (told["records"], told["others"], told["unsealed"]) == (1, 3, 0)
    bundle = (tmp_path / "a.jsonl").read_bytes()
    assert lines_of(bundle, "bundle")[0]["filter"] == {"outcome": "deny", "tool": "file_read"}
    assert judged(bundle)["exit"] == 0


def test_a_span_of_time_takes_dates_and_times(mixed, tmp_path):
    words = ("--since", "2026-01-01", "--until", "2999-01-01T01:00:00+01:00")
    export(tmp_path / "a.jsonl", *words)
    bundle = (tmp_path / "a.jsonl").read_bytes()
    assert lines_of(bundle, "bundle")[0]["filter"] == {
        "from": "2026-01-01T00:00:00.000000Z",
        "to": "2999-01-01T00:00:00.000000Z",
    }
    assert records_of(bundle) == [1, 2, 3, 4]
    export(tmp_path / "b.jsonl", "--until", "2026-01-01")
    assert records_of((tmp_path / "b.jsonl").read_bytes()) == []
    export(tmp_path / "c.jsonl", "--filter", "from=2026-01-01", "--filter", "to=2999-01-01")
    assert lines_of((tmp_path / "c.jsonl").read_bytes(), "bundle")[0]["filter"] == {
        "from": "2026-01-01T00:00:00.000000Z",
        "to": "2999-01-01T00:00:00.000000Z",
    }


def test_a_name_that_ends_so_is_packed(mixed, tmp_path):
    export(tmp_path / "all.jsonl.gz")
    assert (tmp_path / "all.jsonl.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert judged(tmp_path / "all.jsonl.gz")["exit"] == 0


def test_a_table_is_written_for_reading(mixed, tmp_path):
    told = export(tmp_path / "all.csv", "--csv", "--filter", "kind=decision")
    assert "3 records" in told
    rows = list(csv.reader((tmp_path / "all.csv").read_text(encoding="utf-8").splitlines()))
    assert [row[0] for row in rows] == ["seq", "1", "2", "3"]


def test_without_a_file_the_bundle_alone_is_on_standard_output(mixed, capfdbinary):
    said = StringIO()
    call_command("audit", "export", stderr=said)
    bundle = capfdbinary.readouterr().out
    assert judged(bundle)["exit"] == 0
    assert said.getvalue().startswith("written: 4 records")


def test_evidence_is_not_overwritten_and_nothing_is_said_to_be_taken(mixed, tmp_path):
    path = tmp_path / "all.jsonl"
    path.write_bytes(b"older")
    with pytest.raises(CommandError, match="is there already; evidence is not overwritten"):
        export(path)
    assert path.read_bytes() == b"older"
    with pytest.raises(CommandError, match="cannot be written: No such file"):
        export(tmp_path / "none" / "all.jsonl")
    assert not Record.objects.filter(kind="export").exists()


def test_an_export_that_is_refused_leaves_no_file(tmp_path, settings):
    settings.TOOLPOLICY_SEAL_KEY = "no key"
    with pytest.raises(CommandError, match=r"^nothing is sealed yet, and it cannot be"):
        export(tmp_path / "all.jsonl")
    assert list(tmp_path.iterdir()) == []


WRONG = [
    (("--filter", "tol=x"), "unknown member `tol`; did you mean `tool`"),
    (("--filter", "tool"), "^`tool` has no `=`"),
    (("--filter", "tool=a", "--filter", "tool=b"), "^`tool=b` stands twice"),
    (("--filter", "first=one"), "^--filter first: expected an integer"),
    (("--since", "yesterday"), "^--since: `yesterday` is not a date .* or a time with seconds"),
    (("--since", "2026-02-30"), "^--since: `2026-02-30` is no day of the calendar$"),
    (("--filter", "to=2026-13-01"), "^--filter to: `2026-13-01` is no day of the calendar$"),
    (
        ("--since", "2026-02-01", "--until", "2026-01-01"),
        "^--until: `--until` is before `--since`$",
    ),
    (
        ("--since", "2026-02-01", "--filter", "to=2026-01-01"),
        "^--filter to: `to` is before `--since`$",
    ),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_a_wrong_filter_is_said_and_nothing_is_recorded(mixed, tmp_path, words, message):
    with pytest.raises(CommandError, match=message):
        export(tmp_path / "a.jsonl", *words)
    assert not Record.objects.filter(kind="export").exists()


def test_what_cannot_be_sealed_is_said(mixed, tmp_path, settings):
    sealed_log(1)
    settings.TOOLPOLICY_SEAL_KEY = "5f" * 32
    write_records(1)
    told = export(tmp_path / "a.jsonl")
    assert told.endswith("not in it: 2 records that cannot be sealed now\n")


def test_the_verifier_is_the_file_of_the_product(tmp_path, capfdbinary):
    call_command("audit", "verifier", "--out", str(tmp_path / "verify.py"))
    call_command("audit", "verifier")
    assert (tmp_path / "verify.py").read_bytes() == VERIFIER.read_bytes()
    assert capfdbinary.readouterr().out == VERIFIER.read_bytes()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL holds only what it can")
def test_what_cannot_be_read_breaks_the_export_off_with_a_word_of_advice(mixed, tmp_path):
    export(tmp_path / "good.jsonl")
    with tampering() as cursor:
        cursor.execute("UPDATE toolpolicy_record SET at = 'never' WHERE tool = 'file_read'")
    with pytest.raises(CommandError, match=r"the export broke off: .*audit verify"):
        export(tmp_path / "broken.jsonl")
    assert judged(tmp_path / "broken.jsonl")["exit"] == 2
    said = document_of(Record.objects.filter(kind="export").latest("pk")) or {}
    assert said["finished"] is False
