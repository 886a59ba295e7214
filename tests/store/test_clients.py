"""API keys: shown once, recognised in one query, never able to make more than themselves."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection

from tests.factories import ORIGIN, SYSTEM, make_user
from tests.store.keys import create
from toolpolicy.models import ApiClient, Record
from toolpolicy.models.choices import SCOPE_NEEDS, KeyScope
from toolpolicy.services import clients
from toolpolicy.services._keys import new_key
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import InvalidInput, Refused

pytestmark = pytest.mark.django_db
ON_SQLITE = connection.vendor == "sqlite"


def everything_stored():
    """Return every value of every row of the store as one text."""
    texts = []
    for table in connection.introspection.table_names():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {table}")  # noqa: S608  (our own tables)
            texts += [str(row) for row in cursor.fetchall()]
    return "\n".join(texts)


# --- making --------------------------------------------------------------------------------------


def test_a_key_is_recognised_as_its_client():
    client, key = create()
    assert clients.authenticate(key=key) == client
    assert key.startswith(f"tp_live_{client.key_id}_")


def test_nothing_that_is_stored_is_a_usable_key():
    _, key = create()
    secret = key.split("_")[3]
    assert len(secret) == 40
    assert secret not in everything_stored()


def test_keys_hold_at_least_192_random_bits_and_differ():
    keys = {new_key("live").text for _ in range(200)}
    assert (
        len({key.split("_")[3] for key in keys}) == len({key.split("_")[2] for key in keys}) == 200
    )
    assert 62**40 > 2**192


def test_a_key_does_not_show_its_secret_when_it_is_printed():
    key = new_key("live")
    assert key.secret not in repr(key)


def test_a_new_key_may_decide_and_ends_after_the_deployments_days(settings):
    client, _ = create()
    assert (client.scopes, client.pinned_context) == (["decide"], {})
    assert client.expires_at - client.created_at == timedelta(
        days=settings.TOOLPOLICY.default_key_days
    )


def test_a_key_can_be_made_without_an_end_and_with_one():
    assert create(expires_at=None)[0].expires_at is None
    assert create(expires_at="2100-01-01T00:00:00+01:00")[0].expires_at == datetime(
        2099, 12, 31, 23, tzinfo=UTC
    )


def test_the_owner_is_who_made_it_unless_another_is_named():
    ada, bob = make_user("ada"), make_user("bob")
    own, _ = clients.create(actor=Actor.for_user(ada), values={"name": "a"})
    given, _ = clients.create(actor=Actor.for_user(ada), values={"name": "b"}, owner=bob)
    assert (own.owner, own.owner_label, given.owner_label) == (ada, "ada", "bob")


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"name": ""}, "/name"),
        ({"name": None}, "/name"),
        ({"name": "x" * 201}, "/name"),
        ({"scopes": ["fly"]}, "/scopes/0"),
        ({"scopes": "decide"}, "/scopes"),
        ({"pinned_context": {"agent": 5}}, "/pinned_context/agent"),
        ({"pinned_context": ["agent"]}, "/pinned_context"),
        ({"pinned_context": {"sandbox_mode": "lax"}}, "/pinned_context/sandbox_mode"),
        ({"pinned_context": {"untrusted_content": "no"}}, "/pinned_context/untrusted_content"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "/expires_at"),
        ({"expires_at": "tomorrow"}, "/expires_at"),
        ({"expires_at": 5}, "/expires_at"),
        ({"secret_hash": "0"}, "/secret_hash"),
    ],
)
def test_a_wrong_client_is_refused_at_the_member_that_is_wrong(values, pointer):
    with pytest.raises(InvalidInput) as caught:
        create(**values)
    assert [fault.pointer for fault in caught.value.faults] == [pointer]
    assert not ApiClient.objects.exists()


def test_a_key_gives_only_scopes_that_it_holds():
    own, _ = create(scopes=["decide", "clients:write"])
    actor = Actor.for_client(own)
    assert create(actor, scopes=["decide"])
    with pytest.raises(Refused, match="policy:write") as caught:
        create(actor, scopes=["decide", "policy:write"])
    assert caught.value.code == "scope_not_held"


GROUP_GIVES = {
    "operator": {"decide", "registry:write", "clients:write", "freezes:write"},
    "author": {"decide", "explain", "policy:read", "records:read", "payloads:read"},
    "publisher": {
        *("decide", "explain", "policy:read", "records:read", "payloads:read", "audit:write"),
    },
    "approver": {"decide", "records:read", "payloads:read"},
    "auditor": {"decide", "explain", "policy:read", "records:read", "payloads:read", "audit:read"},
}


@pytest.mark.parametrize("group", GROUP_GIVES)
def test_a_person_gives_only_scopes_for_what_they_may_do(group):
    actor = Actor.for_user(make_user("ada", groups=(group,)))
    for scope in KeyScope.values:
        if scope in GROUP_GIVES[group]:
            assert create(actor, scopes=[scope])[0].scopes == [scope]
            continue
        with pytest.raises(Refused, match=f"not `{scope}`"):
            create(actor, scopes=["decide", scope])
    assert ApiClient.objects.count() == len(GROUP_GIVES[group])


def test_authors_who_publish_too_can_give_away_the_policy():
    ada = make_user("ada", groups=("author", "publisher"))
    assert create(Actor.for_user(ada), scopes=["policy:write"])


def test_a_refusal_names_every_scope_that_the_maker_lacks():
    operator = Actor.for_user(make_user("olga", groups=("operator",)))
    asked = ["decide", "audit:read", "policy:write"]
    with pytest.raises(Refused, match="not `audit:read`, `policy:write`") as caught:
        create(operator, scopes=asked)
    assert [(fault.pointer, fault.code) for fault in caught.value.faults] == [
        ("/scopes", "scope_not_held")
    ]


def test_superusers_and_commands_give_every_scope():
    root = get_user_model().objects.create_superuser("root")
    for actor in (Actor.for_user(root), SYSTEM):
        assert create(actor, scopes=KeyScope.values)[0].scopes == sorted(KeyScope.values)


def test_who_is_no_longer_active_gives_none():
    ada = make_user("ada", groups=("operator",))
    ada.is_active = False
    assert clients.givable(Actor.for_user(ada)) == {KeyScope.DECIDE}


def test_each_scope_says_what_it_needs_and_each_need_is_a_permission():
    ours = Permission.objects.filter(content_type__app_label="toolpolicy")
    assert set(SCOPE_NEEDS) == set(KeyScope)
    needed = {name for names in SCOPE_NEEDS.values() for name in names}
    assert needed <= set(ours.values_list("codename", flat=True))


def test_a_key_that_is_bound_to_a_context_binds_the_keys_it_makes():
    own, _ = create(scopes=["decide", "clients:write"], pinned_context={"agent": "a"})
    actor = Actor.for_client(own)
    assert create(actor, pinned_context={"agent": "a", "channel": "c"})
    for pinned in ({}, {"agent": "b"}):
        with pytest.raises(Refused, match="`agent`"):
            create(actor, pinned_context=pinned)


def test_making_and_revoking_a_key_are_recorded_without_its_secret():
    user = make_user("ada")
    client, key = clients.create(
        actor=Actor.for_user(user), values={"name": "bot", "expires_at": None}, origin=ORIGIN
    )
    clients.revoke(actor=Actor.for_user(user), client=client.pk, origin=ORIGIN)
    revoked, made = Record.objects.newest_first().select_related("body")
    assert (made.kind, made.actor_label, made.object_label) == ("key", "ada", "bot")
    assert json.loads(made.body.text)["key"] == {
        "id": client.key_id, "name": "bot", "owner": "ada", "scopes": ["decide"],
        "pinned_context": {}, "expires_at": None,
    }  # fmt: skip
    assert json.loads(made.body.text)["action"] == "create_key"
    assert json.loads(revoked.body.text)["summary"] == "revoked the key `bot`"
    assert revoked.request_id == "request-1"
    assert key.split("_")[3] not in made.body.text
