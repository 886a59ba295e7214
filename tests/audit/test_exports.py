"""Whoever takes records away leaves a record: before the first byte, and of what was given."""

import csv
import gzip
import hashlib
import json
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.db import DatabaseError

from tests.audit.logs import sealed_log, write_records
from tests.audit.taking import asked, lines_of, taken
from tests.factories import ORIGIN, SYSTEM, make_user
from tests.live import make_client
from toolpolicy.audit import bundles, writer
from toolpolicy.audit.headers import NAMES
from toolpolicy.audit.heads import log_id
from toolpolicy.models import Record
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import InvalidInput, Refused
from toolpolicy.services.evidence.exports import Form, begin
from toolpolicy.services.records import document_of

pytestmark = pytest.mark.django_db


def told() -> list[dict[str, Any]]:
    """Return what the records of exports say, oldest first."""
    found = Record.objects.filter(kind="export").order_by("pk").select_related("body")
    return [document_of(record) or {} for record in found]


@pytest.mark.parametrize("form", Form)
def test_an_export_is_recorded_before_its_first_byte_and_at_its_end(form):
    sealed_log(3)
    export = begin(actor=SYSTEM, asked=asked(form, tool=""), origin=ORIGIN)
    (begun,) = told()
    assert begun["action"] == "export_begun"
    assert begun["export"] == {"format": str(form), "complete": False, "filter": {"tool": ""}}
    data = b"".join(export)
    _, ended = told()
    assert (ended["action"], ended["finished"]) == ("export_records", True)
    assert (ended["begun"], ended["export"]) == (begun["id"], begun["export"])
    assert (ended["count"], ended["size"]) == (4, len(data))
    assert ended["digest"] == "sha256:" + hashlib.sha256(data).hexdigest() == export.digest
    for said in (begun, ended):
        assert (said["actor"]["label"], said["origin"]) == ("tests", ORIGIN.wire())


@pytest.mark.parametrize(
    ("wanted", "slug"),
    [
        ({}, ""),
        ({"tool": "file_read", "outcome": "deny"}, "-tool-file_read-outcome-deny"),
        ({"tool": "../../etc/passwd"}, "-tool-etc-passwd"),
        ({"session": 'a"\u202e;\r\nX: y'}, "-session-a-X-y"),
        ({"tool": "x" * 128}, f"-tool-{'x' * 75}"),
    ],
)
def test_the_name_of_a_file_tells_exports_apart_and_is_safe_anywhere(wanted, slug):
    sealed_log(1)
    export = begin(actor=SYSTEM, asked=asked(**wanted))
    begun = Record.objects.get(kind="export")
    assert export.name == f"records-{log_id()[:8]}-{begun.at:%Y%m%d-%H%M%S}{slug}.jsonl"
    export.close()


def test_the_end_is_recorded_once():
    sealed_log(1)
    export = begin(actor=SYSTEM, asked=asked())
    list(export)
    export.close()
    assert len(told()) == 2


@pytest.fixture
def many_pieces():
    """Write a log whose bundle has several pieces."""
    write_records(120, object_label="x" * 200, actor_label="y" * 200)


def test_a_reader_that_goes_away_is_recorded_with_what_was_given(many_pieces):
    export = begin(actor=SYSTEM, asked=asked())
    piece = next(export)
    export.close()
    ended = told()[-1]
    assert ended["finished"] is False
    assert 0 < ended["count"] < 121
    assert ended["size"] == len(piece)
    assert ended["digest"] == "sha256:" + hashlib.sha256(piece).hexdigest()
    assert ended["summary"].endswith(", and did not read to the end")


def test_a_reader_that_reads_nothing_is_recorded_too():
    sealed_log(1)
    begin(actor=SYSTEM, asked=asked()).close()
    ended = told()[-1]
    assert (ended["finished"], ended["size"], ended["count"]) == (False, 0, 0)


def test_an_export_that_fails_in_the_middle_breaks_off_and_is_recorded(many_pieces, monkeypatch):
    export = begin(actor=SYSTEM, asked=asked())
    piece = next(export)

    def fail(*_args: Any) -> None:
        raise DatabaseError("gone")

    monkeypatch.setattr(bundles, "members", fail)
    with pytest.raises(DatabaseError):
        list(export)
    export.close()
    assert (told()[-1]["finished"], told()[-1]["size"]) == (False, len(piece))
    assert lines_of(piece[: piece.rindex(b"\n")], "end") == []


def test_nothing_is_given_when_that_cannot_be_recorded(monkeypatch):
    sealed_log(1)

    def fail(**_values: Any) -> None:
        raise DatabaseError("no room")

    monkeypatch.setattr(writer, "write", fail)
    with pytest.raises(DatabaseError):
        begin(actor=SYSTEM, asked=asked())


