"""What is done to the log as a whole: rows renumbered, its end cut off, all of it sealed anew.

Who has the key can seal anew: then only the file outside the database tells it.
"""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection

from tests.audit.tampers import (
    build_log,
    change,
    found,
    insert,
    mistaken,
    owning_the_database,
    remove,
    rows_of,
    undone,
)
from toolpolicy.audit import headers, writer
from toolpolicy.audit.headers import COLUMNS
from toolpolicy.audit.verification.whole import verify
from toolpolicy.models import Block, Leaf, Record, RecordBody

pytestmark = pytest.mark.django_db
FAR = 900_000
FRESH = "12345678-1234-4234-8234-123456789abc"
AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def log(settings, tmp_path):
    build_log(settings, tmp_path)
    with owning_the_database():
        assert found() is None
        yield


def hash_of(record: int) -> str:
    """Return what the leaf of a record has to be, as it stands."""
    return headers.leaf(Record.objects.values_list(*COLUMNS).get(pk=record)).hex()


def forged_record() -> None:
    first = rows_of(Record)[0]
    uid = otherwise("uid", first["uid"])
    insert(Record, {**first, "id": FAR, "uid": uid, "writer_id": "f" * 32, "writer_n": 1})


# --- without the key ------------------------------------------------------------------------------


def test_a_record_deleted_with_all_its_traces_is_missing_where_it_was():
    cases = []
    for gone in rows_of(Leaf):
        later = [row for row in rows_of(Leaf) if row["seq"] > gone["seq"]]
        with undone():
            remove(Record, {"id": gone["record_id"]})
            remove(RecordBody, {"record_id": gone["record_id"]})
            remove(Leaf, gone)
            for row in later:
                change(Leaf, row, seq=row["seq"] - 1)
            cases.append((f"{gone['seq']}", found(), ("missing", gone["seq"])))
    assert mistaken(cases) == []


def test_a_record_put_in_with_all_that_belongs_to_it_is_told_as_inserted():
    cases = []
    for place in rows_of(Leaf):
        with undone():
            forged_record()
            for row in reversed(rows_of(Leaf)):
                if row["seq"] >= place["seq"]:
                    change(Leaf, row, seq=row["seq"] + 1)
            insert(Leaf, {"seq": place["seq"], "record_id": FAR, "hash": hash_of(FAR)})
            cases.append((f"{place['seq']}", found(), ("inserted", place["seq"])))
    assert mistaken(cases) == []


def test_a_record_sealed_twice_is_told_as_a_double():
    cases = []
    for place in rows_of(Leaf)[1:]:
        before = place["seq"] - 1
        twice = Leaf.objects.get(seq=before)
        with undone():
            for row in reversed(rows_of(Leaf)):
                if row["seq"] >= place["seq"]:
                    change(Leaf, row, seq=row["seq"] + 1)
            insert(Leaf, {"seq": place["seq"], "record_id": twice.record_id, "hash": twice.hash})
            first = verify(full=True).first
            got = (str(first.kind), first.seq in {before, place["seq"]}) if first else None
            cases.append((f"{place['seq']}", got, ("duplicated", True)))
    assert mistaken(cases) == []


# The text of a record does not hold these: that its block was altered is all there is to say.
UNSAID = {"client_id", "policy_version"}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_altered_together_with_its_leaf_is_told_by_the_record_s_text(name):
    cases = []
    for leaf in rows_of(Leaf)[1::5]:
        row = next(row for row in rows_of(Record) if row["id"] == leaf["record_id"])
        block = Block.objects.filter(first__lte=leaf["seq"]).order_by("-first")[0]
        wanted = block.first if name in UNSAID else leaf["seq"]
        with undone():
            change(Record, row, **{name: otherwise(name, row[name])})
            change(Leaf, leaf, hash=hash_of(row["id"]))
            cases.append((f"{leaf['seq']}", found(), ("altered", wanted)))
    assert mistaken(cases) == []


def otherwise(name: str, value: Any) -> Any:
    """Return another value that the column may have."""
    match Record._meta.get_field(name).get_internal_type():
        case "UUIDField":
            return FRESH if connection.vendor == "postgresql" else FRESH.replace("-", "")
        case "DateTimeField":
            return connection.ops.adapt_datetimefield_value(AT)
        case "CharField":
            return "another"
        case _:
            return (value or 0) + 7


def test_a_column_a_text_and_a_leaf_altered_together_are_told_by_their_block():
    body = RecordBody.objects.filter(text__contains="send_mail").order_by("-pk")[1]
    leaf = {"seq": body.record.leaf.seq, "record_id": body.pk}
    text = body.text.replace('"arguments":{"n":2,', '"arguments":{"n":1,')
    assert text != body.text
    with undone():
        change(RecordBody, {"record_id": leaf["record_id"]}, text=text)
        digest = writer.leaf_hash(text)
        change(Record, {"id": leaf["record_id"]}, leaf_hash=digest)
        change(Leaf, leaf, hash=hash_of(leaf["record_id"]))
        kind, seq = found() or ("", None)
        block = Block.objects.filter(first__lte=leaf["seq"]).order_by("-first")[0]
        assert (kind, seq) == ("altered", block.first)
