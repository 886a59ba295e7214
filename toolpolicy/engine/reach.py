"""Which tools the rules of a layer are about: by what the tools are, before any call is made.

Switches, ends, surfaces, context and arguments are left out: they say when a rule counts, not for
which tools it is written. A tool that no rule reaches is answered alike with and without them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from toolpolicy.engine.compiled_layers import CompiledLayer, numbers_of
from toolpolicy.engine.values import PLAIN, Layer, OrderedLayer, OrderedRule, Rule, Subject
from toolpolicy.engine.words import Mode


def reach(layer: Layer, subjects: Iterable[Subject]) -> list[list[int]]:
    """Return for each rule the numbers of the subjects that it can fire on, in order.

    Where the layer is fail-safe, what a tool does not say of itself counts as in a decision.
    """
    compiled = CompiledLayer(0, with_rules(layer, [switched_on(rule) for rule in layer.rules]))
    found: list[list[int]] = [[] for _ in layer.rules]
    for number, subject in enumerate(subjects):
        for rule in numbers_of(compiled.find(subject)[0]):
            found[rule].append(number)
    return found


def with_rules(layer: Layer, rules: Sequence[Rule | OrderedRule]) -> Layer:
    """Return the layer with these rules, which are of its kind, in place of its own."""
    if isinstance(layer, OrderedLayer):
        return replace(layer, rules=tuple(one for one in rules if isinstance(one, OrderedRule)))
    return replace(layer, rules=tuple(one for one in rules if isinstance(one, Rule)))


def switched_on(rule: Rule | OrderedRule) -> Rule | OrderedRule:
    """Return the rule without switches and end; one of mode `auto` would never fire otherwise."""
    if isinstance(rule, OrderedRule):
        return replace(rule, settings=PLAIN, mode=Mode.ON)
    return replace(rule, settings=PLAIN)
