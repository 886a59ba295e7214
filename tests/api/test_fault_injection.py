"""The database fails at each query of a request, in turn: an error or a deny, never an allow.

And never an answer without its record: what was answered with 200 is there, what was not is not.
"""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import IntegrityError, InterfaceError, OperationalError, connection

from tests.factories import SYSTEM, make_layer, make_rule
from toolpolicy.models import ApiClient, Record, RecordBody, SessionTaint
from toolpolicy.services import live, registry, registry_store, seen

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = {
    "surface": "call",
    "tool": {"family": "mail", "name": "send_mail"},
    "arguments": {"to": "a"},
    "context": {"session": "s-1", "agent": "a"},
}
REQUESTS: dict[str, tuple[str, Any, dict[str, str]]] = {
    "a decision": ("decisions/", QUESTION, {}),
    "a repeatable decision": ("decisions/", QUESTION, {"Idempotency_Key": "k"}),
    "an explanation": ("explain/", QUESTION, {}),
    "a batch": ("decisions/batch/", {"items": [QUESTION, {}, QUESTION]}, {}),
    "a listing": ("catalog/", {"surface": "catalog", "context": {"session": "s-1"}}, {}),
    "a refusal": ("decisions/", {"surface": "call"}, {}),
}
FAULTS = (OperationalError, IntegrityError, InterfaceError, RuntimeError)


class Failing:
    """Lets so many statements pass and fails the next one."""

    def __init__(self, at: int, fault: type[Exception]) -> None:
        self.left = at
        self.fault = fault
        self.failed = ""

    def __call__(self, execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            self.failed = sql
            raise self.fault("injected")
        return execute(sql, *arguments)


@pytest.fixture
def mail(api):
    registry.import_tools(
        actor=SYSTEM, family="mail", document={"tools": [{"name": "send_mail"}, {"name": "wipe"}]}
    )
    make_rule(make_layer(), id="no-wipe", match={"name": "wipe"})
    return api


def forget() -> None:
    """Start like a fresh process: nothing cached, no session known, the key's use not noted."""
    for cached in (live.policy_of, live.compiled, live.shelf, registry_store.load):
        cached.cache_clear()
    seen.forget()
    SessionTaint.objects.all().delete()
    ApiClient.objects.update(last_used_at=None)


def answers_in(response: Any) -> list[dict[str, Any]]:
    body = response.json()
    found: list[dict[str, Any]] = body.get("results", [body])
    return found


def check(response: Any, before: int) -> None:
    """Hold one response against the records that are there now."""
    ids = set()
    for answer in answers_in(response):
        made = answer.get("decision_id") or answer.get("listing_id")
        if made is None:
            assert answer.get("outcome", "deny") == "deny"
            assert response.status_code != 200 or answer["status"] == 422
        else:
            assert response.status_code == 200
            ids.add(made)
    answered = Record.objects.filter(pk__gt=before, kind__in=("decision", "simulation", "listing"))
    assert {str(uid) for uid in answered.values_list("uid", flat=True)} == ids
    assert RecordBody.objects.count() == Record.objects.count()


def no_gaps() -> None:
    numbers: dict[str, list[int]] = {}
    for writer, number in Record.objects.values_list("writer_id", "writer_n"):
        numbers.setdefault(writer, []).append(number)
    for found in numbers.values():
        first = min(found)  # the connection, and so the writer, is older than this test
        assert sorted(found) == list(range(first, first + len(found)))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", REQUESTS)
def test_a_fault_at_any_query_is_never_an_answer(mail, name, fault):
    path, sent, headers = REQUESTS[name]
    for at in itertools.count(1):
        forget()
        before = Record.objects.latest("pk").pk
        failing = Failing(at, fault)
        with connection.execute_wrapper(failing):
            response = mail.post(path, sent, **headers)
        check(response, before)
        if not failing.failed:
            assert response.status_code == (422 if name == "a refusal" else 200)
            break
        assert response.status_code >= 500, failing.failed
    assert at > 5
    no_gaps()


@contextmanager
def failing_commit(monkeypatch: pytest.MonkeyPatch, at: int) -> Iterator[Callable[[], bool]]:
    database: Any = connection
    real, seen = database._commit, itertools.count(1)
    failed = False

    def commit() -> None:
        nonlocal failed
        if next(seen) == at:
            failed = True
            raise OperationalError("injected")
        real()

    with monkeypatch.context() as patch:
        patch.setattr(connection, "_commit", commit)
        yield lambda: failed


@pytest.mark.parametrize("name", REQUESTS)
def test_a_commit_that_fails_is_never_an_answer(mail, monkeypatch, name):
    path, sent, headers = REQUESTS[name]
    for at in itertools.count(1):
        forget()
        before = Record.objects.latest("pk").pk
        with failing_commit(monkeypatch, at) as failed:
            response = mail.post(path, sent, **headers)
        check(response, before)
        if not failed():
            break
        assert (response.status_code, response.json()["outcome"]) == (503, "deny")
    assert at > 1
    no_gaps()


def test_a_fault_while_an_unknown_caller_is_refused_is_an_error(mail, stranger):
    for at in itertools.count(1):
        failing = Failing(at, OperationalError)
        with connection.execute_wrapper(failing):
            response = stranger.post("decisions/", QUESTION)
        assert response.status_code == (503 if failing.failed else 401)
        if not failing.failed:
            break
    assert at > 1


@pytest.mark.skipif(connection.vendor == "sqlite", reason="a file does not break off")
@pytest.mark.parametrize("name", ["a decision", "a batch", "a listing"])
def test_a_decision_whose_connection_breaks_off_is_refused_in_a_record(mail, name):
    path, sent, _ = REQUESTS[name]
    before = Record.objects.latest("pk").pk

    def break_off(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        if '"toolpolicy_record"' in sql and "INSERT" in sql:
            written.append(sql)
            if len(written) == at:
                connection.connection.close()
        return execute(sql, *arguments)

    written: list[str] = []
    at = 2 if name == "a batch" else 1  # a batch records its bad items first
    with connection.execute_wrapper(break_off):
        response = mail.post(path, sent)
    assert (response.status_code, response.json()["code"]) == (503, "audit_unavailable")
    check(response, before)
    told = Record.objects.filter(pk__gt=before, kind="refused").order_by("pk")
    assert told.values_list("reason_code", flat=True).last() == "audit_unavailable"


@pytest.mark.parametrize("name", REQUESTS)
def test_when_no_connection_can_be_made_nothing_is_answered(mail, monkeypatch, name):
    path, sent, headers = REQUESTS[name]

    def fail(*_: Any) -> Any:
        raise OperationalError("could not connect to secret.example")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", fail)
        response = mail.post(path, sent, **headers)
    problem = response.json()
    assert (response.status_code, problem["outcome"]) == (503, "deny")
    assert "secret" not in response.content.decode()


def test_the_evaluator_failing_is_an_error_without_an_answer(mail, monkeypatch):
    def fail(*_: Any) -> Any:
        raise RecursionError

    monkeypatch.setattr("toolpolicy.services.decisions.judge_question", fail)
    before = Record.objects.latest("pk").pk
    response = mail.post("decisions/", QUESTION)
    assert (response.status_code, response.json()["code"]) == (500, "internal")
    check(response, before)