def test_what_cannot_be_sealed_is_counted_and_left_out(settings):
    sealed_log(2)
    settings.TOOLPOLICY_SEAL_KEY = "5f" * 32
    write_records(3)
    export = begin(actor=SYSTEM, asked=asked())
    assert [line["seq"] for line in lines_of(b"".join(export), "record")] == [1, 2]
    assert export.waiting == told()[-1]["waiting"] == 4  # with the record of its own beginning


def test_what_comes_after_it_was_begun_is_not_counted(settings, tmp_path):
    kept = str(tmp_path / "kept.jsonl")
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, checkpoint_file=kept)
    sealed_log(2)
    export = begin(actor=SYSTEM, asked=asked())
    assert Record.objects.get(leaf__isnull=True).kind == "checkpoint"
    assert export.waiting == 0


def test_where_nothing_is_sealed_and_nothing_can_be_there_is_no_export(settings):
    settings.TOOLPOLICY_SEAL_KEY = ""
    write_records(1)
    with pytest.raises(Refused) as refused:
        begin(actor=SYSTEM, asked=asked())
    assert refused.value.code == "nothing_sealed"


READ = ("view_record",)
PEOPLE = [
    ((), Form.TABLE, False),
    ((), Form.BUNDLE, False),
    (READ, Form.TABLE, True),
    (READ, Form.BUNDLE, False),
    (READ, Form.PACKED, False),
    ((*READ, "view_recordbody"), Form.BUNDLE, True),
    (("view_recordbody",), Form.BUNDLE, False),
]


@pytest.mark.parametrize(("permissions", "form", "may"), PEOPLE)
def test_who_reads_records_takes_tables_and_who_reads_texts_takes_bundles(permissions, form, may):
    sealed_log(1)
    actor = Actor.for_user(make_user("somebody", permissions=permissions))
    expect_export(actor, form, may=may)


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize(("scope", "may"), [("records:read", False), ("audit:read", True)])
def test_a_key_needs_the_scope_for_it(form, scope, may):
    sealed_log(1)
    client = make_client()
    client.scopes = [scope]
    expect_export(Actor.for_client(client), form, may=may)


def expect_export(actor: Actor, form: Form, *, may: bool) -> None:
    if may:
        assert b"".join(begin(actor=actor, asked=asked(form)))
        return
    with pytest.raises(Refused) as refused:
        begin(actor=actor, asked=asked(form))
    assert refused.value.code == "export_refused"
    assert told() == []


def rows_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(StringIO(data.decode(), newline="")))


def test_a_table_has_the_columns_of_records_with_their_place_in_the_log():
    write_records(2, tool="mail_send", agent="a")
    sealed_log(1)
    names, *rows = rows_of(taken(Form.TABLE, tool="mail_send"))
    assert names == ["seq", "block", *NAMES]
    found = [dict(zip(names, row, strict=True)) for row in rows]
    assert [(row["seq"], row["block"], row["agent"]) for row in found] == [
        ("1", "1", "a"),
        ("2", "1", "a"),
    ]
    first = Record.objects.get(leaf__seq=1)
    assert (found[0]["uid"], found[0]["text_hash"]) == (str(first.uid), first.leaf_hash)
    assert found[0]["policy_version"] == ""


STARTS = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "\n=1", "\0=1"]


@pytest.mark.parametrize("text", STARTS)
def test_no_field_of_a_table_is_a_formula_or_breaks_a_line(text):
    write_records(1, tool=text)
    _, row, *_ = rows_of(taken(Form.TABLE, kind="decision"))
    assert row[2 + NAMES.index("tool")].startswith(("'", "\\"))
    assert len(taken(Form.TABLE, kind="decision").splitlines()) == 2


def test_a_table_of_nothing_has_its_columns():
    sealed_log(1)
    assert len(rows_of(taken(Form.TABLE, tool="never"))) == 1


def test_a_table_is_never_complete():
    with pytest.raises(InvalidInput) as wrong:
        asked(Form.TABLE, complete=True)
    assert wrong.value.faults[0].pointer == "/complete"


HOSTILE = "a\r\nb\x1b[31mc\x9b2Jd\u2028e\u2029f\u202eg\x85h\0i\ud83d"


@pytest.mark.parametrize("form", [Form.BUNDLE, Form.PACKED])
def test_a_record_is_one_line_of_ascii_whatever_it_holds(form):
    text = HOSTILE.encode("utf-8", "ignore").decode().replace("\0", "")
    write_records(1, tool=text, agent=text, rule=text, request_id=text)
    data = taken(form, kind="decision")
    plain = gzip.decompress(data) if form is Form.PACKED else data
    assert plain.isascii()
    (line,) = lines_of(plain, "record")
    assert line["header"][NAMES.index("agent") + 1] == text
    assert all(json.loads(one) for one in plain.decode().splitlines())
