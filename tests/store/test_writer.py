"""Records: their text, hash and numbers, in every way a transaction can end."""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest
from django.db import DatabaseError, IntegrityError, connection, connections, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolpolicy.audit.writer import _SLOT, ENVELOPE, RecordIndex, Usage, leaf_hash, write
from toolpolicy.models import ApiClient, Record, RuleUsage

USE = Usage(layer="house rules", rule="no-mail", family="mail", tool="send", outcome="deny")


def numbers():
    return list(Record.objects.order_by("id").values_list("writer_n", flat=True))


def write_one(**more):
    with transaction.atomic():
        return write(kind="decision", body={}, **more)


@pytest.mark.django_db(transaction=True)
def test_outside_a_transaction_nothing_is_written():
    with pytest.raises(RuntimeError):
        write(kind="decision", body={})
    assert not Record.objects.exists()


@pytest.mark.django_db
def test_the_text_is_canonical_and_says_who_wrote_it_and_when():
    record = write(kind="decision", body={"b": 1.0, "a": ["é", None]})
    text = record.body.text
    at = record.at.isoformat(timespec="microseconds").replace("+00:00", "Z")
    assert text == (
        f'{{"a":["é",null],"at":"{at}","b":1.0,"id":"{record.uid}","kind":"decision","v":1,'
        f'"writer":{{"id":"{record.writer_id}","n":{record.writer_n}}}}}'
    )
    assert datetime.fromisoformat(json.loads(text)["at"]) == record.at


@pytest.mark.django_db
def test_the_leaf_hash_covers_a_zero_byte_and_the_stored_bytes():
    write(kind="decision", body={"é": "ü"})
    record = Record.objects.select_related("body").get()
    stored = record.body.text.encode()
    assert record.leaf_hash == hashlib.sha256(b"\0" + stored).hexdigest()


@pytest.mark.django_db
@pytest.mark.parametrize("member", sorted(ENVELOPE))
def test_a_body_cannot_pose_as_the_envelope(member):
    with pytest.raises(ValueError, match=f"`{member}`"):
        write(kind="decision", body={member: "x"})


@pytest.mark.django_db
@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {1, 2}])
def test_a_body_that_json_cannot_hold_is_refused_before_anything_is_written(value):
    with pytest.raises(ValueError):  # noqa: PT011  (the sentence is the engine's)
        write(kind="decision", body={"x": value})
    assert not Record.objects.exists()


@pytest.mark.django_db
def test_an_unknown_kind_is_refused():
    with pytest.raises(IntegrityError, match="record_kind_known"), transaction.atomic():
        write(kind="gossip", body={})


@pytest.mark.django_db
@pytest.mark.parametrize("hostile", ["x" * 500, "a\0b", "\ud800", "\u202e", "💥" * 300])
def test_no_copy_is_too_long_or_too_strange_to_be_recorded(hostile):
    index = RecordIndex(tool=hostile, session=hostile, rule=hostile, policy_version=3)
    use = Usage(layer=hostile, rule="", family="", tool=hostile, outcome="deny")
    write(kind="decision", body={}, index=index, usage=[use])
    record = Record.objects.get()
    assert (record.tool[:1], record.policy_version) == (RuleUsage.objects.get().tool[:1], 3)
    assert 0 < len(record.tool) <= 128


@pytest.mark.django_db
def test_the_key_is_copied_beside_the_link():
    client = ApiClient.objects.create(name="bot", key_id="abcdefgh", secret_hash="0" * 64)
    write(kind="decision", body={}, client=client)
    assert Record.objects.get(client=client).client_key_id == "abcdefgh"


@pytest.mark.django_db
def test_a_record_with_its_body_and_usage_takes_three_statements(django_assert_num_queries):
    write(kind="decision", body={})
    other = Usage(layer="a", rule="", family="", tool="send", outcome="allow")
    for usage, statements in (((), 2), ((USE,), 3), ((USE, other, USE), 3)):
        with django_assert_num_queries(statements):
            write(kind="decision", body={}, usage=usage)


# --- usage ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_usage_adds_up_by_hour_rule_tool_and_outcome():
    other = Usage(layer="house rules", rule="no-mail", family="mail", tool="send", outcome="allow")
    write(kind="decision", body={}, usage=[USE, other, USE])
    record = write(kind="decision", body={}, usage=[USE])
    hour = record.at.replace(minute=0, second=0, microsecond=0)
    counts = RuleUsage.objects.order_by("outcome").values_list("hour", "outcome", "count")
    assert list(counts) == [(hour, "allow", 1), (hour, "deny", 3)]


