"""Which answers differ between two versions: over every registered tool and every known agent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from toolpolicy.admin.answers_shown import AnswerShown
from toolpolicy.engine.faults import printable
from toolpolicy.engine.words import Outcome, Scope
from toolpolicy.services import seen
from toolpolicy.services.matrix import Matrix, Said

MOST_AGENTS: Final = 20
MOST_TOOLS: Final = 2_000
MOST_SAMPLES: Final = 8
_RANKS: Final = {Outcome.DENY: 0, Outcome.NEEDS_APPROVAL: 1, Outcome.ALLOW: 2}


class Sample(NamedTuple):
    """One call that is answered otherwise; `listing`: in whether it is listed."""

    tool: str
    agent: str
    before: AnswerShown | None
    after: AnswerShown | None
    listing: bool


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
        """Compare two versions, neither of which has to be live. Queries as `Matrix.of`, twice."""
        old, new = (Matrix.of(now=now, version=number) for number in (before, after))
        agents = sorted({*seen.values(Scope.AGENT), *new.named(Scope.AGENT)}) or [""]
        kept, entries = agents[:MOST_AGENTS], new.entries[:MOST_TOOLS]
        contexts = [{"agent": agent} if agent else {} for agent in kept]
        moved = [
            (entry.name, agent, was, now_)
            for agent, context in zip(kept, contexts, strict=True)
            for entry, was, now_ in zip(
                entries, *(one.said(entries, context) for one in (old, new)), strict=True
            )
            if was != now_
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


def _sample(tool: str, agent: str, was: Said, now: Said) -> Sample:
    before = AnswerShown.of(was, was.open_unlike(now))
    after = AnswerShown.of(now, now.open_unlike(was))
    # A refused tool is not listed either, which goes without saying.
    listing = was.outcome is now.outcome and was.listed != now.listed
    return Sample(printable(tool), printable(agent), before, after, listing)
