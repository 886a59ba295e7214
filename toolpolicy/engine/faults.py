"""What is wrong with an input: every fault with its place, collected before anything is refused.

However large and wrong an input is, what is told of it stays readable: the first thousand faults
are named and the others counted, the first hundred have a hint, and a very long name or value is
shown by its beginning.
"""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Self

MOST_NAMED: Final = 1_000
MOST_HINTED: Final = 100
LONGEST_NAME: Final = 256
MORE_FAULTS: Final = "more_faults"
# In bits. Python writes no integer of more than 4,300 digits, and long ones slowly.
_LARGEST_SHOWN: Final = 1_024


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: an RFC 6901 `pointer` into the input, a sentence and a stable `code`.

    `line` counts from 1, where the input was a text whose lines are known. `count` is how many
    faults it stands for: one, unless its code is `more_faults`.
    """

    pointer: str
    message: str
    code: str = "invalid"
    line: int | None = None
    count: int = 1

    def moved(self, pointer: str) -> Self:
        """Return the same fault at another place, for what was sent as a part of something else."""
        return replace(self, pointer=pointer)

    def wire(self) -> dict[str, Any]:
        """Return it as JSON, with its line where that is known."""
        line = {} if self.line is None else {"line": self.line}
        return {"pointer": self.pointer, "code": self.code, "message": self.message, **line}


class FaultList:
    """Faults in the order in which they are met: the first `most` are kept, all are counted."""

    def __init__(self, faults: Iterable[Fault] = (), most: int = MOST_NAMED) -> None:
        self.count = 0
        self._most = most
        self._named: list[Fault] = []
        self.extend(faults)

    def add(self, fault: Fault) -> None:
        """Take one more."""
        self.count += fault.count
        if len(self._named) < self._most and fault.code != MORE_FAULTS:
            self._named.append(fault)

    def extend(self, faults: Iterable[Fault]) -> None:
        """Take each of them."""
        for fault in faults:
            self.add(fault)

    def told(self) -> tuple[Fault, ...]:
        """Return the faults that are named, and a last one that says how many are not."""
        more = self.count - len(self._named)
        if not more:
            return tuple(self._named)
        message = f"{more} more {'fault is' if more == 1 else 'faults are'} not named"
        return (*self._named, Fault("", message, MORE_FAULTS, count=more))


class Faults(ValueError):
    """An input refused, with its faults as `FaultList` tells them."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = FaultList(faults).told()
        super().__init__(said(self.faults))


def said(faults: Iterable[Fault], between: str = "; ") -> str:
    """Return faults as one text, each with its place if it has one; in one line by default."""
    return between.join(
        f"{fault.pointer}: {fault.message}" if fault.pointer else fault.message for fault in faults
    )


def total(faults: Iterable[Fault]) -> int:
    """Return how many faults these are, with those that are only counted."""
    return sum(fault.count for fault in faults)


def short_name(name: str | int) -> str:
    """Return a member's name as places have it: a very long one is cut, for it stands in many."""
    text = str(name)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def token(name: str | int) -> str:
    """Escape `name` as one reference token of a JSON pointer (RFC 6901 §3)."""
    return str(name).replace("~", "~0").replace("/", "~1")


def join(pointer: str, name: str | int) -> str:
    """Return the pointer of member or item `name` below `pointer`; a very long name is cut."""
    return f"{pointer}/{token(short_name(name))}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean ...` for the nearest known word, or the list of the known ones."""
    words = sorted(known)
    near = difflib.get_close_matches(word[:64], words, n=1)
    return f"; did you mean `{near[0]}`" if near else f"; known are {', '.join(words)}"


def shown(value: object, limit: int = 80) -> str:
    """Return `value` in backticks, escaped and cut, safe to stand inside a message.

    Of a large value no more is looked at than is shown.
    """
    text = value if isinstance(value, str) else _beginning(value, limit)
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    # Backticks of its own would end the quotation, for whoever reads it and for who takes it out.
    quoted = printable(cut).replace("`", "'")
    return f"`{quoted}`"


def _beginning(value: object, limit: int) -> str:
    """Return a JSON value as text, up to a little more than `limit` characters of it."""
    text = ""
    for part in _parts(value, limit):
        text += part
        if len(text) > limit:
            break
    return text


def _parts(value: Any, limit: int) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for number, (name, item) in enumerate(value.items()):
            yield ", " if number else ""
            yield from _parts(name, limit)
            yield ": "
            yield from _parts(item, limit)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for number, item in enumerate(value):
            yield ", " if number else ""
            yield from _parts(item, limit)
        yield "]"
    elif isinstance(value, str):
        yield repr(value[:limit])
    elif isinstance(value, int) and value.bit_length() > _LARGEST_SHOWN:
        yield f"an integer of {value.bit_length()} bits"
    elif value is None or isinstance(value, bool):
        yield "null" if value is None else str(value).lower()
    else:
        yield repr(value)


def quantity(count: int, noun: str) -> str:
    """Return how many of something there are.

    >>> quantity(1, "layer"), quantity(0, "layer")
    ('1 layer', '0 layers')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def printable(text: str) -> str:
    """Escape every code point that is not printable (controls, bidi marks, surrogates)."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
