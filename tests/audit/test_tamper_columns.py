"""Every column of every audit table, in every row: one byte changed, or emptied, is found.

What is found first names the number of the record that was touched, and the right kind.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import models

from tests.audit.tampers import (
    TABLES,
    build_log,
    change,
    columns_of,
    flipped,
    found,
    mistaken,
    owning_the_database,
    place_of,
    rows_of,
    undone,
)
from toolpolicy.models import Block, Leaf, MaskedValue, Record, RecordBody

pytestmark = pytest.mark.django_db

FEW = 6
"""Of a table with more rows every so-manieth is tampered with: some of each block."""
# Everything else is told as altered.
KINDS = {
    (Leaf, "seq"): "reordered",
    (Block, "number"): "reordered",
    (RecordBody, "record_id"): "missing",
    (MaskedValue, "record_id"): "missing",
    (MaskedValue, "pointer"): "inserted",
}
# A masked value is told by its record and its place: nothing names it by its row.
NAMELESS = {(MaskedValue, "id")}
# A record without an id is nobody's, and a text that is gone is no other text.
EMPTIED = {**KINDS, (Record, "id"): "missing", (RecordBody, "text"): "missing"}


@pytest.fixture(autouse=True)
def log(settings, tmp_path):
    build_log(settings, tmp_path)
    with owning_the_database():
        assert found() is None
        yield


def outcomes(
    model: type[models.Model], value_of: Any, kinds: dict[Any, str]
) -> Iterator[tuple[str, Any, Any]]:
    rows = rows_of(model)
    for row in rows[::FEW] if len(rows) > FEW else rows:
        for name in columns_of(model):
            if value_of(row[name]) == row[name] or (model, name) in NAMELESS:
                continue
            wanted = kinds.get((model, name), "altered"), place_of(model, row)
            with undone():
                change(model, row, **{name: value_of(row[name])})
                got = found()
            yield f"{model.__name__}.{name} of {wanted[1]}", got, wanted


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model.__name__)
def test_one_changed_byte_of_any_column_is_found_and_named(model):
    assert mistaken(outcomes(model, flipped, KINDS)) == []


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model.__name__)
def test_a_column_without_a_value_is_found_and_named(model):
    assert mistaken(outcomes(model, lambda _: None, EMPTIED)) == []