@pytest.mark.django_db
def test_usage_that_is_alike_once_cut_is_counted_together():
    long = [Usage(layer="x" * 200 + end, rule="", family="", tool="", outcome="") for end in "ab"]
    write(kind="decision", body={}, usage=long)
    assert RuleUsage.objects.get().count == 2


@pytest.mark.django_db
def test_a_thousand_usages_fit_in_one_statement(django_assert_num_queries):
    write(kind="decision", body={})
    many = [
        Usage(layer="l", rule=f"r{n}", family="", tool="t", outcome="deny") for n in range(2000)
    ]
    with django_assert_num_queries(3):
        write(kind="decision", body={}, usage=many)
    assert RuleUsage.objects.count() == 2000


# --- numbers -------------------------------------------------------------------------------------


class Undone(Exception):
    """Ends a block in a rollback."""


@pytest.fixture
def fresh_writer(transactional_db):
    vars(connections["default"]).pop(_SLOT, None)


def fail():
    raise Undone


def run(steps):
    """Write records and nested blocks as told; return how many records stand afterwards."""
    stand = 0
    for step in steps:
        if step == "write":
            write(kind="decision", body={})
            stand += 1
            continue
        ends_well, inner = step
        try:
            with transaction.atomic():
                stand += run(inner)
                if not ends_well:
                    fail()
        except Undone:
            stand -= standing(inner)
    return stand


def standing(steps):
    return sum(1 if s == "write" else standing(s[1]) if s[0] else 0 for s in steps)


blocks = st.recursive(
    st.just("write"),
    lambda inner: st.tuples(st.booleans(), st.lists(inner, max_size=4)),
    max_leaves=8,
)
transactions = st.lists(st.tuples(st.booleans(), st.lists(blocks, max_size=5)), max_size=5)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(transactions)
def test_numbers_have_no_gap_and_no_double_however_blocks_end(fresh_writer, steps):
    vars(connections["default"]).pop(_SLOT, None)
    run(steps)
    write_one()
    mine = vars(connections["default"])[_SLOT].id
    stored = list(Record.objects.filter(writer_id=mine).order_by("id").select_related("body"))
    assert [record.writer_n for record in stored] == list(range(1, standing(steps) + 2))
    for record in stored:
        assert json.loads(record.body.text)["writer"] == {"id": mine, "n": record.writer_n}
        assert leaf_hash(record.body.text) == record.leaf_hash


def test_without_a_rollback_the_table_is_never_asked(fresh_writer, django_assert_num_queries):
    for _ in range(3):
        # BEGIN, COMMIT, and two records of three statements.
        with django_assert_num_queries(8), transaction.atomic():
            write(kind="decision", body={}, usage=[USE])
            write(kind="decision", body={}, usage=[USE])
    assert numbers() == [1, 2, 3, 4, 5, 6]


def test_a_record_written_by_a_commit_hook_does_not_take_a_number_twice(fresh_writer):
    with transaction.atomic():
        transaction.on_commit(write_one)
        write(kind="decision", body={})
    write_one()
    assert numbers() == [1, 2, 3]


def test_a_commit_hook_that_fails_costs_no_number(fresh_writer):
    def commit():
        with transaction.atomic():
            transaction.on_commit(fail)
            write(kind="decision", body={})

    with pytest.raises(Undone):
        commit()
    write_one()
    assert numbers() == [1, 2]


def test_a_body_that_cannot_be_stored_costs_no_number(fresh_writer):
    def fail(execute, sql, *rest):
        if "toolpolicy_recordbody" in sql:
            raise DatabaseError
        return execute(sql, *rest)

    write_one()
    with connection.execute_wrapper(fail), pytest.raises(DatabaseError):
        write_one()
    write_one()
    assert numbers() == [1, 2]


def test_a_connection_that_was_opened_again_is_another_writer(fresh_writer, request):
    first = write_one()
    if connection.vendor == "sqlite":  # closing would lose a database in memory
        database = connections["default"]
        database.connection, kept = (
            database.get_new_connection(database.get_connection_params()),
            database.connection,
        )
        request.addfinalizer(kept.close)
    else:
        connection.close()
    second = write_one()
    assert second.writer_id != first.writer_id
    assert (first.writer_n, second.writer_n) == (1, 1)


def test_each_thread_is_a_writer_of_its_own(fresh_writer):
    if connection.vendor == "sqlite":
        pytest.skip("threads would have databases of their own in memory")

    def three():
        try:
            return [
                (record.writer_id, record.writer_n)
                for record in (write_one(), write_one(), write_one())
            ]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(three) for _ in range(8)]
        pairs = [pair for future in futures for pair in future.result()]
    assert len(set(pairs)) == 24
    for writer in {writer for writer, _ in pairs}:
        assert sorted(n for w, n in pairs if w == writer) == [1, 2, 3]
