"""`records/`: a key reads its own, and nobody else's."""

import hashlib
import json
from dataclasses import fields
from urllib.parse import urlencode

import pytest
from django.db import connections, transaction
from django_filters.utils import get_model_field

from tests.audit.logs import tampering
from toolpolicy.api.filters import RecordFilters
from toolpolicy.audit import sealer, writer
from toolpolicy.audit.blocks import parse
from toolpolicy.audit.writer import RecordIndex
from toolpolicy.models import Block, Leaf, Record, RecordBody

QUESTION = {"surface": "call", "tool": "send_mail", "context": {"agent": "a", "session": "s"}}
WITHOUT_FILTER = {
    "id": "records page by it",
    "client": "a key sees its own records only",
    "client_key_id": "a key sees its own records only",
    "body": "no column: the text is read whole",
    "leaf": "no column: its place in the sealed log",
    "masked": "no column: what the text does not show",
}


@pytest.fixture
def decided(api):
    return api.post("decisions/", QUESTION, X_Request_ID="r-1").json()["decision_id"]


def test_every_column_has_a_filter_or_a_reason_for_none():
    columns = {field.name for field in Record._meta.get_fields()}
    filtered = {one.field_name for one in RecordFilters.base_filters.values()}
    assert filtered | WITHOUT_FILTER.keys() == columns
    assert not filtered & WITHOUT_FILTER.keys()
    assert all(get_model_field(Record, name) is not None for name in filtered)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("outcome=denied", "`denied` is not a known word; did you mean `deny`"),
        ("surface=%25s%25", "`%s%` is not a known word; known are call, catalog, search"),
        ("surface=moon", "`moon` is not a known word; known are call, catalog, search"),
    ],
)
def test_a_word_that_no_record_has_is_answered_with_those_that_are_meant(api, query, said):
    answer = api.get(f"records/?{query}")
    assert answer.status_code == 400
    [fault] = answer.json()["errors"]
    assert (fault["parameter"], fault["message"]) == (query.partition("=")[0], said)


@pytest.fixture
def two(api):
    """Two records that differ in every column, each by a writer of its own."""
    return [
        one_record(api.client, "decision", "call", "allow", number=1),
        one_record(api.client, "listing", "search", "deny", number=2),
    ]


def one_record(client, kind, surface, outcome, *, number):
    texts = {
        field.name: f"{field.name}-{number}"
        for field in fields(RecordIndex)
        if field.name not in ("surface", "outcome", "policy_version")
    }
    index = RecordIndex(surface=surface, outcome=outcome, policy_version=number, **texts)
    vars(connections["default"]).pop(writer._SLOT, None)  # the next record is another writer's
    with transaction.atomic():
        for _ in range(number - 1):
            writer.write(kind=kind, body={}, client=client)
        return writer.write(kind=kind, body={}, index=index, client=client)


@pytest.mark.parametrize("name", RecordFilters.base_filters)
def test_every_filter_takes_one_and_leaves_the_other(api, two, name):
    first, second = two
    field = RecordFilters.base_filters[name].field_name
    value = second.at.isoformat() if field == "at" else getattr(first, field)
    query = urlencode({name: value})
    found = {one["uid"] for one in api.get(f"records/?{query}").json()["results"]}
    wanted = second if name == "since" else first
    assert found & {str(first.uid), str(second.uid)} == {str(wanted.uid)}


def test_records_are_listed_latest_first_without_bodies(api, decided):
    api.post("catalog/", {"surface": "catalog"})
    found = api.get("records/").json()["results"]
    assert [one["kind"] for one in found] == ["listing", "decision"]
    assert found[1]["uid"] == decided
    assert all("body" not in one and "text" not in one for one in found)


def test_pages_stay_put_while_records_are_added(api):
    for _ in range(3):
        api.post("decisions/", QUESTION)
    first = api.get("records/?page_size=2").json()
    api.post("decisions/", QUESTION)
    second = api.get(first["next"].removeprefix("http://testserver")).json()
    ids = [one["writer_n"] for one in first["results"] + second["results"]]
    assert ids == sorted(set(ids), reverse=True)
    assert len(ids) == 3


def test_a_record_is_read_with_the_text_that_its_hash_is_over(api, decided):
    read = api.get(f"records/{decided}/").json()
    assert read["leaf_hash"] == hashlib.sha256(b"\0" + read["text"].encode()).hexdigest()
    assert read["body"] == json.loads(read["text"])
    assert read["body"]["asked"]["context"] == QUESTION["context"]


def test_a_record_whose_body_is_gone_is_still_there(api, decided):
    RecordBody.objects.filter(record__uid=decided).delete()
    read = api.get(f"records/{decided}/").json()
    assert (read["uid"], read["body"], read["text"]) == (decided, None, None)


def test_another_keys_record_is_not_found_and_the_attempt_is_recorded(api, key_with, decided):
    other = key_with("records:read", "decide")
    response = other.get(f"records/{decided}/")
    unknown = other.get("records/00000000-0000-4000-8000-000000000000/")
    assert [response.status_code, unknown.status_code] == [404, 404]
    assert response.json()["code"] == "not_found"
    assert other.get("records/?kind=decision").json()["results"] == []
    assert other.get(f"records/?decision_id={decided}").json()["results"] == []
    assert Record.objects.filter(client=other.client, kind="refused").count() == 2


def test_reading_needs_the_scope(key_with, decided):
    plain = key_with("decide")
    assert plain.get("records/").status_code == 403
    assert plain.get(f"records/{decided}/").status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_no_record_is_written_or_taken_away_here(api, decided, method):
    assert api.send(method, f"records/{decided}/", {}).status_code == 405
    assert api.send(method, "records/", {}).status_code == 405


def test_a_record_says_where_it_stands_in_the_log_once_it_is_sealed(api, decided):
    assert api.get(f"records/{decided}/").json()["seal"] is None
    sealer.seal_all()
    leaf, block = Leaf.objects.get(record__uid=decided), Block.objects.get()
    assert api.get(f"records/{decided}/").json()["seal"] == {
        "seq": leaf.seq,
        "block": block.number,
        "at": parse(block.text).at,
        "key": parse(block.text).key,
        "proof": "good",
    }
    with tampering() as cursor:
        cursor.execute("UPDATE toolpolicy_block SET signature = '00'")
    assert api.get(f"records/{decided}/").json()["seal"]["proof"] == "block_altered"
