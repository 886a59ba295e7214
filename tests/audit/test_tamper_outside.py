"""The end of the log cut off, or all of it sealed anew: the file outside the database tells it.

And what the next verification reads is judged no less than a full one.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.audit.tampers import (
    FORGER,
    build_log,
    change,
    decide,
    exchange,
    found,
    insert,
    mistaken,
    owning_the_database,
    remove,
    rows_of,
    undone,
)
from tests.live import make_client
from toolpolicy.audit import blocks, headers, keeping, merkle
from toolpolicy.audit.headers import COLUMNS
from toolpolicy.audit.signing import Signer, signer, signer_of
from toolpolicy.audit.verification.whole import verify
from toolpolicy.conf import conf
from toolpolicy.models import AuditState, Block, Leaf, Record, RecordBody, SealKey
from toolpolicy.services.actors import Actor

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def log(settings, tmp_path):
    build_log(settings, tmp_path)


@pytest.fixture
def owner():
    with owning_the_database():
        assert found() is None
        yield


def sealed_anew(key: Signer, start: int) -> None:
    """Write every block from one on again, as whoever has a key would, and sign it."""
    previous = blocks.NOTHING_BEFORE
    for row in rows_of(Block):
        text = blocks.parse(row["text"])
        if row["number"] >= start:
            said = {name: getattr(text, name) for name in text.__dataclass_fields__}
            said |= {"previous": previous, "key": key.key_id, "root": root_of(text)}
            written = blocks.BlockText(**said).dump()
            change(Block, row, text=written, signature=key.sign(written))
            previous = blocks.block_hash(written)
        else:
            previous = blocks.block_hash(row["text"])


def root_of(text: blocks.BlockText) -> str:
    """Renew the leaves of a block from the records as they stand, and return the root."""
    digests = []
    for leaf in Leaf.objects.filter(seq__gte=text.first, seq__lt=text.end).order_by("seq"):
        digest = headers.leaf(Record.objects.values_list(*COLUMNS).get(pk=leaf.record_id))
        change(Leaf, {"seq": leaf.seq}, hash=digest.hex())
        digests.append(digest)
    return merkle.root(digests).hex()


def cut_off(number: int, *, records: bool) -> None:
    """Delete the blocks from one on, with their leaves, and their records too if told so."""
    end = next(row["first"] for row in rows_of(Block) if row["number"] == number)
    for block in rows_of(Block)[number - 1 :]:
        remove(Block, block)
    for leaf in rows_of(Leaf)[end - 1 :]:
        remove(Leaf, leaf)
    if records:
        kept = {leaf["record_id"] for leaf in rows_of(Leaf)}
        for row in rows_of(Record):
            if row["id"] not in kept:
                remove(RecordBody, {"record_id": row["id"]})
                remove(Record, row)


@pytest.mark.parametrize("records", [True, False])
def test_an_end_that_was_cut_off_is_missing_from_the_first_number_on(owner, records):
    cases = []
    for block in rows_of(Block):
        with undone():
            AuditState.objects.update(verified="")
            cut_off(block["number"], records=records)
            cases.append((f"{block['number']}", found(), ("missing", block["first"])))
    assert mistaken(cases) == []


def test_without_the_file_nobody_knows_that_the_end_was_cut_off(owner, settings):
    settings.TOOLPOLICY = type(settings.TOOLPOLICY)()
    AuditState.objects.update(verified="")
    cut_off(3, records=True)
    remove(SealKey, rows_of(SealKey)[1])
    first = verify(full=True)
    assert (first.good, first.checkpoints) == (True, 0)


def test_how_far_it_was_verified_also_tells_that_the_end_was_cut_off(owner, settings):
    settings.TOOLPOLICY = type(settings.TOOLPOLICY)()
    cut_off(5, records=True)
    assert found() == ("missing", None)


def test_a_log_sealed_anew_with_its_own_key_is_told_from_the_first_block_that_changed(owner):
    cases = []
    for block in rows_of(Block)[2:]:
        if not block["count"]:
            continue
        with undone():
            AuditState.objects.update(verified="")
            leaf = Leaf.objects.get(seq=block["first"])
            change(Record, {"id": leaf.record_id}, outcome="allowed")
            sealed_anew(signer(), block["number"])
            kept = blocks_kept()
            before = max((end for n, end in kept if n < block["number"]), default=1)
            cases.append((f"{block['number']}", found(), ("altered", before)))
    assert mistaken(cases) == []


def blocks_kept() -> list[tuple[int, int]]:
    """Return the number and end of each block that the file holds."""
    lines = Path(conf().checkpoint_file).read_text(encoding="utf-8").splitlines()
    parsed = [blocks.parse(blocks.parse_line(line)[0]) for line in lines]
    return [(block.n, block.end) for block in parsed]


def test_a_log_sealed_anew_with_a_key_of_ones_own_is_told_from_its_beginning(owner):
    AuditState.objects.update(verified="")
    key = signer_of(FORGER)
    for row in rows_of(SealKey):
        remove(SealKey, row)
    own = {"key_id": key.key_id, "position": 1, "public": key.public}
    insert(SealKey, {**own, "statement": "", "signature": ""})
    sealed_anew(key, 1)
    assert found() == ("altered", 1)


# --- what is new since the last verification ------------------------------------------------------


@pytest.fixture
def newer(settings):
    """Verify the log, and seal more after it: that is the range of the next verification."""
    assert found() is None
    verified = Block.objects.count()
    asker = Actor.for_client(make_client("another", "testkey2"))
    for count in (4, 3):
        decide(asker, count)
        keeping.seal_now()
    with owning_the_database():
        yield verified


def in_range(model: Any, verified: int) -> list[dict[str, Any]]:
    first = Block.objects.get(number=verified)
    start = first.first + first.count
    new = set(Leaf.objects.filter(seq__gte=start).values_list("record_id", flat=True))
    return {
        Record: [row for row in rows_of(Record) if row["id"] in new],
        RecordBody: [row for row in rows_of(RecordBody) if row["record_id"] in new],
        Leaf: [row for row in rows_of(Leaf) if row["seq"] >= start],
        Block: [row for row in rows_of(Block) if row["number"] > verified],
    }[model]


@pytest.mark.parametrize("model", [Record, RecordBody, Leaf, Block], ids=str)
def test_the_next_verification_says_the_same_of_its_range_as_a_full_one(newer, model):
    deeds = {
        "deleted": lambda one, _: remove(model, one),
        "doubled": lambda one, _: insert(model, one),
        "exchanged": lambda one, other: exchange(model, one, other),
    }
    rows = in_range(model, newer)
    cases = []
    for one, other in pairwise(rows):
        for name, deed in deeds.items():
            with undone():
                deed(one, other)
                said = found(full=False)
                cases.append((f"{name} {one}", said, found(full=True)))
                assert said is not None
    assert cases
    assert mistaken(cases) == []


def test_the_next_verification_reads_nothing_of_what_was_verified(newer):
    change(Record, rows_of(Record)[0], tool="another")
    assert found(full=False) is None
    assert found(full=True) == ("altered", 1)


def test_a_mark_that_somebody_moved_is_told_and_believed_by_nobody(newer):
    mark = AuditState.objects.get().verified
    verify(full=False)
    moved = AuditState.objects.get().verified
    assert moved != mark
    change(AuditState, {"id": 1}, verified=mark.replace(r"\"n\":5", r"\"n\":7"))
    change(Record, rows_of(Record)[0], tool="another")
    verdict = verify(full=False)
    assert verdict.after_block == 0
    assert [(str(one.kind), one.seq) for one in verdict.findings] == [
        ("altered", 1),
        ("altered", None),
    ]
