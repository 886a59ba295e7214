"""Spans of time and points in time as people write them. Times are UTC."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from toolpolicy.engine.faults import shown
from toolpolicy.engine.reading import Reader, time_text
from toolpolicy.services.errors import InvalidInput

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
# Before any record and after every clock; a day around them can be reckoned with.
_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """From `since` on and before `until`."""

    since: datetime
    until: datetime

    def wire(self) -> dict[str, str]:
        """Return it as JSON: `to` is the first moment that no longer belongs to it."""
        return {"from": time_text(self.since), "to": time_text(self.until)}

    @property
    def last(self) -> datetime:
        """Its last moment: of the last day that it holds."""
        return self.until - timedelta(microseconds=1)

    @property
    def words(self) -> str:
        """Say it shortly: the days where it is of whole days."""
        whole = all(_midnight(one) == one for one in (self.since, self.until))
        if whole:
            return f"{self.since:%Y-%m-%d} to {self.last:%Y-%m-%d}"
        return f"{self.since:%Y-%m-%d %H:%M} to {self.until:%Y-%m-%d %H:%M} UTC"

    def whole_hours(self) -> "Period":
        """Return the shortest span of whole hours that holds it: what is counted is by the hour."""
        since = self.since.replace(minute=0, second=0, microsecond=0)
        until = self.until.replace(minute=0, second=0, microsecond=0)
        return Period(since=since, until=until if until == self.until else until + HOUR)


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def _month(at: datetime) -> datetime:
    return _midnight(at).replace(day=1)


def _months_before(first: datetime, count: int) -> datetime:
    """Return the first day of a month so many months before `first`, itself a first day."""
    month = first.year * 12 + first.month - 1 - count
    return first.replace(year=month // 12, month=month % 12 + 1)


def this_month(now: datetime) -> Period:
    """Return the month that `now` is in, to its end."""
    first = _month(now)
    return Period(since=first, until=_months_before(first, -1))


def last_month(now: datetime) -> Period:
    """Return the whole month before."""
    first = _month(now)
    return Period(since=_months_before(first, 1), until=first)


def last_quarter(now: datetime) -> Period:
    """Return the whole quarter of a year before."""
    first = _months_before(_month(now), (now.month - 1) % 3)
    return Period(since=_months_before(first, 3), until=first)


NAMED: Final[Mapping[str, Callable[[datetime], Period]]] = {
    "this_month": this_month,
    "last_month": last_month,
    "last_quarter": last_quarter,
}


def read_period(since: str, until: str, *, now: datetime) -> Period:
    """Read a period; a date as its end belongs to it whole.

    Without an end it ends with this day, without a beginning it begins with the month of its last
    moment. One that has not begun is refused. Raises `InvalidInput` with pointers `/from`, `/to`.
    """
    reader = Reader()
    end = _read(reader, until, "/to", ends=True) if until else _midnight(now) + DAY
    start = _read(reader, since, "/from", ends=False) if since else None
    if end is not None and start is None and not since:
        start = _month(end - timedelta(microseconds=1))
    if start is not None and end is not None and end <= start:
        reader.fault("/to", "a period ends after it begins")
    elif start is not None and start > now:
        reader.fault("/from" if since else "/to", "nobody knows yet what will have happened then")
    if reader.faults or start is None or end is None:
        raise InvalidInput(reader.faults)
    return Period(since=start, until=end)


def read_moment(text: str, *, now: datetime, at: str = "/on") -> datetime:
    """Read a point in time that has come; a date stands for its end, today's for now.

    Raises `InvalidInput` with the pointer `at`.
    """
    reader = Reader()
    found = _read(reader, text, at, ends=True)
    if found is not None and found > now:
        if _DATE.fullmatch(text) and found - DAY <= now:
            return now
        reader.fault(at, "nobody knows yet what will be in force then")
    if reader.faults or found is None:
        raise InvalidInput(reader.faults)
    return found


def _read(reader: Reader, text: str, at: str, *, ends: bool) -> datetime | None:
    """Read a date or time; a date that `ends` something stands for the midnight after it."""
    found = reader.day_or_time(text, at)
    if found is None:
        return None
    if not _FIRST <= found < _LAST:
        reader.fault(at, f"{shown(text)} is no time of a record")
        return None
    return found + DAY if ends and _DATE.fullmatch(text) else found
