"""No answer is given that a caller's transaction could roll back with its record."""

import pytest
from django.db import transaction

from tests.live import SYSTEM, make_live
from toolpolicy.engine.questions import parse_list_question, parse_question
from toolpolicy.models import Record
from toolpolicy.services import decisions

pytestmark = pytest.mark.django_db

QUESTION = parse_question({"surface": "call", "tool": "fs_read", "arguments": {}})
LISTING = parse_list_question({"surface": "catalog"})
ANSWERS = {
    "a decision": lambda: decisions.decide(asker=SYSTEM, question=QUESTION),
    "a batch": lambda: decisions.decide_batch(asker=SYSTEM, questions=[QUESTION]),
    "a listing": lambda: decisions.list_tools(asker=SYSTEM, question=LISTING),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_inside_a_transaction_of_the_caller_is_an_error_and_no_record(answer):
    make_live([])
    assert answer()  # the first one records the settings too
    before = Record.objects.count()
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        answer()
    assert Record.objects.count() == before
    assert answer()
    assert Record.objects.count() == before + 1
