"""People and their groups: every change is recorded, because it changes who may do what.

Only superusers manage accounts; a person changes their own password. People are switched off and
never deleted: records name them.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser, Group, Permission, User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from toolpolicy.audit import writer
from toolpolicy.engine.faults import shown
from toolpolicy.models.choices import RecordKind
from toolpolicy.services.actors import NOWHERE, Actor, ActorKind, Origin
from toolpolicy.services.errors import InvalidInput, NotFound, Refused, faults_at, model_faults

USER_MEMBERS: Final = (
    *("username", "first_name", "last_name", "email"),
    *("is_active", "is_staff", "is_superuser"),
)
Wire = dict[str, Any]


def user_document(user: AbstractUser) -> Wire:
    """Return what a record says of a person; nothing of the password."""
    return {
        **{name: getattr(user, name) for name in USER_MEMBERS},
        "groups": sorted(user.groups.values_list("name", flat=True)),
        "permissions": _codes(user.user_permissions.all()),
    }


def group_document(group: Group) -> Wire:
    """Return what a record says of a group."""
    return {"name": group.name, "permissions": _codes(group.permissions.all())}


@transaction.atomic
def save_user(
    *,
    actor: Actor,
    user: int | None,
    values: Mapping[str, Any],
    groups: Iterable[Group] | None = None,
    permissions: Iterable[Permission] | None = None,
    origin: Origin = NOWHERE,
) -> AbstractUser:
    """Change a person (`user` None: add one) and what they may do; None leaves that as it is.

    `values` has members of `USER_MEMBERS`, and for a new one `password` (None: no password works).
    Raise InvalidInput, NotFound and Refused.
    """
    _refuse_others(actor)
    found = _user(user) if user else get_user_model()()
    before = user_document(found) if user else None
    for name in USER_MEMBERS:
        setattr(found, name, values.get(name, getattr(found, name)))
    _refuse_lock_out(actor, found)
    _clean(found)
    if user is None:
        _give_password(found, values.get("password"))
    found.save()
    if groups is not None:
        found.groups.set(groups)
    if permissions is not None:
        found.user_permissions.set(permissions)
    done = "changed" if user else "added"
    change = {"before": before, "after": user_document(found)}
    _record(f"{done} the user {shown(found.username)}", found.username, change, (actor, origin))
    return found


@transaction.atomic
def set_password(
    *, actor: Actor, user: int, password: str | None, origin: Origin = NOWHERE
) -> AbstractUser:
    """Give a person a new password; None: none works. Everybody may change their own.

    Raise InvalidInput, NotFound and Refused.
    """
    if actor.user is None or actor.user.pk != user:
        _refuse_others(actor)
    found = _user(user)
    _give_password(found, password)
    found.save(update_fields=("password",))
    what = "switched off" if password is None else "changed"
    _record(f"{what} the password of {shown(found.username)}", found.username, {}, (actor, origin))
    return found


@transaction.atomic
def save_group(
    *,
    actor: Actor,
    group: int | None,
    name: str,
    permissions: Iterable[Permission],
    origin: Origin = NOWHERE,
) -> Group:
    """Change a group (`group` None: add one). Raise InvalidInput, NotFound and Refused."""
    _refuse_others(actor)
    found = _group(group) if group else Group()
    before = group_document(found) if group else None
    found.name = name
    _clean(found)
    found.save()
    found.permissions.set(permissions)
    change = {"before": before, "after": group_document(found)}
    done = "changed" if group else "added"
    _record(f"{done} the group {shown(name)}", name, change, (actor, origin))
    return found


@transaction.atomic
def delete_group(*, actor: Actor, group: int, origin: Origin = NOWHERE) -> None:
    """Delete a group; its members lose what it gave them. Raise NotFound and Refused."""
    _refuse_others(actor)
    found = _group(group)
    change = {"before": group_document(found), "after": None}
    found.delete()
    _record(f"deleted the group {shown(found.name)}", found.name, change, (actor, origin))


def _user(key: int) -> AbstractUser:
    found = get_user_model().objects.select_for_update().filter(pk=key).first()
    if found is None:
        raise NotFound(f"user {key}")
    return found


def _group(key: int) -> Group:
    found = Group.objects.select_for_update().filter(pk=key).first()
    if found is None:
        raise NotFound(f"group {key}")
    return found


def _codes(permissions: Any) -> list[str]:
    pairs = permissions.values_list("content_type__app_label", "codename")
    return sorted(f"{app}.{code}" for app, code in pairs)


def _refuse_others(actor: Actor) -> None:
    superuser = actor.user is not None and actor.user.is_superuser
    if not superuser and actor.kind is not ActorKind.SYSTEM:
        raise Refused("superusers_only", "only superusers manage people and groups")


def _refuse_lock_out(actor: Actor, user: AbstractUser) -> None:
    """Refuse a superuser who would shut themselves out: nobody else may be left to undo it."""
    own = actor.user is not None and actor.user.pk == user.pk
    if own and not (user.is_active and user.is_staff and user.is_superuser):
        raise Refused("own_account", "nobody can take their own access away; ask another superuser")


def _clean(row: AbstractUser | Group) -> None:
    try:
        row.full_clean(exclude={"password"})
    except ValidationError as error:
        raise InvalidInput(model_faults(error, {})) from None


def _give_password(user: AbstractUser, password: str | None) -> None:
    """Set a password that every validator of the settings takes: no caller goes past them."""
    if password is not None:
        try:
            validate_password(password, cast("User", user))
        except ValidationError as error:
            raise InvalidInput(faults_at("/password", error)) from None
    user.set_password(password)


def _record(summary: str, name: str, change: Wire, who: tuple[Actor, Origin]) -> None:
    actor, origin = who
    body = {
        "action": "change_account",
        "summary": summary,
        "actor": actor.wire(),
        "origin": origin.wire(),
        "object": {"account": name},
        **change,
    }
    index = writer.RecordIndex(
        actor_label=actor.label, object_label=name, request_id=origin.request_id
    )
    writer.write(kind=RecordKind.PERMISSION, body=body, index=index, client=actor.client)
