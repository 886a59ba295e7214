"""Which answers differ between two versions: over every registered tool and every known agent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from toolpolicy.admin.marks import OUTCOMES
from toolpolicy.admin.words import Words
from toolpolicy.engine.faults import printable
from toolpolicy.engine.words import Outcome, Scope
from toolpolicy.services import seen
from toolpolicy.services.matrix import Cell, Matrix

MOST_AGENTS: Final = 20
MOST_TOOLS: Final = 2_000
MOST_SAMPLES: Final = 8
_RANKS: Final = {Outcome.DENY: 0, Outcome.NEEDS_APPROVAL: 1, Outcome.ALLOW: 2}


class Sample(NamedTuple):
    """One call that is answered otherwise: (word, shape, colours) before and after."""

    tool: str
    agent: str
    before: tuple[Words, str, str]
    after: tuple[Words, str, str]
    depends: bool


@dataclass(frozen=True, kw_only=True)
class Effects:
    """How many calls each version answers otherwise, and some of them.

    `otherwise` are those with the same outcome that depend on other arguments, or are listed where
    they were not. `left_out` says that not every agent or tool was tried.
    """

    tried: int
    looser: int
    stricter: int
    otherwise: int
    samples: list[Sample]
    left_out: bool

    @classmethod
    def of(cls, *, before: int, after: int, now: datetime) -> "Effects":
        """Compare two versions, neither of which has to be live. Queries as `Matrix.of`."""
        new = Matrix.of(now=now, version=after, since=before)
        old = Matrix.of(now=now, version=before)
        agents = sorted({*seen.values(Scope.AGENT), *new.named(Scope.AGENT)}) or [""]
        kept, entries = agents[:MOST_AGENTS], new.entries[:MOST_TOOLS]
        contexts = [{"agent": agent} if agent else {} for agent in kept]
        columns = (old.columns(entries, contexts), new.columns(entries, contexts))
        moved = [
            (entry.name, agent, was, now_)
            for agent, then, these in zip(kept, *columns, strict=True)
            for entry, was, now_ in zip(entries, then, these, strict=True)
            if now_.changed
        ]
        ways = [_RANKS[now_.outcome] - _RANKS[was.outcome] for _, _, was, now_ in moved]
        # What loosens is looked at first.
        moved.sort(key=lambda one: _RANKS[one[2].outcome] - _RANKS[one[3].outcome])
        return cls(
            tried=len(kept) * len(entries),
            looser=sum(way > 0 for way in ways),
            stricter=sum(way < 0 for way in ways),
            otherwise=sum(way == 0 for way in ways),
            samples=[_sample(*one) for one in moved[:MOST_SAMPLES]],
            left_out=len(agents) > len(kept) or len(new.entries) > len(entries),
        )

    @property
    def changed(self) -> int:
        """How many are answered otherwise."""
        return self.looser + self.stricter + self.otherwise


def _sample(tool: str, agent: str, was: Cell, now: Cell) -> Sample:
    before, after = OUTCOMES[was.outcome], OUTCOMES[now.outcome]
    return Sample(printable(tool), printable(agent), before, after, was.depends or now.depends)
