"""The form of filters over records: what it takes, and that every reader of it means the same."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests.audit.logs import write_records
from toolpolicy.audit import sealer
from toolpolicy.audit.headers import COLUMNS
from toolpolicy.models import Record
from toolpolicy.services import clients
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.record_filters import MEMBERS, parse, parse_words

UID = "8f6d4f0e-3a0c-4a7e-9d0b-6a1f1f2b3c4d"
GOOD: list[dict[str, Any]] = [
    {},
    {"kind": "decision", "outcome": "deny", "tool": "send", "agent": "coder"},
    {"uid": UID, "surface": "call", "policy_version": 3},
    {"session": "s-1", "from": "2026-01-01T00:00:00.000000Z", "to": "2026-02-01T00:00:00.000000Z"},
    {"first": 1, "last": 9},
    {"agent": ""},
]
BAD: list[tuple[Any, str, str]] = [
    ([], "", "expected an object"),
    ({"agnet": "x"}, "/agnet", "did you mean `agent`"),
    ({"kind": "decisions"}, "/kind", "did you mean `decision`"),
    ({"outcome": "alow"}, "/outcome", "did you mean `allow`"),
    ({"surface": 1}, "/surface", "expected a string"),
    ({"agent": None}, "/agent", "expected a string"),
    ({"agent": "a" * 201}, "/agent", "records keep 200 characters"),
    ({"agent": "a\0"}, "/agent", "a character that no column holds"),
    ({"agent": "\ud800"}, "/agent", "a character that no column holds"),
    ({"uid": "1"}, "/uid", "no id of a record"),
    ({"first": 0}, "/first", "they begin at 1"),
    ({"first": 2, "last": 1}, "/last", "before `first`"),
    ({"last": True}, "/last", "expected an integer"),
    ({"last": 2**63}, "/last", "no number of a record"),
    ({"from": "yesterday"}, "/from", "not a date (2026-11-30) or a time"),
    ({"from": "2026-02-30"}, "/from", "`2026-02-30` is no day of the calendar"),
    ({"to": "2026-01-01T25:00:00Z"}, "/to", "not a date (2026-11-30) or a time"),
    ({"from": 2026}, "/from", "not a date (2026-11-30) or a time"),
    ({"from": "0001-01-01"}, "/from", "no time of a record"),
    ({"from": "0001-01-01T00:00:00Z"}, "/from", "no time of a record"),
    ({"from": "2026-02-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, "/to", "before `from`"),
    ({"writer_id": "x"}, "/writer_id", "unknown member"),
]


@pytest.mark.parametrize("wire", GOOD)
def test_a_filter_reads_as_it_is_written(wire):
    assert parse(wire).wire() == wire


def test_a_time_is_written_as_records_write_it():
    assert parse({"from": "2026-01-01t01:00:00+01:00"}).wire() == {
        "from": "2026-01-01T00:00:00.000000Z"
    }


def test_a_date_is_its_midnight_in_utc_and_is_kept_as_that():
    assert parse({"from": "2026-11-30", "to": "2026-12-01"}).wire() == {
        "from": "2026-11-30T00:00:00.000000Z",
        "to": "2026-12-01T00:00:00.000000Z",
    }


@pytest.mark.parametrize(("wire", "pointer", "words"), BAD)
def test_what_is_wrong_is_named_at_its_place(wire, pointer, words):
    with pytest.raises(InvalidInput) as refused:
        parse(wire, "/filter")
    (fault,) = refused.value.faults
    assert fault.pointer == f"/filter{pointer}"
    assert words in fault.message


def test_words_of_a_command_are_the_same_filter():
    words = ["agent=a=b", "policy_version=3", "from=2026-01-01T00:00:00Z"]
    assert parse_words(words) == parse(
        {"agent": "a=b", "policy_version": 3, "from": "2026-01-01T00:00:00Z"}
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["agent"], "has no `=`"),
        (["agent=a", "agent=b"], "stands twice"),
        (["first=one"], "expected an integer"),
        (["planet=mars"], "unknown member"),
    ],
)
def test_wrong_words_of_a_command_are_refused(words, said):
    with pytest.raises(InvalidInput, match=said):
        parse_words(words)


def test_every_member_but_the_spans_is_a_column_of_the_header():
    assert set(MEMBERS) - {"first", "last", "from", "to"} < set(COLUMNS)


@pytest.mark.django_db
def test_the_database_and_a_header_are_asked_for_the_same_records():
    chance = random.Random(5)  # noqa: S311  (not for secrets)
    client, _ = clients.create(actor=Actor.system("tests"), values={"name": "helpdesk"})
    for number in range(40):
        names = {name: chance.choice(("a", "b")) for name in ("agent", "tool", "session")}
        keyed = client if chance.random() < 0.5 else None
        write_records(1, outcome=chance.choice(("allow", "deny")), client=keyed, **names)
        if number == 25:
            sealer.seal_all()
    rows = {pk: (seq, row) for pk, seq, *row in Record.objects.values_list("pk", "leaf", *COLUMNS)}
    times = sorted(row[COLUMNS.index("at")] for _, row in rows.values())
    some = 0
    for _ in range(60):
        asked = parse(_filter(chance, times, client.key_id))
        by_header = {pk for pk, (seq, row) in rows.items() if asked.asks_for(row, seq)}
        by_database = set(asked.narrow(Record.objects.all()).values_list("pk", flat=True))
        assert by_database == by_header
        some += 0 < len(by_header) < len(rows)
    assert some > 10


def _filter(chance: random.Random, times: list[datetime], key: str) -> dict[str, Any]:
    low, high = sorted(chance.sample(times, 2))
    possible: dict[str, Any] = {
        "agent": "a",
        "tool": "b",
        "session": "a",
        "outcome": "deny",
        "kind": "decision",
        "client_key_id": key,
        "first": 4,
        "last": 20,
        "from": low.isoformat(),
        "to": high.isoformat(),
    }
    return {name: value for name, value in possible.items() if chance.random() < 0.3}


@pytest.mark.django_db
def test_a_span_of_time_leaves_its_end_out():
    write_records(1)
    at = Record.objects.get().at
    row = Record.objects.values_list(*COLUMNS).get()
    spans = [(at, at), (at - timedelta(days=1), at), (at, timezone.now() + timedelta(days=1))]
    found = [
        parse({"from": low.astimezone(UTC).isoformat(), "to": high.isoformat()}).asks_for(row, None)
        for low, high in spans
    ]
    assert found == [False, False, True]
