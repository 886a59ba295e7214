"""One record is proved by a few hashes, however long the log is."""

from uuid import uuid4

import pytest

from tests.audit.logs import sealed_log, tampering, write_records
from toolpolicy.audit import headers, keys, merkle, proofs
from toolpolicy.audit.blocks import parse
from toolpolicy.audit.headers import COLUMNS
from toolpolicy.audit.signing import is_signed
from toolpolicy.models import Record

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("sizes", [(1,), (2, 1), (5, 1, 3), (16,), (17, 33)])
def test_every_record_is_proved_up_to_the_signature_over_its_block(sizes):
    for seq, pk in enumerate(sealed_log(*sizes), start=1):
        record = Record.objects.get(pk=pk)
        proof = proofs.prove(record.uid)
        assert proof is not None
        block = parse(proof.block.text)
        row = Record.objects.values_list(*COLUMNS).get(pk=pk)
        assert (proof.seq, proof.header) == (seq, headers.members(row))
        digests = [bytes.fromhex(sibling) for sibling in proof.path]
        root = merkle.root_from_path(headers.leaf(row), seq - block.first, block.count, digests)
        assert root.hex() == block.root
        (key,) = keys.chain()
        assert is_signed(key.public, proof.wire()["block"]["text"], proof.block.signature)


@pytest.mark.parametrize("sizes", [(4,), (4, 1, 1, 1), (3, 60)])
def test_a_proof_takes_three_queries_and_a_path_of_the_block_s_digits(
    django_assert_num_queries, sizes
):
    ids = sealed_log(*sizes)
    uid = Record.objects.get(pk=ids[-1]).uid
    with django_assert_num_queries(3):
        proof = proofs.prove(uid)
    assert proof is not None
    assert len(proof.path) <= (sizes[-1] - 1).bit_length()


def test_what_is_not_sealed_or_not_there_has_no_proof():
    sealed_log(2)
    (waiting,) = write_records(1)
    assert proofs.prove(Record.objects.get(pk=waiting).uid) is None
    assert proofs.prove(uuid4()) is None


def test_what_no_block_holds_has_no_proof():
    ids = sealed_log(2, 2)
    with tampering() as cursor:
        cursor.execute("DELETE FROM toolpolicy_block WHERE number = 2")
    assert proofs.prove(Record.objects.get(pk=ids[3]).uid) is None
    assert proofs.prove(Record.objects.get(pk=ids[0]).uid) is not None
