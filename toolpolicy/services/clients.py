"""API keys: made, revoked and recognised. The only write path of clients."""

import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from toolpolicy.audit import writer
from toolpolicy.conf import conf
from toolpolicy.engine.faults import join, shown
from toolpolicy.engine.reading import Reader, time_text
from toolpolicy.engine.subjects import context_faults
from toolpolicy.models import ApiClient
from toolpolicy.models.choices import SCOPE_NEEDS, KeyScope, RecordKind
from toolpolicy.services._keys import Key, new_key, read_key
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.bounds import loose
from toolpolicy.services.errors import (
    InvalidInput,
    KeyRefused,
    NotFound,
    Refused,
    key_revoked,
    model_faults,
)

MEMBERS: Final = ("name", "scopes", "pinned_context", "expires_at")
# Last use is written at most this often: a decision costs no second write.
_GRAIN: Final = timedelta(minutes=1)
_SALT: Final = "toolpolicy.services.clients"
_NO_HASH: Final = "0" * 64
RECOGNISED: Final = ApiClient.objects.annotate(
    has_revocation=Q(revoked_at__isnull=False), has_end=Q(expires_at__isnull=False)
)
"""All clients. What SQLite holds in place of a time may be none: read, it is None like no time."""
_NOT_YOURS: Final = "you can give only scopes for what you may do yourself"


def givable(actor: Actor) -> frozenset[KeyScope]:
    """Return the scopes that an actor can give: a key its own, a person what they may do."""
    if actor.client is not None:
        return frozenset(scope for scope in KeyScope if scope in actor.client.held)
    return frozenset(scope for scope, needed in SCOPE_NEEDS.items() if all(map(actor.may, needed)))


@transaction.atomic
def create(
    *,
    actor: Actor,
    values: Mapping[str, Any],
    owner: AbstractUser | None = None,
    origin: Origin = NOWHERE,
    seed: bytes | None = None,
) -> tuple[ApiClient, str]:
    """Make a client; return it and its key, which is never shown again.

    `values` has `name`, `scopes` (without them: decide), `pinned_context` and `expires_at` (null:
    never; left out: the deployment's default, or with the key that makes it, if that is sooner).
    The owner is the actor unless another one is named.
    Of a secret `seed` the key can be made anew, see `made_of`.
    Raise InvalidInput, and Refused (`scope_not_held`, `pinned_context`, `outlives_maker`) when the
    key could do more, or longer, than who makes it.
    """
    now = timezone.now()
    read = _read(values, now)
    if "expires_at" not in values:
        read["expires_at"] = min(read["expires_at"], _last_end(actor) or read["expires_at"])
    _refuse_more_than_own(actor, read)
    key = _key_of(seed)
    owner = owner or actor.user
    client = ApiClient(
        **read,
        key_id=key.id,
        secret_hash=key.secret_hash,
        owner_id=owner.pk if owner else None,
        owner_label=owner.get_username() if owner else "",
        created_at=now,
    )
    _clean(client)
    client.save()
    _record("create_key", f"made the key {shown(client.name)}", client, actor, origin)
    return client, key.text


def made_of(*, seed: bytes, within: timedelta) -> tuple[ApiClient, str] | None:
    """Return the client that was made of this seed so lately, and its key once more."""
    key = _key_of(seed)
    client = ApiClient.objects.filter(key_id=key.id, created_at__gt=timezone.now() - within).first()
    return (client, key.text) if client else None


def _key_of(seed: bytes | None) -> Key:
    """Return the key that is made of a seed and the deployment's secret; without, a random one."""
    if seed is None:
        return new_key(conf().key_env)
    return new_key(conf().key_env, salted_hmac(_SALT, seed, algorithm="sha512").digest())


@transaction.atomic
def revoke(*, actor: Actor, client: int, origin: Origin = NOWHERE) -> ApiClient:
    """End a key for good; `client` is its row's key. A key that is revoked already stays so.

    Raise NotFound, and Refused (`pinned_context`) when a key that is bound to a context would end
    one that is not bound to the same.
    """
    found = ApiClient.objects.select_for_update().filter(pk=client).first()
    if found is None:
        raise NotFound(f"client {client}")
    if loose(found.pinned_context, actor):
        message = "a key bound to a context revokes only keys that are bound to the same"
        raise Refused("pinned_context", message)
    if found.revoked_at is None:
        # The record first: a key may revoke itself, and a revoked one writes nothing any more.
        _record("revoke_key", f"revoked the key {shown(found.name)}", found, actor, origin)
        found.revoked_at = timezone.now()
        found.save(update_fields=("revoked_at",))
    return found


