"""Who reads which records, at what cost."""

import uuid

import pytest

from tests.factories import SYSTEM, make_user
from toolpolicy.audit import writer
from toolpolicy.models import Record, RecordBody
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import clients, records
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import NotFound

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return clients.create(actor=SYSTEM, values={"name": "alice"})[0]


@pytest.fixture
def bob():
    return clients.create(actor=SYSTEM, values={"name": "bob"})[0]


@pytest.fixture
def written(alice, bob):
    return [
        writer.write(kind="decision", body={"n": n}, client=c) for n, c in enumerate((alice, bob))
    ]


def test_a_key_reads_its_own_records_and_nobody_elses(alice, bob, written):
    actor = Actor.for_client(alice)
    assert list(records.visible_to(actor)) == [written[0]]
    assert records.get(actor=actor, uid=written[0].uid) == written[0]
    with pytest.raises(NotFound):
        records.get(actor=actor, uid=written[1].uid)


def test_no_scope_lets_a_key_read_the_records_of_another(written):
    scopes = KeyScope.values
    mighty, _ = clients.create(actor=SYSTEM, values={"name": "m", "scopes": scopes})
    assert not records.visible_to(Actor.for_client(mighty))


def test_people_read_records_with_the_permission_only(written):
    auditor = Actor.for_user(make_user("ada", groups=("auditor",)))
    nobody = Actor.for_user(make_user("bob", permissions=("view_layer",)))
    assert records.visible_to(auditor).count() == Record.objects.count()
    assert not records.visible_to(nobody)


def test_records_are_listed_latest_first(written):
    ids = [record.pk for record in records.visible_to(SYSTEM)]
    assert ids == sorted(ids, reverse=True)


def test_a_record_is_read_with_its_body_in_one_query(written, django_assert_num_queries):
    with django_assert_num_queries(1):
        record = records.get(actor=SYSTEM, uid=written[1].uid)
        document = records.document_of(record)
    assert document is not None
    assert document["n"] == 1


def test_a_record_whose_body_is_gone_is_still_there(written):
    RecordBody.objects.filter(record=written[0]).delete()
    record = records.get(actor=SYSTEM, uid=written[0].uid)
    assert records.document_of(record) is None


def test_listing_and_naming_records_costs_one_query(written, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert all(str(record) for record in records.visible_to(SYSTEM))


def test_a_record_that_is_not_there_is_not_found():
    with pytest.raises(NotFound):
        records.get(actor=SYSTEM, uid=uuid.uuid4())
