"""Which rules touch which registered tools: from the indexes that decisions are made by.

A rule touches a tool when the tool's attributes satisfy it, whatever else the rule asks for: an
agent, a time, an argument, a surface. Rules that are switched off touch nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from django.utils import timezone

from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.compiled_layers import numbers_of
from toolpolicy.engine.privilege import Privilege
from toolpolicy.engine.values import Layer, OrderedRule, Rule, Subject
from toolpolicy.services import registry_store
from toolpolicy.services.live import KEPT, compiled, read_live
from toolpolicy.services.made_once import made_once

Tool = tuple[str, str]
"""Family and name."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One rule of one layer."""

    layer: Layer
    number: int

    @property
    def rule(self) -> Rule | OrderedRule:
        """The rule itself."""
        return self.layer.rules[self.number]


@dataclass(frozen=True, slots=True)
class Touching:
    """The rules of a policy over the tools of a registry: a number of bits a layer and tool."""

    ready: CompiledPolicy
    found: Mapping[Tool, tuple[int, ...]]

    def count(self, family: str, name: str) -> int:
        """Return how many rules touch a tool; none for one that is not registered."""
        return sum(bits.bit_count() for bits in self.found.get((family, name), ()))

    def rules(self, family: str, name: str) -> Iterator[Touch]:
        """Yield the rules that touch a tool, layer by layer as they apply."""
        for layer, bits in zip(self.ready.layers, self.found.get((family, name), ()), strict=False):
            for number in numbers_of(bits):
                yield Touch(layer.layer, number)

    def count_as(self, subject: Subject, privilege: Privilege) -> int:
        """Return how many rules would touch a tool that is judged as this subject."""
        return sum(bits.bit_count() for bits in _bits(self.ready, subject, privilege))


def touching() -> Touching:
    """Return what touches what in the live policy. One query, and those of `live.compiled`."""
    state = read_live(timezone.now())
    return _touching(state.policy, state.registry)


@made_once(kept=KEPT)
def _touching(policy: str, registry: str) -> Touching:
    ready = compiled(policy, registry)
    entries = registry_store.load(registry)
    found = {(one.family, one.name): _bits(ready, one.subject, one.privilege) for one in entries}
    return Touching(ready, found)


def _bits(ready: CompiledPolicy, subject: Subject, privilege: Privilege) -> tuple[int, ...]:
    """Return the touching rules of each layer. Arguments can raise the permission."""
    levels = {rule.level for rule in privilege}
    found = []
    for layer in ready.layers:
        bits = layer.find(subject)[0]
        for level in levels:
            bits |= layer.find(replace(subject, permission=level))[0]
        found.append(bits)
    return tuple(found)
