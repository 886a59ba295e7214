"""Query counts of decisions are fixed numbers: constant in rules, layers and tools."""

import pytest

from tests.live import SYSTEM, make_live, register, strict
from toolpolicy.engine.questions import parse_list_question, parse_question
from toolpolicy.services import decisions, deployment

pytestmark = pytest.mark.django_db

# live state and freezes; savepoint, record, body, usage, release
PLAIN = 6
# and the session's taint, read and written
IN_A_SESSION = PLAIN + 2
# no usage: a listing uses no rule
LISTING = PLAIN - 1


def policy_of(size):
    rules = [{"effect": "deny", "match": {"name": f"never_{n}"}} for n in range(size)]
    layers = [strict(*rules[i::5], name=f"layer {i}", position=i) for i in range(min(size, 5))]
    make_live(layers)
    register("kit", *[{"name": f"tool_{n}"} for n in range(size if size == 1 else 40)])


@pytest.mark.parametrize("size", [1, 500])
@pytest.mark.parametrize(
    ("context", "count"), [({}, PLAIN), ({"session": "s"}, IN_A_SESSION)], ids=["plain", "session"]
)
def test_a_decision_takes_as_many_queries_at_1_rule_as_at_500(
    size, context, count, client_actor, django_assert_num_queries
):
    policy_of(size)
    deployment.adopt()
    body = {"surface": "call", "tool": "tool_0", "arguments": {}}
    decisions.decide(asker=client_actor, question=parse_question(body))
    with django_assert_num_queries(count):
        question = parse_question({**body, "context": context})
        decisions.decide(asker=client_actor, question=question)


@pytest.mark.parametrize("size", [1, 500])
def test_a_listing_takes_as_many_queries_at_1_tool_as_at_40(size, django_assert_num_queries):
    policy_of(size)
    deployment.adopt()
    question = parse_list_question({"surface": "catalog"})
    decisions.list_tools(asker=SYSTEM, question=question)
    with django_assert_num_queries(LISTING):
        decisions.list_tools(asker=SYSTEM, question=question)


def test_a_batch_reads_what_is_live_once(client_actor, django_assert_num_queries):
    policy_of(1)
    deployment.adopt()
    questions = [parse_question({"surface": "call", "tool": "tool_0"})] * 5
    decisions.decide_batch(asker=client_actor, questions=questions)
    with django_assert_num_queries(1 + 1 + 5 * 2 + 1 + 1):
        decisions.decide_batch(asker=client_actor, questions=questions)
