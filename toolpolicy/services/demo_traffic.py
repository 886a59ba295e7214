"""Questions about the demo, asked of the real decision point: each is decided and recorded."""

import json
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolpolicy.engine.questions import parse_question
from toolpolicy.services import decisions
from toolpolicy.services.actors import Actor
from toolpolicy.services.decisions import Answer
from toolpolicy.services.demo import DATA

SESSIONS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question that a newcomer may try: in words, on the wire, and what its answer will hold."""

    about: str
    ask: dict[str, Any]
    answer: dict[str, str]


def examples() -> tuple[Example, ...]:
    """Return the questions to try."""
    return tuple(Example(**example) for example in _read("examples"))


def ask(question: Mapping[str, Any], *, asker: Actor) -> Answer:
    """Ask about a call, and have the decision recorded."""
    return decisions.decide(asker=asker, question=parse_question({"surface": "call", **question}))


def make_traffic(count: int, *, asker: Actor) -> Counter[str]:
    """Ask `count` questions as a day at the company would bring them; return the outcomes.

    The same count asks the same questions.
    """
    kinds = _read("traffic")
    chance = random.Random(count)  # noqa: S311  (a believable mix, not a secret)
    outcomes: Counter[str] = Counter()
    for kind in chance.choices(kinds, weights=[kind["weight"] for kind in kinds], k=count):
        asked = kind["ask"]
        session = f"{asked['context']['agent']}-{chance.randrange(SESSIONS):02}"
        context = {**asked["context"], "session": session}
        outcomes[str(ask({**asked, "context": context}, asker=asker).outcome)] += 1
    return outcomes


def _read(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
