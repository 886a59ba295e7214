"""`clients/`: keys are made, shown once, listed and revoked."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from tests.api.conftest import Api
from toolpolicy.models import ApiClient, Record, RecordBody

QUESTION = {"surface": "call", "tool": "x"}


def test_a_key_is_made_and_works_at_once(api):
    response = api.post("clients/", {"name": "bot", "scopes": ["decide"]}, X_Request_ID="r-1")
    made = response.json()
    assert response.status_code == 201
    assert made["key"].startswith(f"tp_live_{made['key_id']}_")
    assert Api(made["key"]).post("decisions/", QUESTION).status_code == 200
    record = Record.objects.get(request_id="r-1")
    assert (record.kind, record.client, record.object_label) == ("key", api.client, "bot")


def test_a_secret_is_shown_once_and_stored_nowhere(api):
    made = api.post("clients/", {"name": "bot"}).json()
    secret = made["key"].split("_")[3]
    assert secret not in api.get("clients/").content.decode()
    assert not RecordBody.objects.filter(text__contains=secret).exists()
    row = ApiClient.objects.filter(pk=made["pk"]).values().get()
    assert secret not in str(row)


def test_a_key_ends_by_default_and_never_only_where_that_was_said(key_with):
    api = key_with("clients:write", "decide", expires_at=None)
    made = api.post("clients/", {"name": "bot"}).json()
    left = datetime.fromisoformat(made["expires_at"]) - timezone.now()
    assert timedelta(days=89) < left < timedelta(days=90)
    assert api.post("clients/", {"name": "bot", "expires_at": None}).json()["expires_at"] is None


def test_keys_are_listed_and_filtered(api):
    api.post("clients/", {"name": "bot"})
    found = api.get("clients/?name=bot").json()["results"]
    assert [one["name"] for one in found] == ["bot"]
    assert "secret" not in str(found)
    assert len(api.get("clients/").json()["results"]) == 2


@pytest.mark.parametrize(
    ("sent", "pointers"),
    [
        ({}, ["/name"]),
        ({"name": ""}, ["/name"]),
        ({"name": 5}, ["/name"]),
        ({"name": "n", "scopes": "decide"}, ["/scopes"]),
        ({"name": "n", "scopes": ["decide", "root"]}, ["/scopes/1"]),
        ({"name": "n", "pinned_context": {"agent": 1}}, ["/pinned_context/agent"]),
        ({"name": "n", "pinned_context": {"sandbox_mode": "x"}}, ["/pinned_context/sandbox_mode"]),
        ({"name": "n", "expires_at": "2020-01-01T00:00:00Z"}, ["/expires_at"]),
        ({"name": "n", "secret": "x", "owner": 1}, ["/secret", "/owner"]),
    ],
)
def test_a_wrong_key_is_refused_with_every_fault(api, sent, pointers):
    response = api.post("clients/", sent)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == pointers
    assert ApiClient.objects.count() == 1


def test_a_key_gives_no_more_than_it_has(key_with):
    maker = key_with("clients:write", "decide", pinned_context={"agent": "a"})
    values = {"name": "n", "pinned_context": {"agent": "a"}}
    assert maker.post("clients/", values).status_code == 201
    more = maker.post("clients/", {**values, "scopes": ["policy:write"]})
    assert (more.status_code, more.json()["code"]) == (403, "refused")
    loose = maker.post("clients/", {"name": "n"})
    assert (loose.status_code, loose.json()["code"]) == (403, "pinned_context")


def test_a_key_that_ends_makes_none_that_ends_later(key_with):
    end = timezone.now() + timedelta(minutes=5)
    maker = key_with("clients:write", "decide", expires_at=end)
    for later in (None, (end + timedelta(seconds=1)).isoformat()):
        refused = maker.post("clients/", {"name": "n", "expires_at": later})
        assert (refused.status_code, refused.json()["code"]) == (403, "refused")
        assert refused.json()["errors"][0]["pointer"] == "/expires_at"
    assert ApiClient.objects.count() == 1
    child = maker.post("clients/", {"name": "n"}).json()
    sooner = (end - timedelta(minutes=1)).isoformat()
    grandchild = Api(maker.key).post("clients/", {"name": "m", "expires_at": sooner})
    assert datetime.fromisoformat(child["expires_at"]) == end
    assert grandchild.status_code == 201


def test_a_bound_key_revokes_only_keys_that_are_bound_to_the_same(key_with):
    maker = key_with("clients:write", "decide", pinned_context={"agent": "a"})
    for other in ({}, {"agent": "b"}, {"user": "a"}):
        client = key_with("decide", pinned_context=other).client
        refused = maker.post(f"clients/{client.pk}/revoke/")
        assert (refused.status_code, refused.json()["code"]) == (403, "pinned_context")
    assert not ApiClient.objects.filter(revoked_at__isnull=False).exists()
    for same in ({"agent": "a"}, {"agent": "a", "channel": "c"}):
        client = key_with("decide", pinned_context=same).client
        assert maker.post(f"clients/{client.pk}/revoke/").status_code == 200
    assert maker.post(f"clients/{maker.client.pk}/revoke/").status_code == 200
    assert maker.post("decisions/", QUESTION).json()["code"] == "key_revoked"


def test_a_revoked_key_ends_at_once_and_for_good(api):
    made = api.post("clients/", {"name": "bot"}).json()
    bot = Api(made["key"])
    assert bot.post("decisions/", QUESTION).status_code == 200
    revoked = api.post(f"clients/{made['pk']}/revoke/").json()
    assert revoked["revoked_at"] is not None
    assert bot.post("decisions/", QUESTION).json()["code"] == "key_revoked"
    assert api.post(f"clients/{made['pk']}/revoke/").json()["revoked_at"] == revoked["revoked_at"]
    assert api.post("clients/999/revoke/").status_code == 404