def authenticate(*, key: str) -> ApiClient:
    """Return the client that a key is of: one query, and once a minute one more.

    Raise KeyRefused: `key_invalid` (no key, mistyped, unknown), `key_revoked`, `key_expired`. Which
    of the two last it is, only the holder of the right secret learns. A key whose end somebody made
    unreadable in the database is refused: it would have none.
    """
    read = read_key(key)
    client = RECOGNISED.filter(key_id=read.id).first() if read else None
    # Compared also without a client, so that an unknown id takes as long as a wrong secret.
    stored = client.secret_hash if client else _NO_HASH
    same = hmac.compare_digest(stored, read.secret_hash if read else "")
    if client is None or not same:
        raise KeyRefused("key_invalid", "the API key is not valid")
    now = timezone.now()
    if client.has_revocation:
        raise key_revoked()
    if client.has_end and (client.expires_at is None or client.expires_at <= now):
        raise KeyRefused("key_expired", "the API key has expired")
    _note_use(client, now)
    return client


def _note_use(client: ApiClient, now: datetime) -> None:
    if client.last_used_at is not None and now - client.last_used_at < _GRAIN:
        return
    older = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - _GRAIN)
    ApiClient.objects.filter(older, pk=client.pk).update(last_used_at=now)
    client.last_used_at = now


# --- what a new client is ------------------------------------------------------------------------


def _read(values: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    reader = Reader()
    members = reader.members(dict(values), "", MEMBERS)
    name = reader.text(members.get("name", ""), "/name")
    if name == "":
        reader.fault("/name", "a client needs a name", "missing")
    scopes = reader.words(members.get("scopes", [KeyScope.DECIDE.value]), "/scopes", KeyScope)
    read = {
        "name": name,
        "scopes": sorted({str(scope) for scope in scopes}),
        "pinned_context": _read_context(reader, members.get("pinned_context", {})),
        "expires_at": _read_end(reader, members, now),
    }
    if reader.faults:
        raise InvalidInput(reader.faults)
    return read


def _read_context(reader: Reader, value: Any) -> dict[str, str]:
    at = "/pinned_context"
    if not reader.has_kind(value, dict, at):
        return {}
    context = {k: v for k, v in value.items() if reader.text(v, join(at, k)) is not None}
    found = context_faults(context)
    reader.found.extend(fault.moved(f"{at}{fault.pointer}") for fault in found)
    return context


def _read_end(reader: Reader, members: Mapping[str, Any], now: datetime) -> datetime | None:
    if "expires_at" not in members:
        return now + timedelta(days=conf().default_key_days)
    given = members["expires_at"]
    if given is None:
        return None
    end = reader.time(time_text(given) if isinstance(given, datetime) else given, "/expires_at")
    if end is not None and end <= now:
        reader.fault("/expires_at", "a key must expire in the future")
    return end


def _refuse_more_than_own(actor: Actor, read: Mapping[str, Any]) -> None:
    """Raise Refused when somebody would make a key that may do more than themselves."""
    may_give = givable(actor)
    more = [f"`{scope}`" for scope in read["scopes"] if scope not in may_give]
    if more:
        who = "a key can give only scopes that it holds" if actor.client else _NOT_YOURS
        raise Refused("scope_not_held", f"{who}, not {', '.join(more)}", at="/scopes")
    unbound = loose(read["pinned_context"], actor)
    if unbound:
        name = shown(unbound[0])
        raise Refused("pinned_context", f"a key bound to a context binds its keys too: {name}")
    last = _last_end(actor)
    if last is not None and (read["expires_at"] is None or read["expires_at"] > last):
        message = f"a key that ends makes only keys that end no later: {time_text(last)}"
        raise Refused("outlives_maker", message, at="/expires_at")


def _last_end(actor: Actor) -> datetime | None:
    """Return when the keys that an actor makes end at the latest; null: they need not end."""
    return actor.client.expires_at if actor.client else None


def _clean(client: ApiClient) -> None:
    try:
        client.full_clean(exclude={"owner"})
    except ValidationError as error:
        raise InvalidInput(model_faults(error, {})) from None


def _record(action: str, summary: str, client: ApiClient, actor: Actor, origin: Origin) -> None:
    end = client.expires_at
    body = {
        "action": action,
        "summary": summary,
        "actor": actor.wire(),
        "origin": origin.wire(),
        "key": {
            "id": client.key_id,
            "name": client.name,
            "owner": client.owner_label,
            "scopes": client.scopes,
            "pinned_context": client.pinned_context,
            "expires_at": time_text(end) if end else None,
        },
    }
    index = writer.RecordIndex(
        actor_label=actor.label, object_label=client.name, request_id=origin.request_id
    )
    writer.write(kind=RecordKind.KEY, body=body, index=index, client=actor.client)
