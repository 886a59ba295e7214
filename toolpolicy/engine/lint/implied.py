"""Which conditions on the context hold wherever some others do.

A condition that another one implies is met by each text that meets the other. So a few such texts,
looked up in an index of all conditions, leave few to be proved.
"""

from collections.abc import Iterable, Iterator

from toolpolicy.engine.compiled_layers import numbers_of
from toolpolicy.engine.lint.conditions import Asks, Box, implies
from toolpolicy.engine.matchitems import split
from toolpolicy.engine.slots import GlobSlot, ItemSlot

# No tool, agent or channel is named so.
_OTHER = "\ue000"


class Implied:
    """All conditions of a policy; which of them a box implies is worked out once."""

    def __init__(self, asked: Iterable[Asks]) -> None:
        self._asked: dict[tuple[str, bool], list[Asks]] = {}
        for one in sorted(set(asked)):
            self._asked.setdefault((one.key, one.items), []).append(one)
        self._slots = {place: _slot(place[1], some) for place, some in self._asked.items()}
        self._by_one: dict[Asks, frozenset[Asks]] = {}
        self._by_box: dict[Box, frozenset[Asks]] = {}

    def by(self, box: Box) -> frozenset[Asks]:
        """Return the conditions that surely hold wherever the box does."""
        if box not in self._by_box:
            self._by_box[box] = frozenset().union(*map(self._by, box))
        return self._by_box[box]

    def _by(self, one: Asks) -> frozenset[Asks]:
        if one not in self._by_one:
            self._by_one[one] = frozenset(
                other for other in self._candidates(one) if implies(one, other)
            )
        return self._by_one[one]

    def _candidates(self, one: Asks) -> Iterator[Asks]:
        place = one.key, one.items
        some, slot = self._asked.get(place, []), self._slots.get(place)
        left = (1 << len(some)) - 1
        for text in _texts(one):
            if slot is not None and one.holds(text):
                left &= slot.satisfied(text)
        return (some[number] for number in numbers_of(left))


def _slot(items: bool, asked: Iterable[Asks]) -> GlobSlot | ItemSlot:  # noqa: FBT001
    slot: GlobSlot | ItemSlot = ItemSlot(0) if items else GlobSlot(0)
    for number, one in enumerate(asked):
        slot.add(1 << number, one.patterns)
    return slot


def _texts(one: Asks) -> Iterator[str]:
    """Yield texts that most likely satisfy a condition: each star as nothing, and as something."""
    kept = split(one.patterns) if one.items else one.patterns
    for pattern in kept:
        for inside in ("", _OTHER):
            text = pattern.replace("*", inside)
            yield text if one.items else text.replace("?", _OTHER)
    yield _OTHER
