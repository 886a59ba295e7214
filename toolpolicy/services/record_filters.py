"""Which records: one form of filter for holds, erasure, exports and bundles.

On the wire it is a JSON object, as a bundle's manifest has it: members of a record's header that
must be equal, `from` and `to` (a span of time, `to` itself left out; a date is read as its midnight
in UTC, and kept as that), `first` and `last` (sealed numbers, both included). Nothing stands for
every record. Whoever holds a record's header can apply it, so a bundle proves that nothing was left
out.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from toolpolicy.audit.headers import AT, COLUMNS, moment
from toolpolicy.engine.faults import did_you_mean, shown
from toolpolicy.engine.reading import Reader
from toolpolicy.engine.words import Outcome, Surface
from toolpolicy.models import ApiClient, Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.models.records import RecordQuerySet
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.records import between
from toolpolicy.services.refusals import OUTCOME as REFUSED

TEXTS: Final = (
    *("reason_code", "family", "tool", "agent", "channel", "session", "client_key_id", "layer"),
    *("rule", "actor_label", "object_label", "request_id"),
)
"""Members that may be any text; the others have their words or are numbers."""
_WORDS: Final[Mapping[str, Sequence[str]]] = {
    "kind": RecordKind.values,
    "surface": [str(word) for word in Surface],
    "outcome": [*(str(word) for word in Outcome), REFUSED],
}
_TIMES: Final = ("from", "to")
NUMBERS: Final = ("policy_version", "first", "last")
"""Members that are whole numbers."""
MEMBERS: Final = ("uid", *_WORDS, *TEXTS, *NUMBERS, *_TIMES)
LARGEST: Final = 2**63 - 1
YEARS: Final = range(1970, 9999)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFilter:
    """Which records. What is None, or not among the members of `equal`, bounds nothing."""

    equal: Mapping[str, str | int]
    since: datetime | None = None
    until: datetime | None = None
    first: int | None = None
    last: int | None = None

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        spans = {"first": self.first, "last": self.last}
        times = {"from": self.since, "to": self.until}
        return {
            **self.equal,
            **{name: value for name, value in spans.items() if value is not None},
            **{name: moment(value) for name, value in times.items() if value is not None},
        }

    @property
    def words(self) -> str:
        """Say it shortly, in one line."""
        said = self.wire().items()
        return ", ".join(f"{name} {shown(value)}" for name, value in said) or "every record"

    def asks_for(self, row: Sequence[Any], seq: int | None) -> bool:
        """Tell whether a record is meant: its `headers.COLUMNS`, its sealed number if it has one.

        A record without a number is in no span of numbers.
        """
        if self.first is not None or self.last is not None:
            high = LARGEST if self.last is None else self.last
            if seq is None or not (self.first or 0) <= seq <= high:
                return False
        if self.since is not None and row[AT] < self.since:
            return False
        if self.until is not None and row[AT] >= self.until:
            return False
        return all(_plain(row[COLUMNS.index(name)]) == said for name, said in self.equal.items())

    def narrow(self, records: RecordQuerySet) -> RecordQuerySet:
        """Keep the records that are meant; the same ones as `asks_for`. A query for each time."""
        found = records.filter(**self.equal)
        if "client_key_id" in self.equal:  # its index is on the key itself
            key = ApiClient.objects.filter(key_id=self.equal["client_key_id"])
            found = found.filter(client_id__in=key.values("pk"))
        spans = {"leaf__seq__gte": self.first, "leaf__seq__lte": self.last}
        found = found.filter(**{name: n for name, n in spans.items() if n is not None})
        return between(found, self.since, self.until)


def parse(value: Any, at: str = "") -> RecordFilter:
    """Read a filter from its JSON at a place of what was sent. Raise InvalidInput."""
    reader = Reader()
    sent = reader.members(value, at, MEMBERS)
    read: dict[str, Any] = {
        name: _reader_of(name)(reader, sent[name], f"{at}/{name}") for name in sent
    }
    for low, high in (_TIMES, ("first", "last")):
        begin, end = read.get(low), read.get(high)
        if begin is not None and end is not None and end < begin:
            reader.fault(f"{at}/{high}", f"`{high}` is before `{low}`")
    if reader.faults:
        raise InvalidInput(reader.faults)
    spans = {"first": "first", "last": "last", "from": "since", "to": "until"}
    bounds = {field: read.pop(name, None) for name, field in spans.items()}
    return RecordFilter(equal=read, **bounds)


def parse_words(words: Sequence[str]) -> RecordFilter:
    """Read a filter from `NAME=VALUE` texts, as commands take it. Raise InvalidInput."""
    sent: dict[str, Any] = {}
    reader = Reader()
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or name in sent:
            what = "stands twice" if equals else "has no `=`: write NAME=VALUE"
            reader.fault("", f"{shown(word)} {what}")
        sent[name] = int(text) if name in NUMBERS and text.isascii() and text.isdigit() else text
    if reader.faults:
        raise InvalidInput(reader.faults)
    return parse(sent)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, uuid.UUID) else value


def _reader_of(name: str) -> Callable[[Reader, Any, str], Any]:
    if name in _TIMES:
        return _time
    if name in NUMBERS:
        return _number
    if name == "uid":
        return _uid
    if name in _WORDS:
        return lambda reader, value, at: _word(reader, value, at, _WORDS[name])
    length = getattr(Record, name).field.max_length
    return lambda reader, value, at: _text(reader, value, at, length)


def _time(reader: Reader, value: Any, at: str) -> datetime | None:
    time = reader.day_or_time(value, at)
    if time is not None and time.year not in YEARS:
        reader.fault(at, f"{shown(value)} is no time of a record")
    return time


def _number(reader: Reader, value: Any, at: str) -> int | None:
    number = reader.integer(value, at)
    if number is not None and not 1 <= number <= LARGEST:
        reader.fault(at, f"{shown(number)} is no number of a record or version: they begin at 1")
    return number


def _uid(reader: Reader, value: Any, at: str) -> str | None:
    text = reader.text(value, at)
    try:
        return None if text is None else str(uuid.UUID(text))
    except ValueError:
        reader.fault(at, f"{shown(text)} is no id of a record")
        return None


def _word(reader: Reader, value: Any, at: str, known: Sequence[str]) -> str | None:
    text = reader.text(value, at)
    if text is not None and text not in known:
        hint = did_you_mean(text, known)
        reader.fault(at, f"{shown(text)} is not a known word{hint}", "unknown_word")
    return text


def _text(reader: Reader, value: Any, at: str, length: int) -> str | None:
    """Read a text that a column can hold: any other one would quietly find nothing."""
    text = reader.text(value, at)
    if text is None:
        return None
    if len(text) > length:
        reader.fault(at, f"records keep {length} characters of it; this is longer", "too_large")
    elif text.encode("utf-8", "replace").decode().replace("\0", "") != text:
        reader.fault(at, f"{shown(text)} has a character that no column holds")
    return text
