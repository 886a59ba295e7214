"""Processes that decide and seal are killed without a warning: no answer is lost, no gap left."""

import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from tests.soak import children, work

FOREVER: Final = 3600.0
WRITERS: Final = 3
SEALERS: Final = 1


@dataclass(frozen=True, slots=True)
class Crash:
    """What was found after the kills."""

    kills: int
    answered: int
    lost: int
    outcome: work.Outcome

    @property
    def whole(self) -> bool:
        return self.lost == 0 and self.outcome.whole

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self), "whole": self.whole}


def crash(kills: int, *, seed: int = 7) -> Crash:
    """Kill one process after the other, at moments of no plan, and start another in its place."""
    work.prepare()
    chance = random.Random(seed)  # noqa: S311  (moments, no secrets)
    until = time.monotonic() + FOREVER
    tasks = [work.deciding(until)] * WRITERS + [work.sealing_on(until)] * SEALERS
    running = [children.start(task) for task in tasks]
    gone = []
    for number in range(kills):
        time.sleep(chance.uniform(0.05, 0.4))
        place = number % len(running)
        running[place].kill()
        gone.append(running[place])
        running[place] = children.start(tasks[place])
    for child in running:
        child.kill()
    answered = set(_said([*gone, *running])) - {work.UNANSWERED}
    return Crash(kills, len(answered), work.lost(answered), work.judged())


def _said(some: list[children.Child]) -> Iterator[str]:
    for child in some:
        lines = child.lines()
        if any(line.startswith(children.FAULT) for line in lines):
            raise RuntimeError("\n".join(lines))
        yield from lines
        child.said_in.unlink()
