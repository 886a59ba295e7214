"""`audit/export/`, `audit/verifier/`: evidence over REST."""

import gzip
import hashlib
import json
import re
from io import BytesIO

import pytest

from tests.api.conftest import ROOT
from tests.audit.logs import sealed_log, write_records
from tests.audit.taking import VERIFIER, judged, lines_of, records_of
from toolpolicy.audit.line_files import LineOutput
from toolpolicy.audit.streaming import stream_all
from toolpolicy.models import Record
from toolpolicy.services.records import document_of

EXPORT = "audit/export/"


@pytest.fixture
def auditor(key_with):
    """Give the API with a key of an auditor, over a small log."""
    write_records(2, tool="mail_send")
    write_records(1, tool="file_read", outcome="deny")
    return key_with("audit:read", name="auditor")


def go_away(api):
    """Ask for an export and be gone: what a server does then, but for closing the connection."""
    answer = api.http.get(f"{ROOT}{EXPORT}", headers={"Authorization": f"Bearer {api.key}"})
    for close in answer._resource_closers:
        close()


def ended():
    return document_of(Record.objects.filter(kind="export").latest("pk")) or {}


def test_a_key_of_an_auditor_takes_all_records_as_a_bundle_that_verifies(auditor):
    answer = auditor.get(EXPORT, X_Request_ID="r-7")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/jsonl")
    name = r'attachment; filename="records-[0-9a-f]{8}-\d{8}-\d{6}\.jsonl"'
    assert re.fullmatch(name, answer.headers["Content-Disposition"])
    assert (answer.headers["Unsealed-Records"], answer.headers["Cache-Control"]) == (
        "0",
        "no-store",
    )
    bundle = answer.content
    assert judged(bundle)["exit"] == 0
    assert len(records_of(bundle)) == 5  # three decisions, the key, the beginning of this export
    said = ended()
    assert (said["count"], said["finished"]) == (5, True)
    assert said["digest"] == "sha256:" + hashlib.sha256(bundle).hexdigest()
    assert (said["actor"]["label"], said["origin"]["request_id"]) == ("auditor", "r-7")


def test_the_query_is_the_filter_and_stands_in_the_bundle(auditor):
    bundle = auditor.get(f"{EXPORT}?tool=file_read&outcome=deny&complete=true&last=3").content
    (told,) = lines_of(bundle, "bundle")
    assert told["filter"] == {"tool": "file_read", "outcome": "deny", "last": 3}
    assert (told["complete"], told["made_by"]) == (True, "auditor")
    assert records_of(bundle) == [3]
    assert judged(bundle)["exit"] == 0


def test_a_bundle_comes_packed_and_a_table_to_read(auditor):
    packed = auditor.get(f"{EXPORT}?format=jsonl.gz")
    assert packed.headers["Content-Type"] == "application/gzip"
    assert judged(gzip.decompress(packed.content))["exit"] == 0
    table = auditor.get(f"{EXPORT}?format=csv&tool=mail_send")
    assert table.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert len(table.content.splitlines()) == 3


def test_a_form_that_the_caller_does_not_accept_is_not_begun(auditor):
    refused = auditor.get(EXPORT, Accept="text/csv")
    assert (refused.status_code, refused.json()["code"]) == (406, "not_acceptable")
    assert auditor.get(f"{EXPORT}?format=csv", Accept="text/csv").status_code == 200


def test_a_date_in_the_query_is_its_midnight_in_utc(auditor):
    bundle = bytes(auditor.get(f"{EXPORT}?from=2026-01-01&to=2999-01-01").getvalue())
    assert lines_of(bundle, "bundle")[0]["filter"] == {
        "from": "2026-01-01T00:00:00.000000Z",
        "to": "2999-01-01T00:00:00.000000Z",
    }


def test_a_reader_that_goes_away_is_recorded(auditor):
    go_away(auditor)
    assert (ended()["finished"], ended()["size"]) == (False, 0)


WRONG = [
    ("tol=x", "tol", "unknown_parameter"),
    ("kind=nothing", "kind", "unknown_word"),
    ("first=0", "first", "invalid"),
    ("first=x", "first", "invalid"),
    ("from=yesterday", "from", "invalid"),
    ("from=2026-02-30", "from", "invalid"),
    ("complete=yes", "complete", "bad_query"),
    ("format=xml", "format", "bad_query"),
    ("tool=a&tool=b", "tool", "duplicate"),
    ("format=csv&complete=true", "complete", "invalid"),
]


@pytest.mark.parametrize(("query", "name", "code"), WRONG)
def test_a_wrong_query_is_named_and_nothing_is_begun(auditor, query, name, code):
    refused = auditor.get(f"{EXPORT}?{query}")
    assert (refused.status_code, refused.json()["code"]) == (400, "bad_query")
    (fault,) = refused.json()["errors"]
    assert (fault["parameter"], fault["code"]) == (name, code)
    assert not Record.objects.filter(kind="export").exists()


def test_where_nothing_can_be_sealed_there_is_no_export(auditor, settings):
    settings.TOOLPOLICY_SEAL_KEY = ""
    refused = auditor.get(EXPORT)
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")


def test_what_could_not_be_sealed_is_said(auditor, settings):
    sealed_log(1)
    settings.TOOLPOLICY_SEAL_KEY = "5f" * 32
    write_records(2)
    answer = auditor.get(EXPORT)
    assert answer.headers["Unsealed-Records"] == "3"


@pytest.mark.parametrize("path", [EXPORT, "audit/verifier/"])
def test_a_key_without_the_scope_takes_nothing(key_with, path):
    refused = key_with("records:read", "decide").get(path)
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")


def test_a_key_that_is_bound_to_a_context_takes_nothing(key_with):
    refused = key_with("audit:read", pinned_context={"agent": "a"}).get(EXPORT)
    assert (refused.status_code, refused.json()["code"]) == (403, "pinned_context")


@pytest.mark.parametrize("path", [EXPORT, "audit/verifier/"])
def test_without_a_key_there_is_nothing(stranger, path):
    assert stranger.get(path).status_code == 401


def test_an_export_is_not_asked_for_by_its_head(auditor):
    assert auditor.send("HEAD", EXPORT).status_code == 405


def test_the_verifier_is_the_file_of_the_product(auditor):
    answer = auditor.get("audit/verifier/")
    assert answer.content == VERIFIER.read_bytes()
    assert answer.headers["Content-Disposition"] == 'attachment; filename="verify_bundle.py"'


def test_a_deny_that_was_just_answered_is_in_the_bundle(api):
    asked = {"surface": "call", "tool": "x", "context": {"agent": "a"}}
    uid = api.post("decisions/", asked).json()["decision_id"]
    bundle = api.get(f"{EXPORT}?uid={uid}").content
    (line,) = lines_of(bundle, "record")
    assert json.loads(line["text"])["id"] == uid
    assert judged(bundle)["exit"] == 0


def test_what_is_masked_does_not_leave(api):
    sent = {"password": "hunter2-of-everyone", "to": "ada@example.com"}
    asked = {"surface": "call", "tool": "x", "arguments": sent, "context": {"agent": "a"}}
    api.post("decisions/", asked)
    for query in ("", "?complete=true", "?format=csv"):
        taken = api.get(f"{EXPORT}{query}").content
        assert b"hunter2" not in taken
        assert (b"ada@example.com" in taken) == ("csv" not in query)
    out = BytesIO()
    stream_all(LineOutput(out))
    assert b"hunter2" not in out.getvalue()
    assert b"masked:sha256:" in out.getvalue()
