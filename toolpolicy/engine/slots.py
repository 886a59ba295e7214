"""Slots: one index for each attribute, context key or argument that rules of a layer ask about.

A slot knows which rules do not ask (`free`), and says which of the others are satisfied. Where an
attribute is unknown or an argument cannot be read, those are satisfied that fail-safe reading
settles so (SPEC §3): restricting rules in `match`, permitting ones in `except`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Final

from toolpolicy.engine.globs import ascii_lower
from toolpolicy.engine.indexes import TextIndex, remember
from toolpolicy.engine.matching import scalar_text
from toolpolicy.engine.matchitems import go_lower, split
from toolpolicy.engine.pointers import Missing, follow
from toolpolicy.engine.values import ABSENT, Patterns, Subject
from toolpolicy.engine.words import Hint


class Slot(ABC):
    """What one set of rules asks about one value; what was looked up is remembered in bounds."""

    __slots__ = ("free", "seen")

    def __init__(self, everything: int) -> None:
        self.free = everything
        """The rules that do not ask."""
        self.seen: dict[Any, int] = {}

    def find(self, value: Any) -> int:
        """Return the rules that do not ask, or are satisfied by `value` (hashable)."""
        bits = self.seen.get(value)
        if bits is None:
            bits = remember(self.seen, value, self.free | self.satisfied(value))
        return bits

    @abstractmethod
    def satisfied(self, value: Any) -> int:
        """Return the asking rules that `value` satisfies."""


class GlobSlot(Slot):
    """Globs over a text, None when absent: it satisfies none."""

    __slots__ = ("index",)

    def __init__(self, everything: int) -> None:
        super().__init__(everything)
        self.index = TextIndex()

    def add(self, bit: int, patterns: Patterns) -> None:
        """Note what a rule asks for."""
        self.free &= ~bit
        for pattern in patterns:
            self.index.add_glob(ascii_lower(pattern), bit)

    def satisfied(self, value: str | None) -> int:
        return 0 if value is None else self.index.find(ascii_lower(value))


class TagSlot(GlobSlot):
    """Globs over tags: any tag by any pattern."""

    __slots__ = ()

    def satisfied(self, value: Any) -> int:
        bits = 0
        for tag in value:
            bits |= self.index.find(ascii_lower(tag))
        return bits


class ItemSlot(Slot):
    """Match-items over a text (ordered layers)."""

    __slots__ = ("excluded", "index", "only_exclusions")

    def __init__(self, everything: int) -> None:
        super().__init__(everything)
        self.index, self.excluded = TextIndex(), TextIndex()
        self.only_exclusions = 0

    def add(self, bit: int, patterns: Patterns) -> None:
        """Note what a rule asks for."""
        self.free &= ~bit
        kept = split(patterns)
        for pattern in kept:
            if pattern.startswith("!"):
                self.excluded.add_item(pattern[1:], bit)
            else:
                self.index.add_item(pattern, bit)
        if not patterns or (kept and all(pattern.startswith("!") for pattern in kept)):
            self.only_exclusions |= bit

    def satisfied(self, value: str | None) -> int:
        if value is None:
            return 0
        text = go_lower(value)
        return (self.index.find(text) | self.only_exclusions) & ~self.excluded.find(text)


class TagItemSlot(ItemSlot):
    """Match-items over tags: any exclusion hit by any tag fails; no tags are one empty tag."""

    __slots__ = ()

    def satisfied(self, value: Any) -> int:
        found, excluded = 0, 0
        for tag in value or ("",):
            text = go_lower(tag)
            found |= self.index.find(text) | self.only_exclusions
            excluded |= self.excluded.find(text)
        return found & ~excluded


class KnownSlot(Slot):
    """An attribute of few values that may be unknown (None)."""

    __slots__ = ("table", "unknown")

    def __init__(self, everything: int) -> None:
        super().__init__(everything)
        self.table: dict[Any, int] = {}
        self.unknown = 0

    def add(self, bit: int, values: Iterable[Any], *, doubt: bool) -> None:
        """Note the values that satisfy a rule; `doubt` says that an unknown one does as well."""
        self.free &= ~bit
        for value in values:
            self.table[value] = self.table.get(value, 0) | bit
        if doubt:
            self.unknown |= bit

    def satisfied(self, value: Any) -> int:
        return self.unknown if value is None else self.table.get(value, 0)


class AnyOfSlot(KnownSlot):
    """A set of flags that may be unknown: any of them satisfies."""

    __slots__ = ()

    def satisfied(self, value: Any) -> int:
        if value is None:
            return self.unknown
        bits = 0
        for flag in value:
            bits |= self.table.get(flag, 0)
        return bits


class ArgumentSlot(GlobSlot):
    """Globs over the argument at one pointer (SPEC §3, fail_safe; vectors S5–S7)."""

    __slots__ = ("doubting", "tokens")

    def __init__(self, everything: int, tokens: tuple[str, ...]) -> None:
        super().__init__(everything)
        self.tokens = tokens
        self.doubting = 0

    def ask(self, bit: int, patterns: Patterns, *, doubt: bool) -> None:
        """Note what a rule asks for, and whether doubt satisfies it."""
        self.add(bit, patterns)
        if doubt:
            self.doubting |= bit

    def find_in(self, args: Any) -> int:
        """Return the rules that do not ask, or are satisfied by a call's arguments."""
        found = Missing.BLOCKED if args is ABSENT else follow(self.tokens, args)
        if isinstance(found, Missing):
            return self.free | self.doubting if found is Missing.BLOCKED else self.free
        text = scalar_text(found.value)
        if text is not None:
            return self.find(text)
        return self.free if found.value is None else self.free | self._doubtful(found.value)

    def _doubtful(self, value: Any) -> int:
        """Arrays of scalars satisfy by any element, what cannot be read by doubt alone."""
        if not isinstance(value, list) or not value:
            return self.doubting
        bits = 0
        for item in value:
            text = scalar_text(item)
            if text is None:
                return self.doubting
            bits |= self.find(text)
        return bits & self.doubting


