"""The matrix agrees with decisions and listings, cell by cell."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.factories import SYSTEM
from tests.live import make_live, strict
from tests.registry.samples import imported, named
from tests.timing import assert_within
from toolpolicy.engine.questions import parse_list_question, parse_question
from toolpolicy.engine.words import Outcome
from toolpolicy.services import decisions, freezes, registry, registry_store
from toolpolicy.services.errors import NotFound
from toolpolicy.services.matrix import Cell, Matrix

pytestmark = pytest.mark.django_db
AGENTS = ("coder", "clerk")
TOOLS = ("calc", "mail_read", "mail_send", "rm_all", "run", "shell")


def path(value: str) -> dict[str, Any]:
    return {"arg": {"pointer": "/path", "value": value}}


RULES = (
    {"effect": "deny", "match": {"name": "rm_*"}},
    {"effect": "require_approval", "match": {"name": "mail_send"}, "when": {"channel": "chat-*"}},
    {"effect": "deny", "match": {"name": "run", **path("/etc/*")}},
    {"effect": "require_approval", "match": {"name": "shell"}, "except": path("/srv/*")},
    {"effect": "hide", "match": {"name": "calc"}, "on": ["catalog", "search"]},
)
CODER = strict(
    {"effect": "deny", "match": {"name": "mail_*"}}, name="coders", scope="agent", target="cod*"
)


@pytest.fixture
def policy(db):
    imported(named(*TOOLS))
    return make_live([strict(*RULES), CODER])


def cells(context: dict[str, str], **asked: Any) -> dict[str, Cell]:
    matrix = Matrix.of(now=timezone.now(), **asked)
    [column] = matrix.columns(matrix.entries, [context])
    return {entry.name: cell for entry, cell in zip(matrix.entries, column, strict=True)}


def outcome_of(tool: str, context: dict[str, str], arguments: Any) -> str:
    question = {"surface": "call", "tool": tool, "context": context, "arguments": arguments}
    answer = decisions.decide(asker=SYSTEM, question=parse_question(question))
    return str(answer.document["outcome"])


def test_a_registry_that_is_read_anew_lists_what_it_listed(policy):
    context = {"agent": "clerk"}
    found = cells(context)
    assert any(cell.listed for cell in found.values())
    # Another process's import, or many replays: the registry is read again, its shelves are kept.
    registry.load.cache_clear()
    registry_store._entries.clear()
    assert cells(context) == found


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("channel", ["chat-1", "web"])
def test_a_cell_says_what_the_decision_on_such_a_call_says(policy, agent, channel):
    context = {"agent": agent, "channel": channel}
    found = cells(context)
    assert set(found) == set(TOOLS)
    # Arguments that match no condition of a rule, and those that match each.
    tried = ({"path": "/home"}, {"path": "/etc/passwd"}, {"path": "/srv/x"})
    for tool, cell in found.items():
        answers = [outcome_of(tool, context, arguments) for arguments in tried]
        assert answers[0] == cell.outcome
        assert cell.depends == (len(set(answers)) > 1)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_cell_says_whether_the_agent_sees_the_tool(policy, agent):
    question = {"surface": "catalog", "context": {"agent": agent}}
    listing = decisions.list_tools(asker=SYSTEM, question=parse_list_question(question))
    found = cells({"agent": agent})
    assert {name for name, cell in found.items() if cell.listed} == set(listing.names)
    assert found["calc"].hidden
    assert not found["rm_all"].hidden  # what cannot be called is not hidden either


def test_what_stops_a_tool_before_any_rule_is_a_refusal_too(policy):
    registry.quarantine_tool(actor=SYSTEM, family="box", name="calc")
    freezes.freeze(actor=SYSTEM, values={"kind": "agent", "value": "clerk", "reason": "a loop"})
    assert cells({"agent": "coder"})["calc"].outcome is Outcome.DENY
    assert cells({"agent": "coder"})["run"].outcome is Outcome.ALLOW
    frozen = cells({"agent": "clerk"})["run"]
    assert (frozen.outcome, frozen.listed) == (Outcome.DENY, False)


def test_cells_that_another_version_answers_otherwise_are_changed(policy):
    rules = list(RULES)
    rules[2] = {"effect": "deny", "match": {"name": "run", **path("/usr/*")}}
    later = make_live([strict({"effect": "deny", "match": {"name": "calc"}}, *rules)])
    found = cells({"agent": "coder"}, since=policy.number)
    changed = {name for name, cell in found.items() if cell.changed}
    assert changed == {"calc", "mail_read", "mail_send", "run"}
    back = cells({"agent": "coder"}, version=policy.number, since=later.number)
    assert {name for name, cell in back.items() if cell.changed} == changed
    assert back["mail_read"].outcome is Outcome.DENY


def test_a_rule_that_only_has_another_name_and_place_changes_no_cell(policy):
    make_live([strict(*reversed(RULES)), CODER])
    assert not any(cell.changed for cell in cells({"agent": "coder"}, since=policy.number).values())


def test_cells_that_rules_change_differ_from_the_defaults(policy):
    found = cells({"agent": "clerk", "channel": "chat-1"}, defaults=True)
    differing = {name for name, cell in found.items() if cell.differs}
    assert differing == {"mail_send", "rm_all", "run", "shell"}
    make_live([strict({"effect": "allow", "match": {"name": "run"}}, default="deny")])
    found = cells({}, defaults=True)
    assert {name for name, cell in found.items() if cell.differs} == {"run"}


def test_columns_are_named_by_targets_conditions_and_freezes(policy):
    make_live(
        [
            strict({"effect": "deny", "when": {"agent": ["x-1", "y-*"], "shift": "night"}}),
            strict(name="one", scope="agent", target=["coder", "cl?rk"]),
        ]
    )
    freezes.freeze(actor=SYSTEM, values={"kind": "agent", "value": "research", "reason": "a loop"})
    matrix = Matrix.of(now=timezone.now())
    assert matrix.named("agent") == {"x-1", "coder", "research"}
    assert matrix.keys() == {"agent", "shift"}


def test_without_a_policy_and_of_an_unknown_version_there_is_no_matrix(db):
    with pytest.raises(NotFound):
        Matrix.of(now=timezone.now())
    make_live([])
    with pytest.raises(NotFound):
        Matrix.of(now=timezone.now(), since=7)


def test_two_hundred_tools_and_twenty_agents_take_four_queries_and_no_more_time_an_agent(db):
    imported(named(*[f"tool_{number}" for number in range(200)]))
    rules = [{"effect": "deny", "match": {"name": f"*_{number}"}} for number in range(300)]
    make_live([strict(*rules), CODER])
    contexts = [{"agent": f"agent-{number}"} for number in range(20)]
    with CaptureQueriesContext(connection) as asked:
        matrix = Matrix.of(now=timezone.now())
        columns = matrix.columns(matrix.entries, contexts)
    assert_within(
        60,
        lambda: matrix.columns(matrix.entries, contexts),
        lambda: matrix.columns(matrix.entries, contexts[:1]),
        times=1,
    )
    assert (len(columns), len(columns[0])) == (20, 200)
    assert len(asked) <= 4  # the state, the policy, the registry and its declarations
