"""No table is read whole to seal, to watch the seals or to prove, whatever the database knows.

These rows were just written: nothing has analyzed the tables, as after a bulk load.
"""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.audit.logs import write_records
from tests.soak.filling import fill
from toolpolicy.audit import keeping, proofs, sealer, waiting
from toolpolicy.models import Leaf, Record

pytestmark = pytest.mark.django_db
SEALED = 6000
TABLES = ("toolpolicy_record", "toolpolicy_leaf")


def asked(work) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        work()
    statements = [one["sql"] for one in captured]
    reads = [sql for sql in statements if sql.startswith("SELECT") and "FROM" in sql]
    return [sql for sql in reads if any(table in sql for table in TABLES)]


def whole_tables(sql: str) -> list[str]:
    """Return the lines of a statement's plan that read a table of the log from end to end."""
    explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {sql}")
        lines = [str(line[-1]) for line in cursor.fetchall()]
    if connection.vendor == "postgresql":
        return [line for line in lines if "Seq Scan on toolpolicy" in line]
    # An index that is read in its order ends with the first rows that are wanted.
    scans = [line for line in lines if line.startswith("SCAN ") and line != "SCAN subquery"]
    return [line for line in scans if "INDEX" not in line or "LIMIT" not in sql]


WORK = {
    "sealing": sealer.seal_all,
    "sealing from the first record on": lambda: sealer.seal_all(back=None),
    "a round of the worker": keeping.keep,
    "the oldest that waits": waiting.oldest_waiting,
    "how many wait": lambda: waiting.count_waiting(1000),
    "a proof": lambda: proofs.prove(Record.objects.filter(leaf__seq=SEALED // 2).get().uid),
}


def test_no_table_of_the_log_is_read_whole():
    fill(SEALED)
    sealer.seal_all()
    (sql,) = asked(lambda: list(Leaf.objects.filter(hash="x")))
    assert whole_tables(sql), "such a plan would not be seen"
    for name, work in WORK.items():
        write_records(3)
        statements = asked(work)
        assert statements, name
        assert [(name, sql, told) for sql in statements if (told := whole_tables(sql))] == []


def test_far_apart_ids_are_looked_for_in_few_steps(db):
    write_records(2)
    far = 2**63 - 1
    row = Record.objects.values().order_by("-pk")[0]
    numbered = {"id": far, "uid": "00000000-0000-0000-0000-000000000001", "writer_n": 10**6}
    Record.objects.create(**{**row, **numbered})
    assert [last - first for first, last in waiting.spans(0)] == [waiting.SHORTEST - 1, 0]
    assert [row[0] for row in waiting.waiting(10, after=0)][-1] == far
    assert waiting.count_waiting(10) == 3


def test_spans_hold_each_id_once(monkeypatch, db):
    monkeypatch.setattr(waiting, "SHORTEST", 1)
    monkeypatch.setattr(waiting, "LONGEST", 4)
    ids = write_records(20)
    spans = list(waiting.spans(0))
    assert [last - first + 1 for first, last in spans] == [1, 2, 4, 4, 4, 4, 4]
    held = [pk for pk in ids for first, last in spans if first <= pk <= last]
    assert held == ids
    assert [row[0] for row in waiting.waiting(13, after=ids[2])] == ids[3:16]
    assert waiting.count_waiting(13) == 13
    assert waiting.count_waiting(100) == 20
