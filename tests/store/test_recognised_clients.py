"""A key is recognised in one query, and what is no usable key is refused."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tests.factories import SYSTEM
from tests.store.keys import create, refusal, store
from toolpolicy.models import ApiClient, Record
from toolpolicy.services import bounds, clients
from toolpolicy.services._keys import new_key, read_key
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import Altered, NotFound

pytestmark = pytest.mark.django_db
ON_SQLITE = connection.vendor == "sqlite"


def test_a_key_is_recognised_in_one_query(django_assert_num_queries):
    _, key = create()
    clients.authenticate(key=key)
    with django_assert_num_queries(1):
        clients.authenticate(key=key)


def test_the_last_use_is_noted_at_most_once_a_minute(django_assert_num_queries):
    client, key = create()
    with django_assert_num_queries(2):
        clients.authenticate(key=key)
    client.refresh_from_db()
    first = client.last_used_at
    clients.authenticate(key=key)
    client.refresh_from_db()
    assert client.last_used_at == first
    ApiClient.objects.update(last_used_at=first - timedelta(seconds=61))
    clients.authenticate(key=key)
    client.refresh_from_db()
    assert client.last_used_at >= first


@pytest.mark.parametrize(
    "text", ["", "x", "tp_live", "Bearer x", "tp_live_aaaaaaaa_b_c", "tp_live_é", "x" * 5000, "\0"]
)
def test_what_is_no_key_is_refused_without_a_query(text, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert refusal(text) == "key_invalid"


def test_a_mistyped_key_is_refused_without_a_query(django_assert_num_queries):
    _, key = create()
    with django_assert_num_queries(0):
        for index in range(len("tp_live_"), len(key)):
            if key[index] != "_":
                other = "b" if key[index] == "a" else "a"
                assert refusal(key[:index] + other + key[index + 1 :]) == "key_invalid"
        for near in (f"{key}\n", f" {key}", key[:-1], key.upper()):
            assert refusal(near) == "key_invalid"


def test_an_unknown_key_and_a_wrong_secret_look_alike(django_assert_num_queries):
    client, _ = create()
    stranger = new_key("live")
    forged = read_key(stranger.text)
    assert forged == stranger
    ApiClient.objects.filter(pk=client.pk).update(key_id=stranger.id)
    for key in (stranger.text, new_key("live").text):
        with django_assert_num_queries(1):
            assert refusal(key) == "key_invalid"


def test_a_revoked_key_is_refused_for_good():
    client, key = create()
    when = clients.revoke(actor=SYSTEM, client=client.pk).revoked_at
    assert refusal(key) == "key_revoked"
    assert clients.revoke(actor=SYSTEM, client=client.pk).revoked_at == when
    assert Record.objects.count() == 2


def test_a_key_is_refused_from_its_end_on():
    _, key = create()
    ApiClient.objects.update(
        created_at=timezone.now() - timedelta(days=2), expires_at=timezone.now()
    )
    assert refusal(key) == "key_expired"


UNREADABLE = ["garbage", "", "0", "2999", "never", "2999-12-31 00:00:00 or so"]


@pytest.mark.skipif(not ON_SQLITE, reason="PostgreSQL keeps times alone")
@pytest.mark.parametrize("value", UNREADABLE)
def test_an_end_that_cannot_be_read_is_no_endless_key(value):
    _, key = create(expires_at=None)
    assert clients.authenticate(key=key).expires_at is None
    store("expires_at", value)
    assert ApiClient.objects.values_list("expires_at", flat=True).get() is None
    assert refusal(key) == "key_expired"


@pytest.mark.skipif(not ON_SQLITE, reason="PostgreSQL keeps times alone")
@pytest.mark.parametrize("value", UNREADABLE)
def test_a_revocation_that_cannot_be_read_is_one(value):
    _, key = create()
    store("revoked_at", value)
    assert refusal(key) == "key_revoked"


@pytest.mark.parametrize(
    "stored", ['"decide"', "decide", '{"decide": 1}', '["decide", 1]', '[["decide"]]', "null", "7"]
)
def test_scopes_that_are_no_list_of_texts_are_none(stored):
    _, key = create()
    store("scopes", stored)
    client = clients.authenticate(key=key)
    assert client.held == frozenset()
    assert clients.givable(Actor.for_client(client)) == frozenset()


@pytest.mark.parametrize("stored", ["[]", '""', "null", "agent", '"agent"', '{"agent": 1}', "0"])
def test_a_context_that_cannot_be_read_binds_a_key_to_nothing_that_it_could_ask(stored):
    _, key = create(pinned_context={"agent": "support-bot"})
    store("pinned_context", stored)
    with pytest.raises(Altered, match="what the key is bound to cannot be read"):
        bounds.pinned_to(clients.authenticate(key=key))


def test_only_the_right_secret_learns_that_a_key_was_revoked():
    client, _ = create()
    clients.revoke(actor=SYSTEM, client=client.pk)
    stranger = new_key("live")
    ApiClient.objects.update(key_id=stranger.id)
    assert refusal(stranger.text) == "key_invalid"


def test_a_client_that_is_not_there_cannot_be_revoked():
    with pytest.raises(NotFound):
        clients.revoke(actor=SYSTEM, client=9)
