"""Every row of every audit table: deleted, inserted, exchanged or doubled, it is found and named.

A double write is not called a deletion.
"""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from tests.audit.tampers import (
    FORGER,
    TABLES,
    build_log,
    exchange,
    found,
    insert,
    key_of,
    mistaken,
    owning_the_database,
    place_of,
    remove,
    rows_of,
    undone,
)
from toolpolicy.audit import blocks, merkle, writer
from toolpolicy.audit.signing import signer_of
from toolpolicy.models import (
    AuditState,
    Block,
    Leaf,
    MaskedValue,
    Record,
    RecordBody,
    SealKey,
)

pytestmark = pytest.mark.django_db
FAR = 900_000
"""An id that no row has."""


@pytest.fixture(autouse=True)
def log(settings, tmp_path):
    build_log(settings, tmp_path)
    with owning_the_database():
        assert found() is None
        yield


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model.__name__)
def test_a_deleted_row_is_missing(model):
    cases = []
    for row in rows_of(model):
        wanted = "missing", place_of(model, row)
        with undone():
            remove(model, row)
            cases.append((f"{row[key_of(model)]}", found(), wanted))
    assert mistaken(cases) == []


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model.__name__)
def test_a_row_that_is_there_twice_is_a_double_and_no_deletion(model):
    cases = []
    for row in rows_of(model):
        wanted = "duplicated", place_of(model, row)
        with undone():
            insert(model, row)
            cases.append((f"{row[key_of(model)]}", found(), wanted))
    assert mistaken(cases) == []


@pytest.mark.parametrize("model", [Record, RecordBody, Leaf, Block, SealKey], ids=str)
@pytest.mark.parametrize("apart", [1, 2, 7])
def test_two_rows_that_changed_places_are_told_as_such(model, apart):
    rows = rows_of(model)
    cases = []
    for one, other in zip(rows, rows[apart:], strict=False):
        wanted = "reordered", place_of(model, one)
        with undone():
            exchange(model, one, other)
            cases.append((f"{one[key_of(model)]}", found(), wanted))
    assert mistaken(cases) == []


# --- rows that were never sealed ------------------------------------------------------------------


def last_leaf() -> int:
    return int(Leaf.objects.order_by("-seq").values_list("seq", flat=True)[0])


def forged_record(**values: Any) -> None:
    row = {**rows_of(Record)[0], "id": FAR, "uid": fresh_uid(), "writer_id": "f" * 32}
    insert(Record, {**row, "writer_n": 1, **values})


def fresh_uid() -> Any:
    uid = uuid4()
    return uid if connection.vendor == "postgresql" else uid.hex


def backdated_record() -> None:
    early = timezone.now() - timedelta(hours=1)
    forged_record(at=connection.ops.adapt_datetimefield_value(early))


def record_with_a_used_number() -> None:
    first = rows_of(Record)[0]
    forged_record(writer_id=first["writer_id"], writer_n=first["writer_n"])


def record_with_a_used_id() -> None:
    forged_record(uid=rows_of(Record)[0]["uid"])


def record_without_its_text() -> None:
    forged_record()


def record_with_another_text() -> None:
    forged_record()
    insert(RecordBody, {"record_id": FAR, "text": "{}"})


def record_whose_text_names_another() -> None:
    text = str(rows_of(RecordBody)[0]["text"])
    forged_record(leaf_hash=writer.leaf_hash(text))
    insert(RecordBody, {"record_id": FAR, "text": text})


def text_of_no_record() -> None:
    insert(RecordBody, {"record_id": FAR, "text": "{}"})


def masked_value_of_a_place_that_is_not_masked() -> None:
    first = rows_of(Record)[0]["id"]
    insert(MaskedValue, {**rows_of(MaskedValue)[0], "id": FAR, "record_id": first})


def leaf_at_the_end() -> None:
    insert(Leaf, {"seq": last_leaf() + 1, "record_id": FAR, "hash": "0" * 64})


def leaf_before_the_first() -> None:
    insert(Leaf, {"seq": 0, "record_id": FAR, "hash": "0" * 64})


def second_leaf_of_a_record() -> None:
    insert(Leaf, {**rows_of(Leaf)[0], "seq": last_leaf() + 1})


def leaf_with_a_used_number() -> None:
    insert(Leaf, {"seq": 3, "record_id": FAR, "hash": "0" * 64})


def old_block_replayed() -> None:
    insert(Block, {**rows_of(Block)[1], "number": Block.objects.count() + 1})


def block_of_a_forger() -> None:
    last = Block.objects.order_by("-number")[0]
    text, key = blocks.parse(last.text), signer_of(FORGER)
    said = {name: getattr(text, name) for name in text.__dataclass_fields__}
    said |= {"n": text.n + 1, "first": text.end, "count": 0, "previous": "", "key": key.key_id}
    said |= {"root": merkle.EMPTY_ROOT.hex(), "previous": blocks.block_hash(last.text)}
    forged = blocks.BlockText(**{**said, "outcomes": {}, "since": None, "until": None}).dump()
    row = {**rows_of(Block)[-1], "number": text.n + 1, "first": text.end, "count": 0}
    insert(Block, {**row, "text": forged, "signature": key.sign(forged)})


def key_of_a_forger() -> None:
    key = signer_of(FORGER)
    row = {"key_id": key.key_id, "position": 3, "public": key.public}
    insert(SealKey, {**row, "statement": "", "signature": ""})


def second_name_of_the_log() -> None:
    row = rows_of(AuditState)[0]
    insert(AuditState, {**row, "id": 2, "log": fresh_uid(), "verified": ""})


INSERTIONS = {
    backdated_record: ("inserted", None),
    record_with_a_used_number: ("duplicated", 1),
    record_with_a_used_id: ("duplicated", 1),
    record_without_its_text: ("missing", None),
    record_with_another_text: ("altered", None),
    record_whose_text_names_another: ("altered", None),
    text_of_no_record: ("inserted", None),
    masked_value_of_a_place_that_is_not_masked: ("inserted", 1),
    leaf_at_the_end: ("inserted", "end"),
    leaf_before_the_first: ("inserted", 0),
    second_leaf_of_a_record: ("duplicated", "end"),
    leaf_with_a_used_number: ("inserted", 3),
    old_block_replayed: ("duplicated", "end"),
    block_of_a_forger: ("unsigned", "end"),
    key_of_a_forger: ("inserted", None),
    second_name_of_the_log: ("duplicated", None),
}


@pytest.mark.parametrize("forge", INSERTIONS, ids=lambda forge: forge.__name__)
def test_a_row_that_somebody_put_in_is_found(forge):
    kind, place = INSERTIONS[forge]
    wanted = kind, last_leaf() + 1 if place == "end" else place
    with undone():
        forge()
        assert found() == wanted
