"""In a log ten times as long what is new is verified, and one record proved, at the same cost."""

import json

import pytest

from tests.audit.addresses import said_by
from tests.audit.logs import sealed_log
from tests.counting import counting
from toolpolicy.audit import proofs, sealer
from toolpolicy.audit.verification.whole import verify
from toolpolicy.models import Record

SHORT, LONG = 3, 30
"""Blocks, of four records each."""


def counted(work):
    with counting() as counts:
        done = work()
    return done, (counts.queries, counts.rows)


def costs(blocks: int) -> dict[str, tuple[int, int]]:
    """Return what it costs to verify two more blocks, and to prove the first record."""
    first = sealed_log(*[4] * blocks)[0]
    assert verify(full=False).good
    sealed_log(4, 4)
    verdict, incremental = counted(lambda: verify(full=False))
    assert (verdict.good, verdict.records) == (True, 8)
    proof, proving = counted(lambda: proofs.prove(Record.objects.get(pk=first).uid))
    assert proof is not None
    assert len(proof.path) == 2
    return {"incremental": incremental, "proof": proving}


@pytest.mark.django_db
def test_neither_queries_nor_rows_grow_with_the_history():
    short = costs(SHORT)
    assert costs(LONG) == short
    assert min(rows for _, rows in short.values()) > 4


def test_a_long_log_is_verified_in_the_memory_of_a_short_one(tmp_path, transactional_db):
    short, long = (
        json.loads(said_by(tmp_path, "-m", "tests.soak", "scale", "--records", str(records)))
        for records in (3000, 27_000)
    )
    assert short["whole"]
    assert long["whole"]
    assert long["full"]["records"] > 9 * short["full"]["records"]
    assert long["peak_mib"] - short["peak_mib"] <= 4
    assert long["proof"]["queries"] == short["proof"]["queries"]
    assert long["proof"]["rows"] <= sealer.MOST + 2
