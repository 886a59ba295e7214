"""Who may do what now: every account with what its groups and itself are given. Few queries."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.contrib.auth import get_user_model

OURS: Final = "toolpolicy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """An account. `permissions` are ours, from its groups; `own` those given to it itself."""

    key: str
    name: str
    active: bool
    staff: bool
    superuser: bool
    last_sign_in: datetime | None
    groups: tuple[str, ...]
    permissions: frozenset[str]
    own: frozenset[str]

    def may_any(self, permissions: frozenset[str]) -> bool:
        """Tell whether the account can do at least one of these things now."""
        held = self.permissions | self.own
        return self.active and (self.superuser or bool(held & permissions))


def everybody() -> Iterator[Person]:
    """Yield every account, by name. Four queries, whatever their number."""
    users = get_user_model().objects.order_by("username")
    groups = _gathered("groups__name")
    permissions = _gathered("groups__permissions__codename", "groups__permissions")
    own = _gathered("user_permissions__codename", "user_permissions")
    members = ("pk", "username", "is_active", "is_staff", "is_superuser", "last_login")
    for key, name, active, staff, superuser, last in users.values_list(*members):
        yield Person(
            key=str(key),
            name=name,
            active=active,
            staff=staff,
            superuser=superuser,
            last_sign_in=last,
            groups=tuple(sorted(groups.get(key, ()))),
            permissions=frozenset(permissions.get(key, ())),
            own=frozenset(own.get(key, ())),
        )


def _gathered(value: str, permissions: str = "") -> dict[int, set[str]]:
    """Return a value of many rows by account; of `permissions`, only ours."""
    users = get_user_model().objects.filter(**{f"{value}__isnull": False}).order_by()
    if permissions:
        users = users.filter(**{f"{permissions}__content_type__app_label": OURS})
    found: dict[int, set[str]] = {}
    for key, one in users.values_list("pk", value):
        found.setdefault(key, set()).add(one)
    return found
