"""The body of every request: read strictly, and never beyond a limit of bytes, values or time."""

import json
from io import BytesIO

import pytest

from tests.api.addresses import addresses
from tests.api.refusing import GOOD, WITHIN, answered_within, body, raw, refused
from tests.factories import make_layer
from toolpolicy.models import PolicyVersion

BODIES = [
    (method, one.path, one.view.cap)
    for one in addresses()
    for method in one.scopes
    if method not in ("GET", "DELETE") and not one.path.endswith(("rollback/", "revoke/", "lift/"))
]
each_body = pytest.mark.parametrize(
    ("method", "path", "cap"), BODIES, ids=[f"{method} {path}" for method, path, _ in BODIES]
)


@each_body
def test_every_body_is_read_by_the_same_strict_rules(api, method, path, cap):
    before = PolicyVersion.objects.count()
    for sent in (b"", b"{", b'{"a":NaN}', b'{"a":1,"a":2}', b'{"a":"\\ud800"}', b"[" * 5_000):
        response = api.send(method, path, sent)
        assert (response.status_code, response.json()["code"]) == (400, "malformed"), sent
    for sent in (b"[]", b"null", b"1", b'"text"'):
        response = api.send(method, path, sent)
        assert (response.status_code, response.json()["code"]) == (422, "invalid"), sent
    assert PolicyVersion.objects.count() == before


@each_body
def test_a_body_beyond_its_limit_is_refused_and_not_read(api, method, path, cap):
    class Endless(BytesIO):
        """A body without an end, which counts what is taken of it."""

        taken = 0

        def read(self, size=-1, /):
            self.taken += size
            return b" " * size

    endless, most = Endless(), cap.limits.size
    response = api.http.generic(
        method,
        f"/api/v1/{path}",
        headers={"Authorization": f"Bearer {api.key}"},
        CONTENT_TYPE="application/json",
        **{"wsgi.input": endless, "wsgi.input_terminated": True},
    )
    assert (response.status_code, response.json()["code"]) == (413, "too_large")
    assert endless.taken == most + 1


def test_a_body_of_just_the_limit_is_read(api):
    most = 256 * 1024
    sent = body(arguments={"a": ""})
    padded = sent.replace(b'"a": ""', b'"a": "' + b"x" * (most - len(sent)) + b'"')
    assert len(padded) == most
    assert api.post("decisions/", padded).status_code == 200
    assert api.post("decisions/", padded + b" ").status_code == 413


def test_a_stated_length_is_not_believed(api):
    """A body without a length, sent in chunks, is read; one that lies is read as far as it says."""
    start = {"Authorization": f"Bearer {api.key}"}
    response = api.http.generic(
        "POST",
        "/api/v1/decisions/",
        headers=start,
        CONTENT_TYPE="application/json",
        CONTENT_LENGTH="",
        **{"wsgi.input": BytesIO(body()), "wsgi.input_terminated": True},
    )
    assert response.status_code == 200
    for length in ("-1", "abc", "5"):
        lied = api.http.generic(
            "POST",
            "/api/v1/decisions/",
            body(),
            headers=start,
            content_type="application/json",
            CONTENT_LENGTH=length,
        )
        assert (lied.status_code, lied.json()["code"]) == (400, "malformed")


def test_100_001_values_are_too_many(api):
    sent = raw(b"[" + b"0," * 100_000 + b"0]")
    status, problem = refused(api, "decisions/", sent)
    assert (status, problem["code"]) == (413, "too_large")


@pytest.mark.parametrize("count", [0, 1_001])
def test_a_batch_has_from_1_to_1_000_items(api, count):
    sent = json.dumps({"items": [GOOD] * count}).encode()
    status, problem = refused(api, "decisions/batch/", sent, WITHIN)
    assert (status, problem["code"]) == (422, "invalid")
    assert [error["pointer"] for error in problem["errors"]] == ["/items"]


def test_10_000_patterns_are_refused_at_once(api):
    layer = make_layer()
    rule = {"layer": layer.pk, "effect": "deny", "match": {"name": ["a*"] * 10_000}}
    status, problem = refused(api, "rules/", rule, WITHIN)
    assert (status, problem["code"]) == (422, "invalid")
    assert [error["pointer"] for error in problem["errors"]] == ["/match/name"]
    assert PolicyVersion.objects.count() == 2  # the baseline, and the layer


def test_a_pattern_of_2_000_characters_is_refused(api):
    layer = make_layer()
    rule = {"layer": layer.pk, "effect": "deny", "match": {"name": "*a" * 1_000}}
    assert refused(api, "rules/", rule)[0] == 422


def test_a_hostile_glob_is_matched_in_bounded_time(api):
    layer = make_layer()
    pattern = "*a" * 500 + "b"
    match = {"arg": {"pointer": "/text", "value": pattern}}
    rule = {"layer": layer.pk, "effect": "deny", "match": match}
    assert api.post("rules/", rule).status_code == 201
    sent = body(arguments={"text": "a" * 50_000})
    response = answered_within(2 * WITHIN, api, lambda: api.post("decisions/", sent))
    assert response.json()["outcome"] == "allow"
