"""One layer compiled: its rules numbered and indexed, and the part that it gives to a plan.

Bit i of every integer here is rule i of the layer as written. Rules that are switched off, and
ordered rules of mode `auto`, have no bit: they never fire.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from toolpolicy.engine.asking import add_conditions, add_ordered_conditions, ask_arguments
from toolpolicy.engine.slots import (
    ArgumentSlot,
    ArgumentSlots,
    GlobSlot,
    ItemSlot,
    SlotSet,
)
from toolpolicy.engine.values import (
    Layer,
    OrderedRule,
    Rule,
    Subject,
)
from toolpolicy.engine.words import Effect, Mode, Scope, Surface

NOT_APPLIED: Final = -1
Context = Mapping[str, str]


class Applies(NamedTuple):
    """When a layer applies: its target over a context attribute, and its time span."""

    attribute: str
    target: GlobSlot | None
    valid_from: datetime | None
    valid_until: datetime | None

    @property
    def ends(self) -> bool:
        """Whether there is a time at which it does not apply."""
        return self.valid_from is not None or self.valid_until is not None

    def holds(self, context: Context, now: datetime | None) -> bool:
        """Tell whether the layer applies in this context, now."""
        if self.target is not None and not self.target.find(context.get(self.attribute)):
            return False
        if self.valid_from is not None and (now is None or now < self.valid_from):
            return False
        return self.valid_until is None or (now is not None and now < self.valid_until)


class Part(NamedTuple):
    """What a layer gives to the plan of one subject on one surface.

    It `varies` when anything is left to the call. `sure` rules fire whatever it is; `left` ones as
    its context (`whens`), clock (`timed`) and arguments (`arguments`) say, unless their exception
    carves them out (`carves`, for the rules in `carvable`). `waiting` are those of them that wait
    for arguments.
    """

    layer_index: int
    layer: Layer
    applies: Applies | None
    varies: bool
    sure: tuple[int, ...]
    left: int = 0
    waiting: int = 0
    carvable: int = 0
    whens: tuple[tuple[str, GlobSlot | ItemSlot], ...] = ()
    timed: tuple[tuple[int, datetime], ...] = ()
    arguments: tuple[ArgumentSlot, ...] = ()
    carves: tuple[ArgumentSlot, ...] = ()

    @property
    def keys(self) -> list[str]:
        """The context keys that it depends on."""
        target = [self.applies.attribute] if self.applies and self.applies.target else []
        return [*target, *(key for key, _ in self.whens)]

    @property
    def asked(self) -> tuple[ArgumentSlot, ...]:
        """The slots of the arguments that it depends on."""
        return self.arguments + self.carves

    @property
    def depends_on_time(self) -> bool:
        """Whether it depends on the time."""
        return bool(self.timed) or (self.applies is not None and self.applies.ends)

    def standing(self, context: Context, now: datetime | None) -> int:
        """Return the left rules that context and clock let stand; NOT_APPLIED without the layer."""
        if self.applies is not None and not self.applies.holds(context, now):
            return NOT_APPLIED
        bits = self.left
        for key, slot in self.whens:
            bits &= slot.find(context.get(key))
        for bit, end in self.timed:
            if now is None or now >= end:
                bits &= ~bit
        return bits

    def firing(self, context: Context, args: Any, now: datetime | None) -> int:
        """Return the left rules that fire on a call; NOT_APPLIED without the layer."""
        bits = self.standing(context, now)
        if bits <= 0:
            return bits
        for slot in self.arguments:
            bits &= slot.find_in(args)
        if self.carvable:
            carved = self.carvable
            for slot in self.carves:
                carved &= slot.find_in(args)
            bits &= ~carved
        return bits

    def fired(self, bits: int) -> Sequence[int]:
        """Return the numbers of the rules that fired, when of the left ones `bits` did."""
        return self.sure if not bits else sorted([*self.sure, *numbers_of(bits)])

    def enforced(self, bits: int) -> Sequence[int]:
        """Return those of them that do not observe."""
        rules = self.layer.rules
        return [number for number in self.fired(bits) if not rules[number].settings.observe]

    @property
    def enforces(self) -> bool:
        """Whether the layer does not observe as a whole."""
        return not self.layer.settings.observe


def numbers_of(bits: int) -> list[int]:
    """Return the numbers of the set bits, lowest first."""
    numbers = []
    while bits:
        low = bits & -bits
        numbers.append(low.bit_length() - 1)
        bits ^= low
    return numbers


Found = tuple[int, int]
"""The rules whose attributes are satisfied, and of them those that arguments can still carve out"""


class CompiledLayer:
    """A layer's rules as indexes.

    Whether `conditional` rules stand is left to context and clock; whether `waiting` ones match, to
    arguments.
    """

    def __init__(self, index: int, layer: Layer) -> None:
        self.index, self.layer = index, layer
        self._applies = _applies_of(layer)
        rules: Sequence[Rule | OrderedRule] = layer.rules
        live = [(number, rule) for number, rule in enumerate(rules) if _can_fire(rule)]
        everything = sum(1 << number for number, _ in live)
        carving = sum(
            1 << n for n, rule in live if isinstance(rule, Rule) and rule.exception is not None
        )
        self._match, self._except = SlotSet(everything), SlotSet(carving)
        self._on = dict.fromkeys(Surface, 0)
        self._whens: dict[str, GlobSlot | ItemSlot] = {}
        self._arguments, self._carves = ArgumentSlots(everything), ArgumentSlots(everything)
        self._timed: dict[int, datetime] = {}
        self.conditional = self.waiting = self._carvable = self._allows = 0
        for number, rule in live:
            self._add(1 << number, rule, everything)
        whens, timed = tuple(self._whens.items()), tuple(self._timed.items())
        self._conditionals = Part(
            *(index, layer, self._applies, True, (), self.conditional), whens=whens, timed=timed
        )

    def _add(self, bit: int, rule: Rule | OrderedRule, everything: int) -> None:
        if isinstance(rule, Rule):
            self._add_strict(bit, rule)
        else:
            for surface in Surface:
                self._on[surface] |= bit
            add_ordered_conditions(self._match, bit, rule.match)
        for key, patterns in rule.when:
            make = GlobSlot if isinstance(rule, Rule) else ItemSlot
            slot = self._whens.setdefault(key, make(everything))
            slot.add(bit, patterns)
        if rule.settings.expires_at is not None:
            self._timed[bit] = rule.settings.expires_at
        if rule.when or rule.settings.expires_at is not None:
            self.conditional |= bit

    def _add_strict(self, bit: int, rule: Rule) -> None:
        for surface in rule.on or Surface:
            self._on[surface] |= bit
        if rule.effect is Effect.ALLOW:
            self._allows |= bit
        fail_safe = self.layer.settings.fail_safe
        doubt = fail_safe and rule.effect.restricts
        if ask_arguments(self._arguments, bit, rule.match, doubt=doubt):
            self.waiting |= bit
        add_conditions(self._match, bit, rule.match, doubt=doubt)
        if rule.exception is not None:
            doubt = fail_safe and not rule.effect.restricts
            if ask_arguments(self._carves, bit, rule.exception, doubt=doubt):
                self._carvable |= bit
            add_conditions(self._except, bit, rule.exception, doubt=doubt)

    def find(self, subject: Subject) -> Found:
        """Return what a subject's attributes satisfy; the same on every surface."""
        bits = self._match.find(subject)
        carved = bits & self._except.everything
        if carved:
            carved &= self._except.find(subject)
            # Without a condition on arguments the exception holds already.
            bits &= ~(carved & ~self._carvable)
            carved &= self._carvable
        return bits, carved

    def part(self, found: Found, surface: Surface) -> Part:
        """Return what the layer says of such subjects on a surface, up to what the call settles."""
        bits, carved = found
        bits &= self._on[surface]
        if surface is Surface.CALL:
            carved &= bits
            waiting = bits & self.waiting | carved
        else:
            # An open argument condition is met for `allow` alone, and carves nothing.
            bits &= self._allows | ~self.waiting
            carved = waiting = 0
        left = bits & self.conditional | waiting
        sure = tuple(numbers_of(bits & ~left))
        applies = self._applies
        if not left:
            return Part(self.index, self.layer, applies, applies is not None, sure)
        return Part(
            self.index,
            self.layer,
            applies,
            True,  # noqa: FBT003  (so that it need not be asked for every call)
            sure,
            left,
            waiting,
            carved,
            tuple([(key, slot) for key, slot in self._whens.items() if ~slot.free & left]),
            tuple([(bit, end) for bit, end in self._timed.items() if bit & left]),
            self._arguments.asked_by(waiting),
            self._carves.asked_by(carved),
        )

    def standing(self, context: Context, now: datetime | None) -> int:
        """Return the rules that context and clock let stand, of all that ask about either."""
        return self._conditionals.standing(context, now)


def _can_fire(rule: Rule | OrderedRule) -> bool:
    if isinstance(rule, OrderedRule) and rule.mode is Mode.AUTO:
        return False
    return rule.settings.enabled


def _applies_of(layer: Layer) -> Applies | None:
    place = layer.settings
    scoped = place.scope is not Scope.CONFIG
    if not scoped and place.valid_from is None and place.valid_until is None:
        return None
    target = None
    if scoped:
        target = GlobSlot(0)
        target.add(1, place.target or ())
    return Applies(str(place.scope), target, place.valid_from, place.valid_until)
