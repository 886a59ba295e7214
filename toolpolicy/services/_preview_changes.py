"""Which answers differ between two policies: of some tools, in some contexts, before any call.

Contexts that neither policy tells apart have the same answers and are judged once.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from toolpolicy.engine.catalog import CallState, OpenRule
from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.evaluate import Judged
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Surface
from toolpolicy.services._preview_contexts import Asker
from toolpolicy.services.live import SHOWN

MOST_KINDS: Final = 20
"""How many kinds of context are judged: those that at least one of the policies tells apart."""

_STRICTNESS: Final = {CallState.ALLOWED: 0, CallState.NEEDS_APPROVAL: 1, CallState.REFUSED: 2}
Group = tuple[tuple[Asker, ...], Mapping[str, str]]


class Answer(NamedTuple):
    """What a call of a tool meets, its arguments unknown, and which listings show the tool."""

    call: CallState
    listed: tuple[Surface, ...]


class Wider(StrEnum):
    """Whether one answer admits or shows more than another."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Change:
    """Tools whose answer changes in the same way for the same askers."""

    askers: tuple[Asker, ...]
    before: Answer
    after: Answer
    tools: tuple[Entry, ...]

    @property
    def wider(self) -> Wider:
        """Whether it admits or shows something new."""
        return wider(self.before, self.after)


def wider(before: Answer, after: Answer) -> Wider:
    """Tell whether the second answer admits or shows what the first does not."""
    if not set(after.listed) <= set(before.listed):
        return Wider.YES
    old, new = _STRICTNESS.get(before.call), _STRICTNESS.get(after.call)
    if old is not None and new is not None:
        return Wider.YES if new < old else Wider.NO
    if before.call is CallState.REFUSED or after.call is CallState.ALLOWED:
        return Wider.YES  # some arguments were refused, or asked about, and now are not
    certain = before.call is CallState.ALLOWED or after.call is CallState.REFUSED
    return Wider.NO if certain else Wider.UNKNOWN


class Comparison:
    """Two policies side by side at one moment."""

    def __init__(self, before: CompiledPolicy, after: CompiledPolicy, now: datetime) -> None:
        self._policies, self._now = (before, after), now

    def kinds(self, asked: Iterable[tuple[Asker, Mapping[str, str]]]) -> list[Group]:
        """Return the contexts, those together that neither policy tells apart."""
        alike: dict[object, tuple[list[Asker], Mapping[str, str]]] = {}
        for asker, context in asked:
            key = tuple(policy.standing(context, self._now) for policy in self._policies)
            alike.setdefault(key, ([], context))[0].append(asker)
        return [(tuple(dict.fromkeys(askers)), context) for askers, context in alike.values()]

    def changes(self, entries: Sequence[Entry], groups: Iterable[Group]) -> list[Change]:
        """Return what changes, most tools first; where the same changes, askers stand together."""
        same: dict[tuple[Answer, Answer, tuple[int, ...]], list[Asker]] = defaultdict(list)
        for askers, context in groups:
            for (before, after), numbers in self._differing(entries, context).items():
                same[before, after, tuple(numbers)] += askers
        found = [
            Change(tuple(askers), before, after, tuple(entries[n] for n in numbers))
            for (before, after, numbers), askers in same.items()
        ]
        return sorted(found, key=lambda change: (change.wider is not Wider.YES, -len(change.tools)))

    def _differing(
        self, entries: Sequence[Entry], context: Mapping[str, str]
    ) -> dict[tuple[Answer, Answer], list[int]]:
        found: dict[tuple[Answer, Answer], list[int]] = defaultdict(list)
        for number, entry in enumerate(entries):
            (before, waits), (after, waits_now) = self._answers(entry, context)
            if before != after or waits != waits_now:
                found[before, after].append(number)
        return found

    def _answers(
        self, entry: Entry, context: Mapping[str, str]
    ) -> Iterator[tuple[Answer, frozenset[object]]]:
        judged = Judged(entry.subject, ABSENT, entry.floor)
        for policy in self._policies:
            state, opened = policy.call_state(judged, context, now=self._now)
            listed = tuple(
                surface
                for surface, shown in SHOWN.items()
                if (entry.subject.exposure or shown[0]) in shown
                and policy.judge((judged,), context, surface, self._now).visible
            )
            yield Answer(state, listed), frozenset(map(_waiting, opened))


def _waiting(rule: OpenRule) -> object:
    """Return what of an open rule is the same under both policies: its number is not."""
    return rule.layer, rule.id, rule.effect, rule.arguments
