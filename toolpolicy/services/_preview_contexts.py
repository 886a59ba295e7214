"""The contexts in which an edited rule can count: who asks, from where, as callers really sent it.

Where nobody ever sent a value that the layer or the rule asks for, one that fits is made up and
told apart, so that an edit for a future agent is previewed too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple

from toolpolicy.engine.globs import any_glob
from toolpolicy.engine.matchitems import match_items
from toolpolicy.engine.narrowing import AnyRule
from toolpolicy.engine.values import Layer, OrderedRule, Patterns
from toolpolicy.engine.words import Scope

MOST_COMBINED: Final = 1_000
"""How many combinations of agents, channels and what else the rule asks are looked at."""
MOST_VALUES: Final = 3
"""Of a key that is neither agent nor channel."""
WHO: Final = ("agent", "channel")


class Asker(NamedTuple):
    """Who asks and from where; `made_up` when no caller ever sent this."""

    agent: str | None
    channel: str | None
    made_up: bool = False


@dataclass(frozen=True, slots=True)
class Contexts:
    """What is compared, and how many further combinations of what callers sent are not."""

    asked: tuple[tuple[Asker, dict[str, str]], ...]
    left_out: int


def keys_of(layer: Layer, rules: Iterable[AnyRule]) -> list[str]:
    """Return the context keys on which it depends whether one of the rules counts; `WHO` first."""
    scope = layer.settings.scope
    keys = [*WHO, *([] if scope is Scope.CONFIG else [str(scope)])]
    return list(dict.fromkeys([*keys, *(key for rule in rules for key, _ in rule.when)]))


def contexts(layer: Layer, rules: Sequence[AnyRule], seen: Mapping[str, Sequence[str]]) -> Contexts:
    """Return the contexts in which one of the rules can count; `seen` has values by key."""
    keys = keys_of(layer, rules)
    choices = [_choices(key, layer, rules, seen.get(key, ())) for key in keys]
    every = 1
    for values in choices:
        every *= len(values)
    # In diagonals, so that what is left out is neither all agents nor all channels.
    agents, channels = (
        range(min(len(values), MOST_COMBINED // min(len(other) or 1, 10)))
        for values, other in (choices[:2], choices[1::-1])
    )
    pairs = sorted(product(agents, channels), key=sum)
    found = [
        _asked(keys, (choices[0][one], choices[1][two], *rest))
        for one, two in pairs
        for rest in product(*choices[2:])
    ]
    return Contexts(tuple(found[:MOST_COMBINED]), every - len(found[:MOST_COMBINED]))


Value = tuple[str | None, bool]
"""A value, None for an absent key; and whether it was made up."""


def _asked(keys: Sequence[str], values: Sequence[Value]) -> tuple[Asker, dict[str, str]]:
    context = {
        key: value for key, (value, _) in zip(keys, values, strict=True) if value is not None
    }
    made_up = any(made for _, made in values)
    return Asker(context.get("agent"), context.get("channel"), made_up), context


def _choices(key: str, layer: Layer, rules: Sequence[AnyRule], seen: Sequence[str]) -> list[Value]:
    """Return the values of one key with which the layer applies and some rule's `when` can hold."""
    fits = _fitting(key, layer, rules)
    values: list[Value] = [(value, False) for value in seen if fits(value)]
    if key not in WHO:
        values = values[:MOST_VALUES]
    if not values and (made := next(filter(fits, _witnesses(key, layer, rules)), None)) is not None:
        values = [(made, True)]
    return [*values, *([(None, False)] if fits(None) else [])]


def _fitting(key: str, layer: Layer, rules: Sequence[AnyRule]) -> Callable[[str | None], bool]:
    target = layer.settings.target if key == layer.settings.scope else None

    def fits(value: str | None) -> bool:
        if target is not None and (value is None or not any_glob(target, value)):
            return False
        return any(_meets(rule, key, value) for rule in rules)

    return fits


def _meets(rule: AnyRule, key: str, value: str | None) -> bool:
    patterns = dict(rule.when).get(key)
    if patterns is None:
        return True
    if value is None:
        return False
    ordered = isinstance(rule, OrderedRule)
    return match_items(value, patterns) if ordered else any_glob(patterns, value)


def _witnesses(key: str, layer: Layer, rules: Sequence[AnyRule]) -> Iterable[str]:
    """Yield texts that patterns over this key may match: their stars stand for nothing."""
    asked: list[Patterns] = [layer.settings.target or ()] if key == layer.settings.scope else []
    asked += [patterns for rule in rules for name, patterns in rule.when if name == key]
    for patterns in asked:
        for pattern in patterns:
            for piece in (pattern, *pattern.split(",")):
                yield piece.strip().replace("*", "").replace("?", "x") or "x"
