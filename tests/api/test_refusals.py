"""Requests that were refused: one record each with a key, only counted without one."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.utils import timezone

from tests.api.addresses import addresses
from toolpolicy.api.pages import ListView
from toolpolicy.models import Record, RefusalCount
from toolpolicy.services import refusals
from toolpolicy.services.actors import Origin
from toolpolicy.services.digests import request_digest
from toolpolicy.services.refusals import MOST_ADDRESSES, Refusal, unquoted

NOW = datetime(2026, 3, 1, 12, 30, 15, tzinfo=UTC)


def refused():
    return [
        (record, json.loads(record.body.text))
        for record in Record.objects.filter(kind="refused").select_related("body")
    ]


def test_a_refused_request_with_a_key_is_one_record(api):
    sent = b'{"surface":"call","tool":"a b"}'
    response = api.post("decisions/", sent, X_Request_ID="r-1")
    ((record, body),) = refused()
    assert response.status_code == 422
    assert record.client == api.client
    assert (record.outcome, record.reason_code, record.request_id) == ("refused", "invalid", "r-1")
    assert record.object_label == "POST /api/v1/decisions/"
    assert body["request"] == {"method": "POST", "path": "/api/v1/decisions/"}
    assert body["origin"] == {"request_id": "r-1", "address": "127.0.0.1"}
    assert (body["status"], body["code"], body["fault_count"]) == (422, "invalid", 1)
    told = response.json()["errors"]
    assert [fault["pointer"] for fault in body["faults"]] == [fault["pointer"] for fault in told]
    assert body["faults"][0]["message"] == "`…` is no tool name: 1 to 128 of `…` are allowed"
    assert body["request_digest"] == record.request_digest == request_digest(sent)


def test_a_record_of_a_refusal_quotes_nothing_that_was_sent(api):
    secret = "hunter2`x` hunter2"
    wrong = {"surface": secret, "tool": secret, "context": {"sandbox_mode": secret}, "x": secret}
    for sent in (
        {**wrong, "arguments": {"password": secret}},
        {"items": [wrong]},
        {"surface": "call", "tool": {"name": "x", "token": secret}},
        rb'{"surface": "call", "tool": "x", "arguments": "hunter2\u0000"}',
        b'{"surface": "call", "tool": "x", "arguments": [hunter2]}',
    ):
        batch = isinstance(sent, dict) and "items" in sent
        api.post("decisions/batch/" if batch else "decisions/", sent)
    assert len(refused()) == 5
    assert "hunter2" not in str([(body, vars(record)) for record, body in refused()])


def test_words_of_the_product_stay_in_a_record_of_a_refusal():
    said = unquoted("`cal` is not a known word; did you mean `call`")
    assert said == "`…` is not a known word; did you mean `call`"


def test_the_digest_of_a_request_is_keyed(settings):
    first = request_digest(b"{}")
    assert first == request_digest(b"{}")
    assert first.removeprefix("hmac:") != hashlib.sha256(b"{}").hexdigest()
    settings.SECRET_KEY = "another"
    assert request_digest(b"{}") != first


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "decisions/", 400),
        ("POST", "catalog/", 400),
        ("POST", "explain/", 400),
        ("POST", "decisions/batch/", 400),
        ("GET", "records/00000000-0000-4000-8000-000000000000/", 404),
        ("GET", "nothing/", 404),
        ("GET", "decisions/", 405),
        ("GET", "layers/?x=1", 400),
    ],
)
def test_every_refusal_is_recorded(api, method, path, status):
    assert api.send(method, path, b"[" if method == "POST" else None).status_code == status
    ((_, body),) = refused()
    assert body["status"] == status


def test_a_missing_scope_is_recorded(key_with):
    key_with("explain").post("decisions/", {})
    ((record, _),) = refused()
    assert record.reason_code == "scope_missing"


def test_the_refused_items_of_a_batch_share_a_record(api):
    good, bad = {"surface": "call", "tool": "x"}, {"surface": "call"}
    api.post("decisions/batch/", {"items": [good, bad, bad]})
    ((_, body),) = refused()
    assert [fault["pointer"] for fault in body["faults"]] == ["/items/1", "/items/2"]
    assert Record.objects.filter(kind="decision").count() == 1


def test_what_was_answered_is_no_refusal(api):
    api.post("decisions/", {"surface": "call", "tool": "x"})
    api.get("layers/")
    assert refused() == []


def test_a_record_names_some_faults_and_counts_the_rest(api):
    api.post("decisions/", {f"m{number}": 1 for number in range(50)})
    ((_, body),) = refused()
    assert len(body["faults"]) == 20
    assert body["fault_count"] == 52  # and no surface, and no tool


def test_a_path_cannot_break_a_line_or_fill_the_store(api):
    api.get("x%0A%E2%80%AE" + "y" * 1_000)
    ((record, body),) = refused()
    assert body["request"]["path"].startswith("/api/v1/x\\n\\u202ey")
    assert len(body["request"]["path"]) == 400
    assert record.object_label.isprintable()


def test_requests_without_a_key_are_counted_and_not_kept(stranger):
    for _ in range(5):
        stranger.post("decisions/", {"surface": "call", "tool": "x"})
    (row,) = RefusalCount.objects.all()
    assert (row.address, row.status, row.count) == ("127.0.0.1", 401, 5)
    assert (row.minute.second, row.minute.microsecond) == (0, 0)
    assert not Record.objects.exists()


def count(address: str) -> None:
    refusal = Refusal(status=401, code="key_missing", method="GET", path="/")
    refusals.record(client=None, refusal=refusal, origin=Origin(address=address))


def test_each_minute_and_address_has_its_own_count(db, monkeypatch):
    moments = iter([NOW, NOW, NOW + timedelta(minutes=1), NOW])
    monkeypatch.setattr(timezone, "now", lambda: next(moments))
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"):
        count(address)
    rows = RefusalCount.objects.order_by("minute", "address").values_list(
        "minute__minute", "address", "count"
    )
    assert list(rows) == [(30, "192.0.2.1", 2), (30, "192.0.2.2", 1), (31, "192.0.2.1", 1)]


def test_a_flood_from_everywhere_fills_a_bounded_number_of_rows(db, monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    minute = NOW.replace(second=0)
    RefusalCount.objects.bulk_create(
        RefusalCount(address=f"192.0.2.{n}", minute=minute, status=401)
        for n in range(MOST_ADDRESSES)
    )
    for number in range(5):
        count(f"203.0.113.{number}")
    count("192.0.2.1")
    assert RefusalCount.objects.count() == MOST_ADDRESSES + 1
    assert RefusalCount.objects.get(address="others").count == 5
    assert RefusalCount.objects.get(address="192.0.2.1").count == 2


def test_counting_again_costs_one_query(stranger, django_assert_num_queries):
    count("192.0.2.1")
    with django_assert_num_queries(3):  # a savepoint, the count, its release
        count("192.0.2.1")


@pytest.mark.parametrize("with_key", [True, False])
def test_a_refusal_that_cannot_be_recorded_is_an_error(api, stranger, monkeypatch, with_key):
    def fail(**_):
        raise DatabaseError("disk full")

    monkeypatch.setattr(refusals, "record", fail)
    response = (api if with_key else stranger).post("decisions/", {})
    problem = response.json()
    assert (response.status_code, problem["code"]) == (503, "audit_unavailable")
    assert problem["outcome"] == "deny"
    assert "disk full" not in response.content.decode()


def test_a_record_of_a_refusal_quotes_no_value_of_a_parameter(api):
    lists = [one for one in addresses() if issubclass(one.view, ListView)]
    for one in lists:
        view: Any = one.view
        names = {*view.filterset_class.base_filters, "cursor", "page_size"}
        for name in names:
            for secret in ("hunter2", "`hunter2`hunter2"):
                api.get(f"{one.path}?{name}={secret}")
    told = refused()
    assert len(told) > 2 * len(lists)
    assert "hunter2" not in str([(body, vars(record)) for record, body in told])


def test_a_wrong_word_in_a_parameter_is_told_with_those_that_are_known(api):
    problem = api.get("layers/?scope=sesion&enabled=yes").json()
    assert {fault["parameter"]: fault["message"] for fault in problem["errors"]} == {
        "scope": "`sesion` is not a known word; did you mean `session`",
        "enabled": "`yes` is not a known word; known are false, true",
    }
