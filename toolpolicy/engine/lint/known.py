"""What lint knows: a policy over the registered tools, each rule with the tools it matches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.compiled_layers import CompiledLayer
from toolpolicy.engine.compiled_sheet import turned
from toolpolicy.engine.lint.conditions import target_of
from toolpolicy.engine.lint.implied import Implied
from toolpolicy.engine.lint.placed import Firing, Placed
from toolpolicy.engine.lint.rows import bits, rows_of
from toolpolicy.engine.registry import Registry
from toolpolicy.engine.values import Layer, OrderedRule, Policy, Rule
from toolpolicy.engine.words import Surface


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What callers sent: context keys, None where not all are kept; values of keys, all of them."""

    keys: frozenset[str] | None = None
    values: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is linted, and by what: the moment, what callers sent, the baseline as installed."""

    policy: Policy
    registry: Registry
    now: datetime
    seen: Seen = field(default_factory=Seen)
    baseline: tuple[Layer, ...] = ()


class Known:
    """A question with everything that all checks ask of it, worked out once."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.now = question.now
        self.seen_keys, self.seen_values = question.seen.keys, dict(question.seen.values)
        self.policy = CompiledPolicy(question.policy)
        self.rows = [row for entry in question.registry for row in rows_of(entry)]
        self.asked = {surface: bits(surface in row.on for row in self.rows) for surface in Surface}

    def names(self, rows: int, most: int = 5) -> list[str]:
        """Return the names of the first tools of these rows, each once."""
        named: dict[str, None] = {}
        while rows and len(named) < most:
            low = rows & -rows
            named[self.rows[low.bit_length() - 1].name] = None
            rows ^= low
        return list(named)

    @cached_property
    def everyone(self) -> int:
        """All rows."""
        return (1 << len(self.rows)) - 1

    @cached_property
    def shown(self) -> dict[Surface, int]:
        """The rows of the tools that stand on each surface."""
        return {
            surface: rows & bits(row.stands_on(surface) for row in self.rows)
            for surface, rows in self.asked.items()
        }

    @cached_property
    def layers(self) -> list[CompiledLayer]:
        """The layers that can apply from now on, in the order of application."""
        return [
            layer
            for layer in self.policy.layers
            if not _over(layer.layer.settings.valid_until, self.now)
            and layer.layer.settings.target != ()
        ]

    @cached_property
    def implied(self) -> Implied:
        """What holds of the context wherever something else does."""
        targets = (asks for layer in self.layers for asks in target_of(layer.layer))
        return Implied((*targets, *(asks for placed in self.rules for asks in placed.box)))

    @cached_property
    def rules(self) -> list[Placed]:
        """Every rule of theirs that is switched on and not over, in order."""
        return [
            rule for place, layer in enumerate(self.layers) for rule in self._placed(place, layer)
        ]

    def is_installed(self, placed: Placed) -> bool:
        """Tell whether a rule is one of the baseline, as it was installed."""
        return any(
            layer.name == placed.layer.name and placed.rule in layer.rules
            for layer in self.question.baseline
        )

    @property
    def strict(self) -> Iterator[Placed]:
        """Those of strict layers."""
        return (placed for placed in self.rules if isinstance(placed.rule, Rule))

    @property
    def ordered(self) -> Iterator[Placed]:
        """Those of ordered layers."""
        return (placed for placed in self.rules if isinstance(placed.rule, OrderedRule))

    def _placed(self, place: int, layer: CompiledLayer) -> Iterator[Placed]:
        satisfied, carvable = turned(layer, [row.subject for row in self.rows])
        rules: Sequence[Rule | OrderedRule] = layer.layer.rules
        for number, rule in enumerate(rules):
            if not rule.settings.enabled or _over(rule.settings.expires_at, self.now):
                continue
            yield Placed(
                place=place,
                layer=layer.layer,
                rule=rule,
                number=number,
                waits=bool(layer.waiting >> number & 1),
                rows=satisfied.get(number, 0),
                carvable=carvable.get(number, 0),
            )

    def firing(self, placed: Placed, surface: Surface) -> list[Firing]:
        """Return what a rule fires on, on one surface, by what it waits for."""
        return placed.firing(surface, self.asked[surface])


def _over(end: datetime | None, now: datetime) -> bool:
    return end is not None and end <= now
