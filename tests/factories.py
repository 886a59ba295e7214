"""Rows that tests start from, made through the services as everything else is."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission

from toolpolicy.models import Layer, PolicyVersion, Rule
from toolpolicy.services import policies
from toolpolicy.services.actors import Actor, Origin

SYSTEM = Actor.system("tests")
ORIGIN = Origin(request_id="request-1", address="192.0.2.7")


def live_version() -> PolicyVersion:
    live = policies.live()
    assert live is not None
    return live


def make_layer(name: str = "house rules", *, actor: Actor = SYSTEM, **values: Any) -> Layer:
    saved = policies.create_layer(actor=actor, values={"name": name, **values}).layer
    assert saved is not None
    return saved


def make_rule(layer: Layer, *, actor: Actor = SYSTEM, **values: Any) -> Rule:
    """Add a rule; `except` is given as `except_`."""
    members = {name.removesuffix("_"): value for name, value in values.items()}
    saved = policies.create_rule(actor=actor, layer=layer.pk, values={"effect": "deny", **members})
    assert saved.rule is not None
    layer.refresh_from_db()
    return saved.rule


def make_user(
    username: str, *, groups: tuple[str, ...] = (), permissions: tuple[str, ...] = ()
) -> Any:
    user = get_user_model().objects.create_user(username)
    user.groups.set(Group.objects.filter(name__in=groups))
    ours = Permission.objects.filter(content_type__app_label="toolpolicy")
    user.user_permissions.set(ours.filter(codename__in=permissions))
    return user
