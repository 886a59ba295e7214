"""Who is let in: keys, and nothing else."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from tests.api.addresses import asked
from tests.factories import SYSTEM
from toolpolicy.models import ApiClient
from toolpolicy.services import clients


def code_of(response):
    assert response.headers["Content-Type"] == "application/problem+json"
    return response.status_code, response.json()["code"]


def test_no_address_answers_without_a_key(stranger):
    for one in asked():
        response = stranger.send(one.method, one.path, b"not even JSON")
        assert code_of(response) == (401, "key_missing"), one
        assert response.headers["WWW-Authenticate"] == 'Bearer realm="toolpolicy"'


def test_no_address_answers_a_wrong_key(key_with):
    api = key_with("decide")
    last = "y" if api.key[-8] == "x" else "x"
    api.key = f"{api.key[:-8]}{last}{api.key[-7:]}"
    for one in asked():
        response = api.send(one.method, one.path, b"{}")
        assert code_of(response) == (401, "key_invalid"), one
        assert 'error="invalid_token"' in response.headers["WWW-Authenticate"]


def test_a_wrong_secret_and_an_unknown_id_are_told_alike(key_with):
    api = key_with("decide")
    other = key_with("decide")
    known, secret = api.key.split("_")[2], other.key.split("_")[2]
    ApiClient.objects.filter(key_id=known).update(secret_hash="0" * 64)
    wrong = api.post("decisions/", {}).json()
    ApiClient.objects.filter(key_id=secret).update(key_id="zzzzzzzz")
    unknown = other.post("decisions/", {}).json()
    assert {**wrong, "request_id": ""} == {**unknown, "request_id": ""}


def test_only_the_holder_of_a_key_learns_that_it_was_revoked_or_has_expired(key_with):
    revoked, expired = key_with("decide"), key_with("decide")
    clients.revoke(actor=SYSTEM, client=revoked.client.pk)
    past = timezone.now() - timedelta(seconds=1)
    rows = ApiClient.objects.filter(pk=expired.client.pk)
    rows.update(created_at=past - timedelta(days=1), expires_at=past)
    assert code_of(revoked.post("decisions/", {})) == (401, "key_revoked")
    assert code_of(expired.post("decisions/", {})) == (401, "key_expired")
    rows.update(secret_hash="0" * 64)
    assert code_of(expired.post("decisions/", {})) == (401, "key_invalid")


@pytest.mark.parametrize("scheme", ["bearer", "BEARER", "Bearer  "])
def test_the_scheme_is_read_in_any_case(api, scheme):
    key, api.key = api.key, ""
    sent = {"surface": "call", "tool": "x"}
    assert api.post("decisions/", sent, Authorization=f"{scheme} {key}").status_code == 200


@pytest.mark.parametrize(
    "header", ["{}", "Basic {}", "Bearer", "Bearer {} {}", "Token {}", "Bearer é{}"]
)
def test_any_other_header_is_no_key(api, header):
    key, api.key = api.key, ""
    response = api.post("decisions/", {}, Authorization=header.format(key, key))
    assert code_of(response) == (401, "key_invalid")


def test_a_session_of_the_admin_is_no_key(stranger):
    user = get_user_model().objects.create_superuser("root")
    stranger.http.force_login(user)
    assert code_of(stranger.get("layers/")) == (401, "key_missing")


def test_the_key_is_looked_for_before_the_body_is_read(stranger):
    response = stranger.post("tools/import/", b"[" * 100_000)
    assert code_of(response) == (401, "key_missing")


def test_a_key_costs_one_query(api, django_assert_num_queries):
    api.get("nothing/")  # notes when the key was last used, once a minute
    with django_assert_num_queries(1):
        clients.authenticate(key=api.key)