class ArgumentSlots:
    """The slots over arguments, made as conditions ask for them."""

    __slots__ = ("_everything", "_slots")

    def __init__(self, everything: int) -> None:
        self._everything = everything
        self._slots: dict[tuple[str, ...], ArgumentSlot] = {}

    def slot(self, tokens: tuple[str, ...]) -> ArgumentSlot:
        """Return the slot of the argument at a pointer, made on first use."""
        if tokens not in self._slots:
            self._slots[tokens] = ArgumentSlot(self._everything, tokens)
        return self._slots[tokens]

    def asked_by(self, rules: int) -> tuple[ArgumentSlot, ...]:
        """Return the slots that any of these rules asks."""
        return tuple([slot for slot in self._slots.values() if ~slot.free & rules])


# --- the attributes of a subject -----------------------------------------------------------------

Read = Callable[[Subject], Any]


def read_hint(hint: Hint) -> Read:
    """Return how a subject's hint is read."""

    def read(subject: Subject) -> bool | None:
        for name, value in subject.hints:
            if name is hint:
                return value
        return None

    return read


READ: Final[dict[str, Read]] = {
    name: attrgetter(name)
    for name in (
        *("name", "family", "group", "parent", "verb", "method", "scope", "tags"),
        *("category", "exposure", "permission", "side_effects"),
    )
} | {f"hints.{hint}": read_hint(hint) for hint in Hint}


class SlotSet:
    """The slots over the attributes of a subject, made as conditions ask for them.

    Names differ from tool to tool; what the few values of another attribute satisfy is remembered.
    """

    __slots__ = ("_others", "everything", "name")

    def __init__(self, everything: int) -> None:
        self.everything = everything
        self.name: Slot | None = None
        self._others: dict[str, tuple[Read, Slot]] = {}

    def slot(self, name: str, make: type[Slot], read: Read | None = None) -> Any:
        """Return the slot of an attribute, made on first use."""
        if name == "name":
            self.name = self.name or make(self.everything)
            return self.name
        if name not in self._others:
            self._others[name] = (read or READ[name], make(self.everything))
        return self._others[name][1]

    def find(self, subject: Subject) -> int:
        """Return the rules all of whose conditions on attributes the subject satisfies."""
        bits = self.everything
        if self.name is not None:
            bits = self.name.free | self.name.satisfied(subject.name)
        for read, slot in self._others.values():
            if not bits:
                break
            value = read(subject)
            some = slot.seen.get(value)
            bits &= slot.find(value) if some is None else some
        return bits
