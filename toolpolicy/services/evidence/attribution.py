"""Through which event each answer changed, found by halving what happened between two moments."""

from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from toolpolicy.services.decisions.facts import recalled
from toolpolicy.services.evidence.events import Event
from toolpolicy.services.live import Live
from toolpolicy.services.matrix import Said, answers

Tool = tuple[str, str]
Answers = Mapping[Tool, Said]
# Of a large policy and registry, one look at all answers takes a good part of a second.
MOST_LOOKS: Final = 60


def differing(one: Answers, other: Answers) -> set[Tool]:
    """Return the tools that are answered otherwise, or are there on one side alone."""
    return {tool for tool in {*one, *other} if one.get(tool) != other.get(tool)}


class Attribution:
    """Looks at the answers between events, no more often than `MOST_LOOKS`.

    Where the looks are used up, a tool's answer changed through one of several events. What changed
    with none of them did so as time went by; what changed there and back is not looked for.
    """

    def __init__(self, context: Mapping[str, str], start: Live, events: Sequence[Event]) -> None:
        self.context, self.events = context, events
        self.lives = [start]
        for event in events:
            self.lives.append(event.applied(self.lives[-1]))
        self.looks = MOST_LOOKS
        self.found: dict[Tool, list[Event]] = {}

    def through(self, first: Answers, last: Answers, until: datetime) -> dict[Tool, list[Event]]:
        """Return the events of each tool whose answer differs from the first to the last."""
        at_last = first
        if self.events:
            at_last = self._look(len(self.events), self.events[-1].at)
            self._search(first, at_last)
        self._note(differing(at_last, last), Event.time(until))
        return {tool: sorted(found, key=lambda one: one.at) for tool, found in self.found.items()}

    def _look(self, after: int, at: datetime) -> Answers:
        """Return the answers at a moment after so many events."""
        self.looks -= 1
        return answers(recalled(self.lives[after], at), self.context)

    def _search(self, old: Answers, new: Answers) -> None:
        """Halve every span of events over which answers changed, the long ones first."""
        spans = deque([(0, len(self.events), old, new)])
        while spans:
            first, last, old, new = spans.popleft()
            changed = differing(old, new)
            if not changed:
                continue
            if last - first == 1:
                self._tell(last, old, new)
            elif self.looks <= 0:
                self._note(changed, Event.one_of(self.events[first:last]))
            else:
                middle = (first + last) // 2
                between = self._look(middle, self.events[middle - 1].at)
                spans += [(first, middle, old, between), (middle, last, between, new)]

    def _tell(self, number: int, old: Answers, new: Answers) -> None:
        """Tell what one event changed from what time did until then."""
        event = self.events[number - 1]
        before = self._look(number - 1, event.at)
        self._note(differing(old, before), Event.time(event.at))
        self._note(differing(before, new), event)

    def _note(self, tools: set[Tool], event: Event) -> None:
        for tool in tools:
            self.found.setdefault(tool, []).append(event)
