"""The listing of one row of subjects, known by what context and clock let stand.

On a listing no arguments are known, so nothing else can change it. A host that asks again for an
agent, or for another that the rules do not tell from it, is answered from memory; one that does
not, from the sets of `compiled_sheet`, all subjects at once. Those that sets do not settle are
judged one by one.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple

from toolpolicy.engine.catalog import CallState, Listed
from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.compiled_layers import NOT_APPLIED, numbers_of
from toolpolicy.engine.compiled_sheet import Sheet
from toolpolicy.engine.evaluate import Judged, asks_person
from toolpolicy.engine.indexes import keep
from toolpolicy.engine.words import Approval, Effect, ReasonCode, Surface

KEPT: Final = 100_000
"""How many answers are remembered, over all contexts that the rules tell apart."""

Key = tuple[int, ...]


class Row(NamedTuple):
    """One subject of the listing; `depends` as `catalog.list_subject` has it."""

    judged: Judged
    depends: bool = False


class _Sets(NamedTuple):
    """The rows that each answer is for; of several, the last named here counts."""

    needs_approval: int
    refused: int
    depends: int
    hidden: int
    by_default: int
    by_rule: int


_ANSWERS: Final = (
    Listed(CallState.NEEDS_APPROVAL),
    Listed(CallState.REFUSED),
    Listed(CallState.DEPENDS_ON_ARGUMENTS),
    Listed(None, withheld=ReasonCode.HIDDEN),
    Listed(None, withheld=ReasonCode.LAYER_DEFAULT),
    Listed(None, withheld=ReasonCode.RULE_DENIED),
)


class CompiledListing:
    """A row of subjects before one policy on one listing surface. Threads may share it."""

    def __init__(self, policy: CompiledPolicy, surface: Surface, rows: Sequence[Row]) -> None:
        self._policy, self._surface, self._rows = policy, surface, tuple(rows)
        self._most = max(1, KEPT // max(1, len(self._rows)))
        self._seen: dict[Key, tuple[Listed, ...]] = {}

    def answers(self, context: Mapping[str, str], now: datetime | None) -> tuple[Listed, ...]:
        """List each subject, in order, as `catalog.list_subject` does."""
        key = self._policy.standing(context, now)
        found = self._seen.get(key)
        if found is None:
            found = keep(self._seen, key, self._list(key, context, now), most=self._most)
        return found

    def some(
        self, numbers: Iterable[int], context: Mapping[str, str], now: datetime | None
    ) -> list[Listed]:
        """List some of the subjects: from memory where all were listed, else one by one."""
        found = self._seen.get(self._policy.standing(context, now))
        if found is not None:
            return [found[number] for number in numbers]
        return [self._answer(number, context, now) for number in numbers]

    def _answer(self, number: int, context: Mapping[str, str], now: datetime | None) -> Listed:
        judged, depends = self._rows[number]
        return self._policy.list_subject(
            *(judged.subject, context, self._surface), now=now, depends=depends, floor=judged.floor
        )

    def _list(
        self, key: Key, context: Mapping[str, str], now: datetime | None
    ) -> tuple[Listed, ...]:
        answers = [Listed(CallState.ALLOWED)] * len(self._rows)
        for rows, answer in zip(self._sets(key), _ANSWERS, strict=True):
            for number in numbers_of(rows):
                answers[number] = answer
        for number in numbers_of(self._unsettled(key)):
            answers[number] = self._answer(number, context, now)
        return tuple(answers)

    @cached_property
    def _sheets(self) -> list[tuple[int, Sheet]]:
        """Each layer that enforces, with its place in a key."""
        subjects = [row.judged.subject for row in self._rows]
        return [
            (place, Sheet(layer, self._surface, subjects))
            for place, layer in enumerate(self._policy.layers)
            if not layer.layer.settings.observe
        ]

    def _applied(self, key: Key) -> list[tuple[Sheet, int]]:
        pairs = [(sheet, key[place]) for place, sheet in self._sheets]
        return [(sheet, standing) for sheet, standing in pairs if standing != NOT_APPLIED]

    def _unsettled(self, key: Key) -> int:
        some = 0
        for sheet, standing in self._applied(key):
            some |= sheet.unsettled(standing)
        return some

    def _sets(self, key: Key) -> _Sets:
        hidden = by_rule = by_default = refused = 0
        required, waived = self._rows_with(Approval.REQUIRED), self._rows_with(Approval.WAIVED)
        for sheet, standing in self._applied(key):
            fired = sheet.on_listing(standing)
            # The first layer that refuses is reported, and a refusal before a mere hide.
            new = sheet.refused(fired) & ~(by_rule | by_default)
            by_rule |= new & fired[Effect.DENY]
            by_default |= new & ~fired[Effect.DENY]
            hidden |= fired[Effect.HIDE]
            fired = sheet.on_calls(standing)
            refused |= sheet.refused(fired)
            required |= fired[Effect.REQUIRE_APPROVAL]
            if sheet.waives:
                waived |= fired[Effect.AUTO_APPROVE] & ~fired[Effect.REQUIRE_APPROVAL]
        needs = required | self._asking & ~waived
        return _Sets(needs, refused, self._depending, hidden, by_default, by_rule)

    def _rows_with(self, floor: Approval) -> int:
        return sum(1 << at for at, row in enumerate(self._rows) if row.judged.floor is floor)

    @cached_property
    def _asking(self) -> int:
        """The rows whose tools ask a person unless a rule says otherwise."""
        asks = [asks_person(Approval.DEFAULT, row.judged.subject) for row in self._rows]
        return sum(1 << number for number, asking in enumerate(asks) if asking)

    @cached_property
    def _depending(self) -> int:
        return sum(1 << number for number, row in enumerate(self._rows) if row.depends)
