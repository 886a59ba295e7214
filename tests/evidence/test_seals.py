"""The seal of one record: where it stands in the log, and whether that is proven."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.audit.logs import sealed_log, tampering, write_records
from tests.audit.tampers import FORGER
from tests.factories import SYSTEM
from toolpolicy.audit import signing
from toolpolicy.audit.blocks import parse
from toolpolicy.audit.signing import signer_of
from toolpolicy.audit.waiting import SETTLED
from toolpolicy.models import Block, Leaf, Record
from toolpolicy.services import sealing
from toolpolicy.services.evidence.seals import Holds, Seal, is_overdue, seal_of

pytestmark = pytest.mark.django_db


def seal(pk: int) -> Seal:
    found = seal_of(Record.objects.get(pk=pk))
    assert found is not None
    return found


def done(sql: str, *values: object) -> None:
    with tampering() as cursor:
        cursor.execute(sql, values)


def test_a_sealed_record_says_its_number_block_time_and_key_and_is_proven():
    ids = sealed_log(3, 2)
    block = Block.objects.get(number=2)
    key = parse(block.text).key
    assert seal(ids[4]) == Seal(seq=5, block=2, at=block.at, key=key, proof=Holds.GOOD)
    assert seal(ids[0]).wire()["block"] == 1


def test_every_record_is_proven_before_and_after_the_key_was_changed(settings):
    first = sealed_log(2)
    seed = signing.new_seed()
    sealing.rotate(actor=SYSTEM, seed=seed)
    settings.TOOLPOLICY_SEAL_KEY = seed
    later = sealed_log(2)
    seals = [seal(pk) for pk in (*first, *later)]
    assert [one.proof for one in seals] == [Holds.GOOD] * 4
    assert seals[0].key != seals[-1].key == signer_of(seed).key_id


def test_what_is_not_sealed_has_no_seal_and_is_overdue_once_it_should_have_one():
    sealed_log(1)
    record = Record.objects.get(pk=write_records(1)[0])
    assert seal_of(record) is None
    assert not is_overdue(record)
    record.at = timezone.now() - SETTLED - timedelta(seconds=1)
    assert is_overdue(record)


@pytest.mark.parametrize("column", ["tool", "outcome", "leaf_hash", "actor_label", "uid"])
def test_a_record_that_was_altered_is_told(column):
    ids = sealed_log(4)
    other = "0" * 32 if column == "uid" else "deny"
    done(f"UPDATE toolpolicy_record SET {column} = %s WHERE id = %s", other, ids[2])  # noqa: S608
    assert seal(ids[2]).proof is Holds.RECORD_ALTERED
    assert seal(ids[0]).proof is Holds.GOOD


@pytest.mark.parametrize("beside", [1, 2])
def test_a_leaf_that_is_altered_or_gone_breaks_the_proof_of_those_beside_it(beside):
    ids = sealed_log(3)
    for digest in ("ab" * 32, "no digest"):
        done("UPDATE toolpolicy_leaf SET hash = %s WHERE seq = %s", digest, beside)
        assert seal(ids[2]).proof is Holds.RECORD_ALTERED
    done("DELETE FROM toolpolicy_leaf WHERE seq = %s", beside)
    assert seal(ids[2]).proof is Holds.RECORD_ALTERED


@pytest.mark.parametrize(
    "change",
    ["signature = '00'", "text = 'x'", "count = 7", "text = replace(text, '\"n\":1', '\"n\":2')"],
)
def test_a_block_that_is_not_as_it_was_signed_is_told(change):
    ids = sealed_log(3)
    done(f"UPDATE toolpolicy_block SET {change}")  # noqa: S608
    assert seal(ids[1]).proof is Holds.BLOCK_ALTERED


def test_a_block_that_somebody_else_signed_is_told():
    ids = sealed_log(3)
    block, forger = Block.objects.get(), signer_of(FORGER)
    done("UPDATE toolpolicy_block SET signature = %s", forger.sign(block.text))
    assert seal(ids[0]).proof is Holds.BLOCK_ALTERED
    text = block.text.replace(parse(block.text).key, forger.key_id)
    done("UPDATE toolpolicy_block SET text = %s, signature = %s", text, forger.sign(text))
    assert seal(ids[0]).proof is Holds.KEY_UNKNOWN
    done("UPDATE toolpolicy_sealkey SET key_id = %s", forger.key_id)
    assert seal(ids[0]).proof is Holds.KEY_UNKNOWN


def test_a_block_that_is_gone_is_told_with_the_number_that_is_left():
    ids = sealed_log(2, 2)
    done("DELETE FROM toolpolicy_block WHERE number = 2")
    expected = {"seq": 4, "block": None, "at": None, "key": "", "proof": "block_missing"}
    assert seal(ids[3]).wire() == expected


@pytest.mark.parametrize("sizes", [(1,), (4, 1, 9), (3, 60)])
def test_it_takes_the_same_queries_in_a_short_log_and_in_a_long_one(
    django_assert_num_queries, sizes
):
    pk = sealed_log(*sizes)[-1]
    record = Record.objects.select_related("leaf").get(pk=pk)
    with django_assert_num_queries(4):
        assert seal_of(record)
    waiting = Record.objects.select_related("leaf").get(pk=write_records(1)[0])
    with django_assert_num_queries(0):
        assert seal_of(waiting) is None
    assert Leaf.objects.count() == sum(sizes)
