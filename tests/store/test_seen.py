"""What callers sent as context is kept once, in bounds, and never a session's own."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.live import SYSTEM, make_live, register
from toolpolicy.engine.questions import parse_list_question, parse_question
from toolpolicy.models import SeenContext
from toolpolicy.services import decisions, masking, seen

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_known():
    seen.forget()
    yield
    seen.forget()


def stored():
    return set(SeenContext.objects.values_list("key", "value"))


def ask(**members):
    question = parse_question({"surface": "call", "tool": "kit_get", **members})
    decisions.decide(asker=SYSTEM, question=question)


def test_decisions_and_listings_keep_the_context_that_was_sent():
    make_live([])
    register("kit", {"name": "kit_get"})
    ask(context={"agent": "coder", "tenant": "acme", "session": "s-1"})
    listing = parse_list_question({"surface": "catalog", "context": {"channel": "slack"}})
    decisions.list_tools(asker=SYSTEM, question=listing)
    assert stored() == {("agent", "coder"), ("tenant", "acme"), ("channel", "slack")}
    assert seen.values("agent") == ["coder"]
    assert {"agent", "channel", "session", "tenant"} <= set(seen.keys())


def test_a_simulation_is_nobody_s_call():
    make_live([])
    register("kit", {"name": "kit_get"})
    ask(context={"agent": "coder"}, dry_run=True)
    assert stored() == set()


@pytest.mark.usefixtures("db")
def test_what_is_known_costs_no_query(
    django_assert_num_queries, django_capture_on_commit_callbacks
):
    contexts = [{"agent": "a", "session": "s"}, {"agent": "b"}]
    with django_capture_on_commit_callbacks(execute=True), django_assert_num_queries(3):
        seen.note(contexts, timezone.now())
    with django_assert_num_queries(0):
        seen.note(contexts, timezone.now())
    with django_capture_on_commit_callbacks(execute=True), django_assert_num_queries(2):
        seen.note([{"agent": "c"}], timezone.now())
    assert stored() == {("agent", "a"), ("agent", "b"), ("agent", "c")}


def test_what_was_rolled_back_is_kept_the_next_time(django_capture_on_commit_callbacks):
    seen.note([{"agent": "a"}], timezone.now())  # its transaction never commits
    SeenContext.objects.all().delete()
    with django_capture_on_commit_callbacks(execute=True):
        seen.note([{"agent": "a"}], timezone.now())
    assert stored() == {("agent", "a")}


def test_a_key_keeps_as_many_values_as_it_may_and_then_costs_no_query(
    monkeypatch, django_assert_num_queries, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(seen, "MOST_VALUES", 3)
    assert seen.is_complete("user")
    with django_capture_on_commit_callbacks(execute=True):
        seen.note([{"user": str(number)} for number in range(5)], timezone.now())
    assert len(stored()) == 3
    assert not seen.is_complete("user")
    with django_assert_num_queries(0):
        seen.note([{"user": "9"}], timezone.now())


def test_there_are_no_more_keys_than_there_may_be(monkeypatch, django_capture_on_commit_callbacks):
    monkeypatch.setattr(seen, "MOST_KEYS", 2)
    with django_capture_on_commit_callbacks(execute=True):
        seen.note([{"a": "1", "b": "1"}, {"c": "1"}], timezone.now())
        seen.note([{"a": "2", "d": "1"}], timezone.now())
    assert stored() == {("a", "1"), ("b", "1"), ("a", "2")}
    assert seen.is_complete("a")
    assert not seen.is_complete("c")
    assert not seen.is_complete("session")


def test_keys_for_which_there_is_no_room_cost_no_query(
    monkeypatch, django_assert_num_queries, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(seen, "MOST_KEYS", 1)
    with django_capture_on_commit_callbacks(execute=True):
        seen.note([{"a": "1", "b": "1"}], timezone.now())
    with django_assert_num_queries(0):
        seen.note([{str(number): "1"} for number in range(5)], timezone.now())
    with django_assert_num_queries(2):
        seen.note([{"a": "2"}], timezone.now())
    assert stored() == {("a", "1"), ("a", "2")}


def test_keys_are_offered_with_some_of_their_values_by_one_query(django_assert_num_queries):
    for team in ("red", "blue", "green"):
        ask(context={"team": team, "agent": "coder", "session": "s-1"})
    with django_assert_num_queries(1):
        offered = seen.offered(2)
    assert offered["team"] == ["blue", "green"]
    assert offered["agent"] == ["coder"]
    assert offered["session"] == offered["channel"] == []
    assert sorted(offered) == seen.keys()


def test_what_is_still_sent_is_written_again_the_next_day(django_capture_on_commit_callbacks):
    now = timezone.now()
    with django_capture_on_commit_callbacks(execute=True):
        seen.note([{"agent": "a"}], now)
    SeenContext.objects.all().delete()  # by another process
    with django_capture_on_commit_callbacks(execute=True):
        seen.note([{"agent": "a"}], now)
    assert stored() == set()
    with django_capture_on_commit_callbacks(execute=True):
        seen.note([{"agent": "a"}], now + timedelta(days=1))
    assert stored() == {("agent", "a")}


def test_an_erased_value_goes_and_its_namesakes_stay(django_capture_on_commit_callbacks):
    contexts = [{"user": "anna", "team": "red"}, {"user": "bob", "owner": "anna"}]
    with django_capture_on_commit_callbacks(execute=True):
        seen.note(contexts, timezone.now())
    assert seen.counted({"user": "anna", "team": "blue"}) == 1
    assert seen.erase({}) == 0
    with django_capture_on_commit_callbacks(execute=True):
        assert seen.erase({"user": "anna", "team": "blue"}) == 1
    assert stored() == {("user", "bob"), ("owner", "anna"), ("team", "red")}
    with django_capture_on_commit_callbacks(execute=True):
        seen.note([{"user": "anna"}], timezone.now())  # she asks again
    assert ("user", "anna") in stored()


def test_the_values_of_a_key_go_when_it_becomes_masked():
    make_live([])
    register("kit", {"name": "kit_get"})
    ask(context={"agent": "coder", "licence": "LIC-1", "team": "red"})
    version = masking.everywhere().version
    masking.change(actor=SYSTEM, version=version, rules={"keys": ["licence", "agent"]})
    assert stored() == {("agent", "coder"), ("team", "red")}  # by its agent a record is found
    ask(context={"licence": "LIC-1"})
    assert ("licence", "LIC-1") not in stored()
