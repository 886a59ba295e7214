"""`metrics`: figures for who watches the server."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests.audit.logs import sealed_log, write_records
from tests.live import SYSTEM, make_client, make_live, register, strict
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import StreamState, Tool
from toolpolicy.services import decisions, freezes, refusals
from toolpolicy.services.actors import Actor

pytestmark = pytest.mark.django_db
# Of decisions, refusals, version, tools, freezes: one each. The others are of the log.
QUERIES = 5 + 18


def figures() -> dict[str, float]:
    answer = Client().get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain")
    lines = [line for line in answer.content.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_the_metrics_say_how_far_the_log_is_sealed():
    sealed_log(2)
    write_records(3)
    found = figures()
    assert found["toolpolicy_sealed_block"] == 1
    assert found["toolpolicy_sealed_records_total"] == 2
    assert found["toolpolicy_unsealed_records"] == 3
    assert 0 < found["toolpolicy_sealed_lag_seconds"] < 60
    assert found["toolpolicy_sealing_refused"] == 0


def test_the_metrics_say_when_the_log_cannot_be_sealed(settings):
    sealed_log(1)
    settings.TOOLPOLICY_SEAL_KEY = "5f" * 32
    assert figures()["toolpolicy_sealing_refused"] == 1


def test_the_metrics_are_only_read():
    assert Client().post("/metrics").status_code == 405


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(("10.0.0.7:8000", 200), ("[2001:db8::7]", 200), ("policy.example.com", 200)),
        *(("rebound.example", 400), ("10.0.0.7.rebound.example", 400), ("", 400), ("0x7f.1", 400)),
    ],
)
def test_the_metrics_are_read_by_address_or_by_the_servers_own_name(settings, host, status):
    settings.ALLOWED_HOSTS = ["policy.example.com"]
    assert Client().get("/metrics", headers={"Host": host}).status_code == status


@pytest.fixture
def clock(monkeypatch):
    """Return a function that sets the clock; it begins at half past ten."""

    def at(minute):
        monkeypatch.setattr(timezone, "now", lambda: datetime(2030, 1, 1, 10, tzinfo=UTC) + minute)

    at(timedelta(minutes=30))
    return at


def ask(tool, **members):
    question = parse_question({"surface": "call", "tool": tool, **members})
    decisions.decide(asker=Actor.for_client(make_client(key_id=tool[:8])), question=question)


def test_the_metrics_count_decisions_by_outcome_in_this_hour_and_the_last(clock):
    make_live([strict({"effect": "deny", "match": {"name": "rm*"}})])
    ask("rm_file")
    ask("rm_all")
    ask("ls")
    ask("dry", dry_run=True)
    clock(timedelta(minutes=61))
    ask("ls_again")
    found = figures()
    told = {
        (hour, outcome): found[f'toolpolicy_decisions_{hour}{{outcome="{outcome}"}}']
        for hour in ("this_hour", "last_hour")
        for outcome in ("allow", "deny", "needs_approval", "hide", "list")
    }
    assert {where: count for where, count in told.items() if count} == {
        ("this_hour", "allow"): 1,
        ("last_hour", "allow"): 1,
        ("last_hour", "deny"): 2,
    }
    clock(timedelta(minutes=121))
    assert figures()['toolpolicy_decisions_last_hour{outcome="deny"}'] == 0


def test_the_metrics_count_requests_without_a_valid_key_by_status(clock):
    for address in ("192.0.2.1", "192.0.2.2"):
        refusals.count(address, 401)
    clock(timedelta(minutes=61))
    refusals.count("192.0.2.1", 401)
    refusals.count("192.0.2.1", 429)
    found = figures()
    assert found['toolpolicy_keyless_requests_this_hour{status="401"}'] == 1
    assert found['toolpolicy_keyless_requests_this_hour{status="429"}'] == 1
    assert found['toolpolicy_keyless_requests_last_hour{status="401"}'] == 2
    assert found['toolpolicy_keyless_requests_last_hour{status="429"}'] == 0


def test_the_metrics_say_what_decisions_are_judged_by():
    assert figures()["toolpolicy_policy_version"] == 0
    version = make_live([strict()])
    register("files", {"name": "ls"}, {"name": "rm"}, {"name": "mv"})
    Tool.objects.filter(name="rm").update(state="quarantined")
    freezes.freeze(actor=SYSTEM, values={"kind": "tool", "value": "rm", "reason": "look first"})
    found = figures()
    assert found["toolpolicy_policy_version"] == version.number
    published = found["toolpolicy_policy_published_timestamp_seconds"]
    assert published == pytest.approx(version.published_at.timestamp(), abs=1)
    assert found['toolpolicy_tools{state="active"}'] == 2
    assert found['toolpolicy_tools{state="quarantined"}'] == 1
    assert found['toolpolicy_tools{state="retired"}'] == 0
    assert found["toolpolicy_freezes"] == 1


def test_the_metrics_ask_the_same_and_name_as_many_series_whatever_there_is(
    settings, tmp_path, django_assert_num_queries
):
    settings.TOOLPOLICY = replace(settings.TOOLPOLICY, stream_file=str(tmp_path / "records"))
    StreamState.objects.create(target=str(tmp_path / "records"))
    make_live([strict()])
    seen = set()
    for round_ in range(3):
        sealed_log(2)
        register(f"family{round_}", *({"name": f"t{round_}{n}"} for n in range(round_)))
        for number in range(3 * round_):
            ask(f"{round_}{number}tool")
            refusals.count(f"192.0.2.{number}", 401)
        with django_assert_num_queries(QUERIES):
            seen.add(frozenset(figures()))
    assert len(seen) == 1
