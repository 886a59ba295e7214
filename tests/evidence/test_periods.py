"""Periods and moments as people write them: dates belong whole, times are exact, all is UTC."""

from datetime import UTC, datetime

import pytest

from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.evidence.periods import NAMED, Period, read_moment, read_period

NOW = datetime(2026, 11, 30, 6, 1, tzinfo=UTC)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("since", "until", "found"),
    [
        ("2026-11-01", "2026-11-30", ("2026-11-01", "2026-12-01")),
        ("2026-11-01", "", ("2026-11-01", "2026-12-01")),
        ("", "", ("2026-11-01", "2026-12-01")),
        ("", "2026-10-31", ("2026-10-01", "2026-11-01")),
        ("", "2026-10-01T00:00:00Z", ("2026-09-01", "2026-10-01")),
        ("2026-10-01T02:00:00+02:00", "2026-10-01T01:00:00Z", ("2026-10-01", "2026-10-01T01:00")),
    ],
)
def test_a_period_holds_its_last_day_whole(since, until, found):
    period = read_period(since, until, now=NOW)
    assert (period.since, period.until) == tuple(map(day, found))


@pytest.mark.parametrize(
    ("since", "until", "pointers"),
    [
        ("2026-11-31", "", {"/from"}),
        ("0001-01-01", "", {"/from"}),
        ("9999-12-31", "2026-11-01T10:00", {"/from", "/to"}),
        ("yesterday", "2026-11-30", {"/from"}),
        ("2026-11-30", "2026-11-29", {"/to"}),
        ("2026-11-30T00:00:00Z", "2026-11-30T00:00:00Z", {"/to"}),
        ("2026-12-01", "2026-12-31", {"/from"}),
        ("2026-11-30T06:01:01Z", "", {"/from"}),
        ("", "2027-01-31", {"/to"}),
    ],
)
def test_what_is_no_period_is_refused_where_it_is_wrong(since, until, pointers):
    with pytest.raises(InvalidInput) as refused:
        read_period(since, until, now=NOW)
    assert {fault.pointer for fault in refused.value.faults} == pointers


@pytest.mark.parametrize(
    ("now", "name", "found"),
    [
        ("2026-11-30", "this_month", ("2026-11-01", "2026-12-01")),
        ("2026-12-01", "this_month", ("2026-12-01", "2027-01-01")),
        ("2026-01-15", "last_month", ("2025-12-01", "2026-01-01")),
        ("2026-11-30", "last_quarter", ("2026-07-01", "2026-10-01")),
        ("2026-02-28", "last_quarter", ("2025-10-01", "2026-01-01")),
        ("2026-04-01", "last_quarter", ("2026-01-01", "2026-04-01")),
    ],
)
def test_named_periods_are_whole_months_and_quarters(now, name, found):
    period = NAMED[name](day(now))
    assert (period.since, period.until) == tuple(map(day, found))


def test_a_period_that_has_begun_may_end_in_the_future():
    assert read_period("2026-11-30", "2999-12-31", now=NOW).until == day("3000-01-01")


def test_a_period_is_said_in_days_where_it_is_of_whole_days():
    whole = Period(since=day("2026-11-01"), until=day("2026-12-01"))
    assert whole.words == "2026-11-01 to 2026-11-30"
    part = Period(since=day("2026-11-01T01:30"), until=day("2026-11-02"))
    assert part.words == "2026-11-01 01:30 to 2026-11-02 00:00 UTC"
    hours = part.whole_hours()
    assert (hours.since, hours.until) == (day("2026-11-01T01:00"), day("2026-11-02"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-11-29", "2026-11-30"),
        ("2026-11-30", "2026-11-30T06:01"),
        ("2026-11-29T10:00:00Z", "2026-11-29T10:00"),
    ],
)
def test_a_date_stands_for_its_end_and_today_for_now(text, found):
    assert read_moment(text, now=NOW) == day(found)


@pytest.mark.parametrize("text", ["", "2026-12-01", "2026-11-30T06:01:01Z", "noon"])
def test_a_moment_that_has_not_come_or_is_none_is_refused(text):
    with pytest.raises(InvalidInput) as refused:
        read_moment(text, now=NOW)
    assert [fault.pointer for fault in refused.value.faults] == ["/on"]
