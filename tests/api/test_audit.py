"""`audit/`: reports as JSON and CSV, points in time: about everybody, for keys with their scope."""

import csv
import io
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.admin.pages import decide
from tests.factories import SYSTEM, make_layer, make_rule
from tests.live import make_live, strict
from tests.registry.samples import imported, named
from toolpolicy.models import Record
from toolpolicy.services import freezes

REPORTS = ("changes", "access", "oversight")
SCOPE = "audit:read"


@pytest.fixture
def auditor(key_with):
    return key_with(SCOPE, name="auditor")


@pytest.fixture
def history(db):
    """Something of everything; returns a moment before the last change."""
    imported(named("read", "write"))
    make_live([strict()])
    for agent in ("coder", "clerk"):
        decide("read", context={"agent": agent})
    freezes.freeze(actor=SYSTEM, values={"kind": "agent", "value": "coder", "reason": "a loop"})
    decide("read", context={"agent": "coder"})
    before = timezone.now()
    make_rule(make_layer(), match={"name": "write"})
    return before


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_given_as_json_and_recorded_under_the_key(auditor, history, name):
    answer = auditor.get(f"audit/reports/{name}/")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    found = answer.json()
    assert found["report"] == name
    record = Record.objects.select_related("body").get(kind="export")
    body = json.loads(record.body.text)
    assert record.client == auditor.client
    assert body["report"]["name"] == name
    assert body["size"] == len(answer.content)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_given_as_csv(auditor, history, name):
    answer = auditor.get(f"audit/reports/{name}/?format=csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.reader(io.StringIO(answer.content.decode(), newline="")))
    assert rows[0][:2] == ["report", name]
    assert len(rows) > 4


def test_a_report_is_about_everybody_in_its_period(auditor, history):
    found = auditor.get("audit/reports/oversight/").json()
    assert {row["agent"] for row in found["agents"]} == {"coder", "clerk"}
    empty = auditor.get("audit/reports/oversight/?from=2026-01-01&to=2026-01-31").json()
    assert empty["period"] == {"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}
    assert (empty["totals"]["all"], empty["agents"]) == (0, [])


@pytest.mark.parametrize("path", [*(f"audit/reports/{name}/" for name in REPORTS), "audit/at/"])
def test_other_keys_and_none_are_refused(key_with, stranger, history, path):
    assert stranger.get(path).status_code == 401
    refused = key_with("records:read", "policy:read").get(path)
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
    bound = key_with(SCOPE, name="bound", pinned_context={"agent": "coder"}).get(path)
    assert (bound.status_code, bound.json()["code"]) == (403, "pinned_context")
    assert not Record.objects.filter(kind="export").exists()


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        ("reports/changes/?from=soon", "from"),
        ("reports/changes/?from=2026-02-01&to=2026-01-01", "to"),
        ("reports/access/?format=xml", "format"),
        ("reports/oversight/?since=2026-01-01", "since"),
        ("reports/oversight/?from=2026-01-01&from=2026-01-02", "from"),
        ("at/?on=2999-01-01", "on"),
        ("at/?on=2026-01-01&against=never", "against"),
        ("at/?on=", "on"),
        ("at/?tool=read", "tool"),
    ],
)
def test_what_is_wrong_in_the_query_is_named(auditor, path, parameter):
    answer = auditor.get(f"audit/{path}")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_query")
    assert [one["parameter"] for one in answer.json()["errors"]] == [parameter]
    assert not Record.objects.filter(kind="export").exists()


@pytest.mark.parametrize(
    ("query", "accept", "status"),
    [
        ("", "text/csv", 406),
        ("?format=csv", "text/csv", 200),
        ("?format=csv", "application/json", 406),
        ("", "*/*", 200),
    ],
)
def test_accept_may_refuse_the_form(auditor, query, accept, status):
    assert auditor.get(f"audit/reports/access/{query}", Accept=accept).status_code == status


def test_a_point_in_time_is_answered_tool_by_tool(auditor, history):
    found = auditor.get("audit/at/?agent=clerk").json()
    assert found["compared"] is None
    standing = found["standing"]
    assert standing["policy"]["version"] == 3
    assert [(one["name"], one["outcome"], one["listed"]) for one in standing["tools"]] == [
        ("read", "allow", True),
        ("write", "deny", False),
    ]
    assert [one["value"] for one in standing["freezes"]] == ["coder"]


def test_two_points_in_time_are_compared(auditor, history):
    past = f"{history:%Y-%m-%dT%H:%M:%S.%fZ}"
    found = auditor.get(f"audit/at/?agent=clerk&against={past}").json()
    assert found["standing"] is None
    [difference] = found["compared"]["differences"]
    assert (difference["name"], difference["before"]["outcome"]) == ("write", "allow")
    assert [event["version"] for event in difference["through"]] == [3]
    assert [event["kind"] for event in found["compared"]["events"]] == ["version", "version"]


def test_before_the_first_version_it_is_said_what_is_not_known(auditor, history):
    past = f"{timezone.now() - timedelta(days=300):%Y-%m-%d}"
    standing = auditor.get(f"audit/at/?on={past}").json()["standing"]
    assert (standing["policy"], standing["tools"]) == (None, [])
    assert {one["code"] for one in standing["missing"]} == {"no_policy", "settings"}
