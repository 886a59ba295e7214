"""The list of records never reads more than its page: each filter has its index, in any span."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.admin.pages import address, decide, text_of
from tests.factories import SYSTEM, make_layer, make_rule
from toolpolicy.models import Record
from toolpolicy.services import clients, records
from toolpolicy.services.actors import Actor

pytestmark = pytest.mark.django_db

# Whole value: the index that finds it.
FILTERS = {
    "tool=never": "record_of_tool",
    "outcome=deny": "record_of_outcome",
    "family=box": "record_of_family",
    "agent=coder": "record_of_agent",
    "channel=web": "record_of_channel",
    "session=s-1": "record_of_session",
    "client=helpdesk": "record_of_client",
    "rule=no": "record_of_rule",
    "reason_code=rule_denied": "record_of_reason_code",
    "kind=decision": "record_of_kind",
}


@pytest.fixture
def house(db):
    make_rule(make_layer(), id="no", match={"name": "never"})
    client, _ = clients.create(actor=SYSTEM, values={"name": "helpdesk"})
    context = {"agent": "coder", "channel": "web", "session": "s-1"}
    decide("never", asker=Actor.for_client(client), context=context)


def asked_about_records(root, query: str) -> list[str]:
    with CaptureQueriesContext(connection) as asked:
        text_of(root.get(f"{address('record')}?{query}"))
    return [one["sql"] for one in asked if 'FROM "toolpolicy_record"' in one["sql"]]


def plan_of(sql: str) -> str:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Few rows are read whole; what counts is what it does where there are many.
            for way in ("seqscan", "sort", "bitmapscan"):
                cursor.execute(f"SET LOCAL enable_{way} = off")
            cursor.execute(f"EXPLAIN {sql}")
        else:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return "\n".join(str(line[-1]) for line in cursor.fetchall())


@pytest.mark.parametrize("query", FILTERS)
def test_each_filter_alone_and_in_a_span_of_time_is_read_from_its_index(root, house, query):
    for within in ("", "&within=week", "&until=2090-01-01T00:00"):
        *bounds, page = asked_about_records(root, query + within)
        assert len(bounds) == bool(within)
        plan = plan_of(page)
        assert FILTERS[query] in plan
        assert "TEMP B-TREE" not in plan
        for bound in bounds:
            assert "record_at" in plan_of(bound)


@pytest.mark.parametrize("query", ["", "within=day", "before=9", "since=2020-01-01T00:00"])
def test_the_plain_list_is_read_by_id(root, house, query):
    plan = plan_of(asked_about_records(root, query)[-1])
    assert "TEMP B-TREE" not in plan
    assert "record_at" not in plan


def test_a_span_of_time_holds_what_clocks_that_differ_wrote(db):
    now = timezone.now()
    ahead = now + timedelta(minutes=20)
    common = {"kind": "change", "writer_id": "w", "leaf_hash": "0"}
    for number, at in enumerate((ahead, now, ahead), 1):
        uid = f"00000000-0000-0000-0000-00000000000{number}"
        Record.objects.create(uid=uid, at=at, writer_n=number, **common)
    found = Record.objects.newest_first()

    def numbers(since, until):
        return [record.writer_n for record in records.between(found, since, until)]

    assert numbers(None, None) == [3, 2, 1]
    assert numbers(now + timedelta(minutes=1), None) == [3, 1]
    assert numbers(None, now + timedelta(minutes=1)) == [2]
    assert numbers(now, ahead) == [2]
    assert numbers(ahead + timedelta(days=2), None) == []
