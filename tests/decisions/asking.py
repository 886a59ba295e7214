"""A decision asked of the service, as a host asks."""

from tests.live import SYSTEM
from toolpolicy.engine.questions import parse_question
from toolpolicy.services import decisions


def ask(asker=SYSTEM, **members):
    question = parse_question({"surface": "call", "arguments": {}, **members})
    return decisions.decide(asker=asker, question=question)
