"""Noting what rules ask for, in the slots of their layer."""

from collections.abc import Iterable, Sequence

from toolpolicy.engine.pointers import tokens
from toolpolicy.engine.slots import (
    READ,
    AnyOfSlot,
    ArgumentSlots,
    GlobSlot,
    ItemSlot,
    KnownSlot,
    Read,
    SlotSet,
    TagItemSlot,
    TagSlot,
)
from toolpolicy.engine.values import (
    AnySideEffect,
    AnyTagIs,
    ArgumentIs,
    Condition,
    HintIs,
    OneOf,
    OrderedCondition,
    PermissionIs,
    Selector,
    TextIs,
)
from toolpolicy.engine.words import Permission


def ask_arguments(
    slots: ArgumentSlots, bit: int, conditions: Iterable[Condition], *, doubt: bool
) -> bool:
    """Note a rule's argument conditions; tell whether it has any."""
    asks = False
    for condition in conditions:
        if isinstance(condition, ArgumentIs):
            path = tuple(tokens(condition.pointer))
            slots.slot(path).ask(bit, condition.patterns, doubt=doubt)
            asks = True
    return asks


def add_conditions(
    slots: SlotSet, bit: int, conditions: Sequence[Condition], *, doubt: bool
) -> None:
    """Note a strict rule's conditions on attributes (its arguments stand in slots of their own)."""
    for condition in conditions:
        if isinstance(condition, (TextIs, AnyTagIs)):
            _ask_globs(slots, bit, condition)
        elif isinstance(condition, (OneOf, AnySideEffect, HintIs)):
            _ask_known(slots, bit, condition, doubt=doubt)
    bounds = [condition for condition in conditions if isinstance(condition, PermissionIs)]
    if bounds:
        levels = [level for level in Permission if all(_admits(b, level) for b in bounds)]
        slots.slot("permission", KnownSlot).add(bit, levels, doubt=doubt)


def _ask_globs(slots: SlotSet, bit: int, condition: TextIs | AnyTagIs) -> None:
    if isinstance(condition, TextIs):
        slots.slot(condition.field, GlobSlot).add(bit, condition.patterns)
    else:
        slots.slot("tags", TagSlot).add(bit, condition.patterns)


def _ask_known(
    slots: SlotSet, bit: int, condition: OneOf | AnySideEffect | HintIs, *, doubt: bool
) -> None:
    match condition:
        case OneOf(name, values):
            slots.slot(name, KnownSlot).add(bit, values, doubt=doubt)
        case AnySideEffect(flags):
            slots.slot("side_effects", AnyOfSlot).add(bit, flags, doubt=doubt)
        case _:
            slot = slots.slot(f"hints.{condition.hint}", KnownSlot)
            slot.add(bit, [condition.value], doubt=doubt)


def _admits(bound: PermissionIs, level: Permission) -> bool:
    gap = level.rank - bound.level.rank
    return gap >= 0 if bound.or_higher else gap <= 0


def add_ordered_conditions(
    slots: SlotSet, bit: int, conditions: Iterable[OrderedCondition]
) -> None:
    """Note an ordered rule's conditions; an absent text is the empty one, an unknown hint fails."""
    for condition in conditions:
        match condition:
            case HintIs(hint, value):
                slots.slot(f"hints.{hint}", KnownSlot).add(bit, [value], doubt=False)
            case Selector("tags", patterns):
                slots.slot("tags", TagItemSlot).add(bit, patterns)
            case _:
                read = _or_empty(READ[condition.field])
                slots.slot(condition.field, ItemSlot, read).add(bit, condition.patterns)


def _or_empty(read: Read) -> Read:
    return lambda subject: read(subject) or ""
