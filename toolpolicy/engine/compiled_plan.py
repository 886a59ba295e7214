"""Plans: what a policy says of subjects alike to it, up to what a call settles.

What fired rules *say* comes from the reference (`evaluate`, `ordered`, `catalog`).
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from toolpolicy.engine.catalog import CallState, OpenRule, Survey, state_of
from toolpolicy.engine.compiled_layers import NOT_APPLIED, Context, Part
from toolpolicy.engine.decision import Decision
from toolpolicy.engine.evaluate import Judged, Settled, decision_of, settle_one, strict_says
from toolpolicy.engine.matching import scalar_text
from toolpolicy.engine.ordered import Matched, list_says
from toolpolicy.engine.pointers import Missing, follow
from toolpolicy.engine.says import Says
from toolpolicy.engine.values import ABSENT, OrderedLayer, StrictLayer, Subject
from toolpolicy.engine.words import Surface

KEPT: Final = 256
"""How many answers a plan remembers, each for another set of left rules that fired."""

Key = tuple[int, ...]
"""Of each varying part, the left rules that fired."""

State = tuple[CallState, tuple[OpenRule, ...]]

Fired = Sequence[tuple[Part, Sequence[int]]]
"""The parts that count, each with the numbers of its rules that fired."""


class Outcome(NamedTuple):
    """One subject's answer, by itself, and settled with and without the observing parts."""

    decision: Decision
    enforced: Settled
    told: Settled


class _Inputs(NamedTuple):
    """What an answer depends on beside the subject: context keys, arguments, the time."""

    keys: tuple[str, ...]
    pointers: tuple[tuple[str, ...], ...]
    time: bool


class Plan:
    """What a policy says of all subjects alike to it on one surface, up to what a call settles."""

    __slots__ = ("_inputs", "outcomes", "parts", "states", "surface", "varying")

    def __init__(self, surface: Surface, parts: tuple[Part, ...]) -> None:
        self.surface, self.parts = surface, parts
        self.varying = tuple([part for part in parts if part.varies])
        self.outcomes: dict[Key, Outcome] = {}
        self.states: dict[Key, State] = {}
        self._inputs: _Inputs | None = None

    def asked(self, context: Context, args: Any) -> tuple[Any, ...] | None:
        """Return all that the answer to a call depends on; None where that is no few texts."""
        inputs = self._inputs
        if inputs is None:
            inputs = self._inputs = self._read_inputs()
        if inputs.time:
            return None
        values: list[Any] = [self, *[context.get(key) for key in inputs.keys]]
        for tokens in inputs.pointers:
            found = Missing.BLOCKED if args is ABSENT else follow(tokens, args)
            if isinstance(found, Missing):
                values.append(found)
                continue
            text = scalar_text(found.value)
            if text is None:
                return None
            values.append(text)
        return tuple(values)

    def _read_inputs(self) -> _Inputs:
        keys: dict[str, None] = {}
        pointers: dict[tuple[str, ...], None] = {}
        for part in self.varying:
            keys.update(dict.fromkeys(part.keys))
            pointers.update(dict.fromkeys([slot.tokens for slot in part.asked]))
        return _Inputs(
            tuple(keys), tuple(pointers), any(part.depends_on_time for part in self.varying)
        )

    def applied(self, key: Key) -> list[tuple[Part, int]]:
        """Return the parts that apply, each with the bits of its left rules that fired."""
        if not key:
            return [(part, 0) for part in self.parts]
        bits = iter(key)
        found = [(part, next(bits) if part.varies else 0) for part in self.parts]
        return [pair for pair in found if pair[1] != NOT_APPLIED]

    def settle(self, judged: Judged, key: Key, *, observes: bool) -> Outcome:
        """Settle a subject once it is known what fired; `observes` as the policy does."""
        applied = self.applied(key)
        told = self._settled(judged, [(part, part.fired(bits)) for part, bits in applied])
        enforced = told
        if observes:
            counted = [(part, part.enforced(bits)) for part, bits in applied if part.enforces]
            enforced = self._settled(judged, counted)
        decision = decision_of(self.surface, [enforced], [told] if observes else None)
        return Outcome(decision, enforced, told)

    def _settled(self, judged: Judged, fired: Fired) -> Settled:
        said = []
        ordered = False
        for part, numbers in fired:
            layer = part.layer
            if isinstance(layer, StrictLayer):
                said.append(strict_says(part.layer_index, layer, numbers, self.surface))
            else:
                ordered = True
        if ordered:
            said.append(_list_says(judged.subject, fired))
        return settle_one(said, judged.subject, judged.floor)

    def state(self, judged: Judged, key: Key) -> State:
        """Say what a call meets, arguments unknown; `key` is of the left rules that stand."""
        applied = [pair for pair in self.applied(key) if pair[0].enforces]
        said = _list_says(judged.subject, [(part, part.enforced(bits)) for part, bits in applied])
        surveys = [
            _survey(part, part.layer, bits)
            for part, bits in applied
            if isinstance(part.layer, StrictLayer)
        ]
        return state_of(surveys, said, judged)


def _list_says(subject: Subject, fired: Fired) -> Says:
    matched, layers = [], []
    for part, numbers in fired:
        layer = part.layer
        if isinstance(layer, OrderedLayer):
            layers.append(layer)
            matched += [Matched(part.layer_index, layer, number) for number in numbers]
    return list_says(matched, layers, subject)


def _survey(part: Part, layer: StrictLayer, bits: int) -> Survey:
    survey = Survey(layer)
    for number in part.enforced(bits):
        survey.note(number, waits=bool(part.waiting >> number & 1))
    return survey
