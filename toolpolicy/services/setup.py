"""A first start: the baseline, one administrator, one key. Done again, it changes nothing."""

import secrets
from typing import Final

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.db import transaction

from toolpolicy.models import ApiClient, PolicyState, PolicyVersion
from toolpolicy.models.choices import KeyScope
from toolpolicy.services import accounts, clients, deployment, policies
from toolpolicy.services.actors import Actor

# What the tour of a newcomer needs, and nothing that changes anything.
FIRST_SCOPES: Final = (
    *(KeyScope.DECIDE, KeyScope.EXPLAIN, KeyScope.POLICY_READ, KeyScope.RECORDS_READ),
)
FIRST_CLIENT: Final = "first steps"


@transaction.atomic
def setup(*, actor: Actor) -> bool:
    """Adopt the deployment's settings and publish the baseline as version 1.

    False when there is a policy already.

    A baseline layer that somebody deleted on purpose stays deleted (`policies.install_baseline`
    puts it back).
    """
    PolicyState.objects.select_for_update().get_or_create(pk=1)
    deployment.adopt()
    if PolicyVersion.objects.exists():
        return False
    return policies.install_baseline(actor=actor).changed


@transaction.atomic
def first_administrator(*, username: str) -> tuple[AbstractUser, str] | None:
    """Make a superuser with a random password and return both; None when there is one already."""
    users = get_user_model().objects
    if users.filter(is_superuser=True).exists():
        return None
    password = secrets.token_urlsafe(18)
    values = {
        "username": username,
        "password": password,
        **dict.fromkeys(("is_staff", "is_superuser"), True),
    }
    return accounts.save_user(actor=Actor.system("setup"), user=None, values=values), password


@transaction.atomic
def first_key(*, actor: Actor, owner: AbstractUser | None = None) -> str | None:
    """Make a key for first steps and return it; None when there is any key already."""
    if ApiClient.objects.exists():
        return None
    values = {"name": FIRST_CLIENT, "scopes": [str(scope) for scope in FIRST_SCOPES]}
    _, key = clients.create(actor=actor, values=values, owner=owner)
    return key
