"""The report of oversight: what was answered, counted exactly, and where the count comes from."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.admin.pages import decide
from tests.evidence.asked import around_now, report
from tests.factories import SYSTEM
from tests.live import make_client, make_live, strict
from tests.registry.samples import imported, named
from toolpolicy.models import Record, RuleUsage
from toolpolicy.services import freezes, refusals
from toolpolicy.services.actors import Actor, Origin
from toolpolicy.services.evidence import oversight as module
from toolpolicy.services.evidence.oversight import oversight
from toolpolicy.services.evidence.periods import Period
from toolpolicy.services.evidence.tables import ShownSection
from toolpolicy.services.refusals import Refusal

pytestmark = pytest.mark.django_db


@pytest.fixture
def traffic(db):
    imported(named("calc", "mail", "run"))
    make_live(
        [
            strict(
                {"id": "asks", "effect": "require_approval", "match": {"name": "mail"}},
                {"id": "never", "effect": "deny", "match": {"name": "run"}},
            )
        ]
    )
    for name, agent, times in (
        ("calc", "clerk", 3),
        ("mail", "clerk", 2),
        ("run", "coder", 1),
        ("nowhere", "coder", 1),
    ):
        for _ in range(times):
            decide(name, context={"agent": agent})
    freezes.freeze(actor=SYSTEM, values={"kind": "agent", "value": "coder", "reason": "a loop"})
    decide("calc", context={"agent": "coder"})
    decide("calc", context={"agent": "clerk"}, dry_run=True)


def numbers(row):
    return tuple(row[name] for name in ("all", "allow", "needs_approval", "deny"))


def by(rows, *names):
    return {tuple(row[name] for name in names): numbers(row) for row in rows}


def test_calls_are_counted_by_outcome_tool_agent_rule_and_day(traffic):
    found = report("oversight")
    totals = found["totals"]
    assert (numbers(totals), totals["frozen"]) == ((8, 4, 2, 2), 1)
    assert found["records_agree"] is True
    assert by(found["tools"], "family", "tool") == {
        ("box", "calc"): (4, 3, 0, 1),
        ("box", "mail"): (2, 0, 2, 0),
        ("box", "run"): (1, 0, 0, 1),
        ("", "nowhere"): (1, 1, 0, 0),
    }
    assert by(found["agents"], "agent") == {("clerk",): (5, 3, 2, 0), ("coder",): (3, 1, 0, 2)}
    assert by(found["rules"], "layer", "rule") == {
        ("base", "asks"): (2, 0, 2, 0),
        ("base", "never"): (1, 0, 0, 1),
    }
    today = timezone.now().astimezone(UTC).date().isoformat()
    assert by(found["days"], "day") == {(today,): (8, 4, 2, 2)}
    assert found["frozen"] == [{"family": "box", "tool": "calc", "agent": "coder", "count": 1}]
    reasons = {row["reason_code"]: row["count"] for row in found["reasons"]}
    assert reasons == {"allowed": 4, "needs_approval": 2, "rule_denied": 1, "frozen": 1}


def test_the_most_denied_stand_first(traffic):
    found = report("oversight")
    assert [row["deny"] for row in found["tools"]] == [1, 1, 0, 0]
    assert [row["tool"] for row in found["tools"][:2]] == ["calc", "run"]


def test_refused_requests_are_counted_with_a_key_and_without(db):
    refusal = Refusal(status=403, code="scope_missing", method="GET", path="/x")
    refusals.record(client=make_client(), refusal=refusal, origin=Origin(address="192.0.2.7"))
    refusals.count("192.0.2.7", 401)
    refusals.count("192.0.2.8", 401)
    found = report("oversight")
    assert found["refused"] == [
        {"client_key_id": "testkey1", "reason_code": "scope_missing", "count": 1}
    ]
    assert found["without_key"] == {"401": 2}
    assert found["totals"]["all"] == 0


def test_counts_that_do_not_fit_the_records_are_said(traffic):
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    RuleUsage.objects.create(hour=hour, tool="calc", outcome="allow", shard=99)
    assert report("oversight")["records_agree"] is False


def test_shards_and_hours_are_added_up_by_day_in_utc(db):
    start = datetime(2026, 3, 1, tzinfo=UTC)
    for hour, count in ((0, 1), (23, 2), (24, 4), (48, 8)):
        for shard in (0, 1):
            RuleUsage.objects.create(
                hour=start + timedelta(hours=hour),
                tool="calc",
                outcome="deny",
                shard=shard,
                count=count,
            )
    found = report("oversight", Period(since=start, until=start + timedelta(days=2)))
    assert by(found["days"], "day") == {
        ("2026-03-01",): (6, 0, 0, 6),
        ("2026-03-02",): (8, 0, 0, 8),
    }


def test_a_period_is_widened_to_whole_hours_and_says_so(db):
    start = datetime(2026, 3, 1, tzinfo=UTC)
    RuleUsage.objects.create(hour=start, tool="calc", outcome="allow")
    asked = Period(since=start + timedelta(minutes=30), until=start + timedelta(minutes=40))
    found = report("oversight", asked)
    assert found["totals"]["allow"] == 1
    assert found["period"] == {"from": "2026-03-01T00:00:00Z", "to": "2026-03-01T01:00:00Z"}


def test_a_page_leaves_the_counting_of_many_records_to_a_file(traffic, monkeypatch):
    monkeypatch.setattr(module, "MOST_COUNTED", 3)
    page = oversight(around_now(), whole=False)
    sections = {one.name: one for one in page.sections}
    assert page.head["records_agree"] is None
    assert page.head["totals"]["all"] == 8
    assert not list(sections["agents"].rows())
    assert "take one" in str(sections["agents"].cut)
    assert len(list(sections["tools"].rows())) == 4
    whole = {one.name: one for one in oversight(around_now(), whole=True).sections}
    assert len(list(whole["agents"].rows())) == 2


def test_each_section_says_what_was_counted(traffic):
    sources = {one.name: str(one.source) for one in oversight(around_now(), whole=True).sections}
    counted = {name for name, said in sources.items() if "hourly counts" in said}
    assert counted == {"days", "tools", "rules"}
    assert all("records" in sources[name] for name in sources.keys() - counted)


def test_the_number_of_queries_is_fixed(traffic):
    counts = []
    for number in range(2):
        decide(f"t{number}", context={"agent": f"a{number}"}, asker=Actor.system("tests"))
        with CaptureQueriesContext(connection) as asked:
            for section in oversight(around_now(), whole=False).sections:
                ShownSection.of(section)
        counts.append(len(asked))
    assert counts == [13, 13]
    assert Record.objects.filter(kind="decision").count() == 10
