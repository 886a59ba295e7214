"""Transactions that end later than others that began after them: sealed later, and never lost."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from tests.audit.logs import tampering, verdict, write_records
from toolpolicy.audit import keeping, sealer, waiting, writer
from toolpolicy.models import Block, Leaf, Record


@pytest.fixture
def later(monkeypatch):
    """Let the clock jump ahead."""

    def jump(**span):
        now = timezone.now() + timedelta(**span)
        monkeypatch.setattr(timezone, "now", lambda: now)

    return jump


@pytest.fixture
def looks(monkeypatch):
    """Look for stragglers when told to, not in the first round of this process."""
    fresh = keeping._Looks(next_at=float("inf"))
    monkeypatch.setattr(keeping, "_looks", fresh)
    return fresh


def overtaken(monkeypatch) -> list[int]:
    """Write three records, of which the first is not there yet when the others are sealed."""
    ids = write_records(3)
    with monkeypatch.context() as patch:
        patch.setattr(
            sealer, "waiting", lambda most, after: waiting.waiting(most, after=max(after, ids[0]))
        )
        sealer.seal_all()
    return ids


@pytest.mark.django_db
def test_a_straggler_is_sealed_in_the_next_round(monkeypatch, looks):
    ids = overtaken(monkeypatch)
    assert keeping.keep() == 1
    assert Leaf.objects.get(record=ids[0]).seq == 3
    assert verdict().good


@pytest.mark.django_db
@pytest.mark.parametrize("span", [{"minutes": 2}, {"minutes": 20}, {"hours": 20}])
def test_one_that_took_longer_is_sealed_when_stragglers_are_looked_for(
    monkeypatch, looks, later, span
):
    ids = overtaken(monkeypatch)
    later(**span)
    write_records(1)
    assert keeping.keep() == 1
    assert not Leaf.objects.filter(record=ids[0]).exists()
    looks.next_at = 0.0
    assert keeping.keep() == 1
    assert Leaf.objects.filter(record=ids[0]).exists()
    assert verdict().good


@pytest.mark.django_db
def test_a_sign_of_life_takes_stragglers_along(monkeypatch, looks, later):
    ids = overtaken(monkeypatch)
    later(minutes=20)
    block = sealer.give_sign_of_life(timedelta(minutes=5))
    assert block is not None
    assert block.count == 1
    assert Leaf.objects.filter(record=ids[0]).exists()
    assert verdict().good


@pytest.mark.django_db
def test_whatever_is_still_unsealed_is_sealed_when_a_person_asks_for_it(monkeypatch, looks, later):
    overtaken(monkeypatch)
    later(days=3)
    write_records(1)
    assert sealer.seal_all() == 1
    assert sealer.seal_all(back=None) == 1
    assert verdict().good


@pytest.mark.django_db
def test_a_record_that_was_never_sealed_is_told_when_it_says_it_is_older(monkeypatch, looks, later):
    overtaken(monkeypatch)
    later(hours=1)
    write_records(1)
    sealer.seal_all()
    first = verdict().first
    assert first is not None
    assert "says it is older than what is sealed" in first.message


@pytest.mark.django_db
def test_one_in_the_midst_of_sealed_ones_is_told_as_well(monkeypatch, looks, later):
    ids = write_records(3)
    with monkeypatch.context() as patch:
        all_but = ids[1]
        patch.setattr(
            sealer,
            "waiting",
            lambda most, after: [
                row for row in waiting.waiting(most, after=after) if row[0] != all_but
            ],
        )
        sealer.seal_all()
    assert verdict().good
    later(hours=1)
    write_records(1)
    sealer.seal_all()
    (found,) = verdict().findings
    assert f"(row {all_but}), not sealed yet, says it is older than what is sealed" in found.message


@pytest.mark.django_db
def test_a_text_of_nobody_in_the_midst_of_others_is_told():
    ids = write_records(5)
    with tampering() as cursor:
        cursor.execute("DELETE FROM toolpolicy_recordbody WHERE record_id = %s", [ids[2]])
        cursor.execute("DELETE FROM toolpolicy_record WHERE id = %s", [ids[2]])
    sealer.seal_all()
    (gap,) = verdict().findings[:1]
    assert gap.kind == "missing"
    before = len(verdict().findings)
    with tampering() as cursor:
        cursor.execute("INSERT INTO toolpolicy_recordbody VALUES (%s, '{}')", [ids[2]])
    found = verdict().findings
    assert len(found) == before + 1
    assert f"there is a text for row {ids[2]}, which is no record" in found[-1].message
    with tampering() as cursor:
        cursor.execute("DELETE FROM toolpolicy_recordbody WHERE record_id = %s", [ids[2]])


@pytest.mark.django_db
def test_a_record_of_an_id_far_ahead_hides_none_that_comes_later(looks, later):
    """As somebody writes it by hand; SQLite goes on from there, PostgreSQL does not."""
    write_records(1)
    (far,) = write_records(1)
    with tampering() as cursor:
        for table, column in (("record", "id"), ("recordbody", "record_id")):
            change = f"UPDATE toolpolicy_{table} SET {column} = %s WHERE {column} = %s"  # noqa: S608
            cursor.execute(change, [2**62, far])
    sealer.seal_all()
    later(minutes=2)
    write_records(1)
    assert waiting.count_waiting(9) == 1
    assert waiting.oldest_waiting() is not None
    assert keeping.keep() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("sealed_before", [0, 2])
def test_a_record_of_a_negative_id_is_sealed_like_any_other(looks, later, sealed_before):
    write_records(sealed_before)
    sealer.seal_all()
    later(minutes=2)
    (row,) = write_records(1)
    with tampering() as cursor:
        for table, column in (("record", "id"), ("recordbody", "record_id")):
            change = f"UPDATE toolpolicy_{table} SET {column} = %s WHERE {column} = %s"  # noqa: S608
            cursor.execute(change, [-1000, row])
    assert waiting.count_waiting(9) == 1
    assert keeping.keep() == 1
    assert Leaf.objects.get(record=-1000).seq == sealed_before + 1
    assert verdict().good


@pytest.mark.django_db(transaction=True)
def test_a_transaction_held_open_is_sealed_after_those_that_began_later():
    if connection.vendor == "sqlite":
        pytest.skip("on SQLite one transaction writes at a time: none overtakes another")
    written, released = threading.Event(), threading.Event()
    held = threading.Thread(target=hold, args=(written, released))
    held.start()
    written.wait(timeout=60)
    late = write_records(3)
    sealer.seal_all()
    released.set()
    held.join(timeout=60)
    early = Record.objects.order_by("pk").values_list("pk", flat=True)[0]
    assert early < min(late)
    sealer.seal_all()
    sealed = list(Leaf.objects.order_by("seq").values_list("record_id", flat=True))
    assert sealed == [*late, early]
    assert all('"gaps":[]' in text for text in Block.objects.values_list("text", flat=True))
    assert verdict().good


def hold(written: threading.Event, released: threading.Event) -> None:
    """Write a record and leave its transaction open."""
    try:
        with transaction.atomic():
            writer.write(kind="decision", body={})
            written.set()
            released.wait(timeout=60)
    finally:
        connection.close()
