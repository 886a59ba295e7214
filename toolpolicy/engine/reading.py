"""A collecting reader of JSON values: it goes on after a fault, so that all of them are named."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from toolpolicy.engine.faults import (
    MOST_HINTED,
    Fault,
    FaultList,
    Faults,
    did_you_mean,
    join,
    shown,
)
from toolpolicy.engine.values import Patterns

Word = TypeVar("Word", bound=StrEnum)
Out = TypeVar("Out")

_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:(\.\d{1,6})\d*)?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
DAY_OR_TIME = "a date (2026-11-30) or a time with seconds and an offset"
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    int: "an integer",
}


class Reader:
    """Reads members of one document and keeps the faults it meets.

    `max_patterns` and `max_length` bound pattern lists, None means unbounded; `bounds_in_order`
    refuses a time span that ends before it starts (the `stack` vectors let one pass: it never
    applies).
    """

    def __init__(
        self,
        *,
        max_patterns: int | None = None,
        max_length: int | None = None,
        bounds_in_order: bool = True,
    ) -> None:
        self.found = FaultList()
        self.bounds_in_order = bounds_in_order
        self.max_patterns = max_patterns
        self.max_length = max_length

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What was noted so far, as `FaultList` tells it."""
        return self.found.told()

    def fault(self, at: str, message: str, code: str = "invalid") -> None:
        """Note one fault."""
        self.found.add(Fault(at, message, code))

    def finish(self, value: Out) -> Out:
        """Return `value`, or raise `Faults` with everything noted so far."""
        if self.found.count:
            raise Faults(self.faults)
        return value

    def has_kind(self, value: Any, kind: type, at: str) -> bool:
        """Tell whether `value` is of this JSON kind; note a fault if not (a bool is no integer)."""
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return True
        self.fault(at, f"expected {_KINDS[kind]}, found {kind_of(value)}")
        return False

    def members(self, value: Any, at: str, known: Collection[str]) -> dict[str, Any]:
        """Return the members of an object; unknown ones and other kinds are faults."""
        if not self.has_kind(value, dict, at):
            return {}
        for name in value:
            if name not in known:
                hint = self._hint(name, known)
                self.fault(join(at, name), f"unknown member {shown(name)}{hint}", "unknown_member")
        return {name: item for name, item in value.items() if name in known}

    def items(self, value: Any, at: str, read: Callable[[Any, str], Out | None]) -> tuple[Out, ...]:
        """Read every item of a list."""
        if not self.has_kind(value, list, at):
            return ()
        read_items = [read(item, join(at, number)) for number, item in enumerate(value)]
        return tuple(item for item in read_items if item is not None)

    def unique(self, names: Sequence[Any], at: str, member: str) -> None:
        """Note each text that stands twice; `names` is the `member` of each item of the list."""
        seen: set[str] = set()
        for number, name in enumerate(names):
            if not isinstance(name, str):
                continue
            if name in seen:
                self.fault(f"{at}/{number}/{member}", f"{shown(name)} stands twice", "duplicate")
            seen.add(name)

    def text(self, value: Any, at: str) -> str | None:
        """Read a string."""
        return value if self.has_kind(value, str, at) else None

    def boolean(self, value: Any, at: str) -> bool | None:
        """Read true or false."""
        return value if self.has_kind(value, bool, at) else None

    def integer(self, value: Any, at: str) -> int | None:
        """Read an integer."""
        return value if self.has_kind(value, int, at) else None

    def word(self, value: Any, at: str, words: type[Word]) -> Word | None:
        """Read one word of an enum, exactly as written there."""
        if isinstance(value, str) and value in words.__members__.values():
            return words(value)
        known = [str(word) for word in words]
        hint = (
            self._hint(value, known)
            if isinstance(value, str)
            else f"; known are {', '.join(known)}"
        )
        self.fault(at, f"{shown(value)} is not a known word{hint}", "unknown_word")
        return None

    def _hint(self, word: str, known: Collection[str]) -> str:
        """Say what may be meant; looking for it takes long, so only where somebody will read it."""
        return did_you_mean(word, known) if self.found.count < MOST_HINTED else ""

    def words(self, value: Any, at: str, words: type[Word]) -> tuple[Word, ...]:
        """Read a list of words."""
        return self.items(value, at, lambda item, where: self.word(item, where, words))

    def patterns(self, value: Any, at: str) -> Patterns:
        """Read patterns: a string or a list of strings."""
        if isinstance(value, str):
            found: Patterns = (value,)
        elif isinstance(value, list):
            found = self.items(value, at, self.text)
        else:
            self.fault(at, f"expected a string or a list of strings, found {kind_of(value)}")
            return ()
        if self.max_patterns is not None and len(found) > self.max_patterns:
            self.fault(
                at, f"{len(found)} patterns; at most {self.max_patterns} are read", "too_large"
            )
        if self.max_length is not None and any(len(text) > self.max_length for text in found):
            self.fault(at, f"a pattern is longer than {self.max_length} characters", "too_large")
        return found

    def time(self, value: Any, at: str) -> datetime | None:
        """Read an RFC 3339 time with seconds and an offset; returned in UTC."""
        text = value if isinstance(value, str) else ""
        match = _TIME.fullmatch(text)
        if match:
            try:
                digits = f"{text[:19]}{match[1] or ''}{match[2]}".upper()
                return datetime.fromisoformat(digits).astimezone(UTC)
            except (ValueError, OverflowError):
                pass  # a month 13 or an hour 25: the fault below says what is expected
        self.fault(at, f"{shown(value)} is not a time with seconds and an offset (RFC 3339)")
        return None

    def day_or_time(self, value: Any, at: str) -> datetime | None:
        """Read a date, which is its midnight in UTC, or a time as `time` does."""
        text = value if isinstance(value, str) else ""
        is_day = _DAY.fullmatch(text) is not None
        found = Reader().time(f"{text}T00:00:00Z" if is_day else text, at)
        if found is None:
            wrong = "is no day of the calendar" if is_day else f"is not {DAY_OR_TIME}"
            self.fault(at, f"{shown(value)} {wrong}")
        return found


def each(items: Any, name: str) -> list[Any]:
    """Return one member of each item as it is written, so that places are those of the document."""
    if not isinstance(items, list):
        return []
    return [item.get(name) if isinstance(item, dict) else None for item in items]


def kind_of(value: Any) -> str:
    """Name the JSON kind of `value` in words."""
    if value is None:
        return "null"
    if isinstance(value, float):
        return "a number"
    return next(
        words for kind, words in _KINDS.items() if type(value) is kind or isinstance(value, kind)
    )


def present(members: Mapping[str, Any], name: str) -> bool:
    """Tell whether an optional member is there and not null (R21: null is absent)."""
    return members.get(name) is not None


def time_text(moment: datetime) -> str:
    """Return `moment` as RFC 3339 text in UTC, with a fraction only where there is one."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
