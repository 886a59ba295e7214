"""Verification reads what is stored, whatever it is: headers as Django has them, no traceback."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from unittest import mock

import pytest
from django.db import connection, models
from django.db.backends.utils import CursorWrapper
from hypothesis import given
from hypothesis import strategies as st

from tests.audit.logs import sealed_log, tampering, write_records
from tests.audit.tampers import TABLES, columns_of, undone
from tests.retention.worlds import write
from toolpolicy.audit import headers, heads, sealer
from toolpolicy.audit.headers import COLUMNS
from toolpolicy.audit.signing import SealRefused
from toolpolicy.audit.verification.reading import Seen, leaves, loose, unseen
from toolpolicy.audit.verification.whole import verify
from toolpolicy.audit.waiting import BEFORE_ALL, LAST_ID
from toolpolicy.models import Leaf, Record, RecordBody

pytestmark = pytest.mark.django_db

ODD = {
    "quotes": "\"'\\/",
    "control characters": "".join(map(chr, range(1, 32))),
    "the end of ASCII": "~\x7f\x80\x9f",
    "separators of lines": "\u2028\u2029\x85",
    "other scripts": "Żółć 漢字 \U0001f600",
    "what looks like JSON": '"],["toolpolicy-record/1",null',
    "spaces": "  a\t b\n",
    "nothing": "",
}
TIMES = {
    "a whole second": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    "one microsecond": datetime(2026, 1, 2, 3, 4, 5, 1, tzinfo=UTC),
    "a tenth": datetime(2026, 12, 31, 23, 59, 59, 100_000, tzinfo=UTC),
}


def by_django() -> list[bytes]:
    rows = Record.objects.order_by("pk").values_list(*COLUMNS)
    return [headers.header(row).encode() for row in rows]


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_the_database_writes_the_header_that_django_writes(text):
    write_records(2, tool=text, agent=text, object_label=text, policy_version=3)
    assert [one.header for one in loose()] == by_django()
    sealer.seal_all()
    assert [one.header for one in leaves(1, 3)] == by_django()
    assert verify(full=True).good


@pytest.mark.parametrize("at", TIMES.values(), ids=TIMES)
def test_times_are_written_with_six_digits(at):
    with mock.patch("django.utils.timezone.now", return_value=at):
        write_records(1)
    assert [one.header for one in loose()] == by_django()


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model.__name__)
def test_what_no_column_should_hold_is_found_without_a_traceback(model):
    sealed_log(2, 2)
    write(masked=("a secret",))
    sealer.seal_all()
    assert verify(full=True).good
    for name, value in garbage(model):
        with undone(), written(model, name, value):
            assert not verify(full=True).good, (name, value)
            assert verify(full=False).full is False


@pytest.mark.parametrize("model", [Record, RecordBody], ids=lambda model: model.__name__)
def test_what_is_not_sealed_may_hold_anything_without_a_traceback(model):
    write_records(2)
    for name, value in garbage(model):
        with undone(), written(model, name, value):
            assert verify(full=True).waiting == 2
            assert sealed_or_refused()


def sealed_or_refused() -> bool:
    try:
        return sealer.seal_all() == 2
    except SealRefused as refused:
        # A record that only a sealed log can hold is told as well: this one has no seal yet.
        return any(told in str(refused) for told in ("cannot be read", heads.ALL_GONE))


@contextmanager
def written(model: type[models.Model], name: str, value: str) -> Iterator[None]:
    """Put a value into the first row of a table, past its checks."""
    table, key = model._meta.db_table, columns_of(model)[0]
    with tampering() as cursor, unchecked(cursor):
        cursor.execute(f"SELECT min({key}) FROM {table}")  # noqa: S608
        first = cursor.fetchone()
        cursor.execute(f"UPDATE {table} SET {name} = {value} WHERE {key} = %s", first)  # noqa: S608
        yield


@contextmanager
def unchecked(cursor: CursorWrapper) -> Iterator[None]:
    """Let SQLite take what its checks would refuse; the next test has its checks again."""
    if connection.vendor != "sqlite":
        yield
        return
    cursor.execute("PRAGMA ignore_check_constraints = 1")
    try:
        yield
    finally:
        cursor.execute("PRAGMA ignore_check_constraints = 0")


def garbage(model: type[models.Model]) -> Iterator[tuple[str, str]]:
    """Yield columns with values, as SQL, that the database lets its owner store."""
    for field in model._meta.concrete_fields[1:]:
        if connection.vendor == "sqlite":
            values = ["X'FF00'", "CAST(X'C328' AS TEXT)", "'garbage'", "-1e300"]
        elif field.choices:
            values = ["'rotation'"]
        elif isinstance(field, models.DateTimeField):
            values = ["'infinity'", "'-infinity'", "'290000-01-01'"]
        elif isinstance(field, models.CharField | models.TextField):
            values = ["E'\\x01'", "repeat('9', 5)"]
        else:
            continue
        yield from ((str(field.column), value) for value in values)


@given(data=st.data())
def test_every_id_is_seen_or_looked_at(data):
    ends = data.draw(st.lists(st.integers(1, 40), max_size=8, unique=True).map(sorted))
    others = st.frozensets(st.integers(1, 40), max_size=4)
    seen = [
        Seen(first, last, frozenset(row for row in data.draw(others) if first <= row <= last))
        for first, last in pairwise(ends)
    ]
    left = list(unseen(seen))
    assert (left[0][0], left[-1][1]) == (BEFORE_ALL + 1, LAST_ID)
    for row in range(50):
        covered = any(one.first <= row <= one.last for one in seen)
        free = covered and all(row not in one.others for one in seen)
        assert free is not any(first <= row <= last for first, last in left)


def test_a_leaf_is_read_with_all_that_stands_at_its_number():
    sealed_log(3)
    assert [one.seq for one in leaves(2, 4)] == [2, 3]
    assert [one.row for one in leaves(1, 4)] == list(
        Leaf.objects.order_by("seq").values_list("record_id", flat=True)
    )
