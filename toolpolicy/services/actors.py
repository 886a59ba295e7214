"""Who does something, and from where: every write names both, and its record keeps copies."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from django.contrib.auth.models import AbstractUser

from toolpolicy.models import ApiClient


class ActorKind(StrEnum):
    """What an actor is."""

    USER = "user"
    CLIENT = "client"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A person in the admin, an API key, or the product itself (a command)."""

    kind: ActorKind
    label: str
    user: AbstractUser | None = None
    client: ApiClient | None = None

    @classmethod
    def for_user(cls, user: AbstractUser) -> Self:
        """Return the actor that this signed-in person is."""
        return cls(kind=ActorKind.USER, label=user.get_username(), user=user)

    @classmethod
    def for_client(cls, client: ApiClient) -> Self:
        """Return the actor that this API key is."""
        return cls(kind=ActorKind.CLIENT, label=client.name, client=client)

    @classmethod
    def system(cls, label: str) -> Self:
        """Return the product itself, doing what `label` names."""
        return cls(kind=ActorKind.SYSTEM, label=label)

    def may(self, permission: str) -> bool:
        """Tell whether the actor holds one of our permissions. An API key holds none, only scopes.

        This can query: Django reads a user's permissions once per request.
        """
        if self.user is not None:
            return self.user.has_perm(f"toolpolicy.{permission}")
        return self.kind is ActorKind.SYSTEM

    def wire(self) -> dict[str, Any]:
        """Return what a record keeps of the actor."""
        out: dict[str, Any] = {"kind": str(self.kind), "label": self.label}
        if self.user is not None:
            out |= {"user": str(self.user.pk), "superuser": self.user.is_superuser}
        if self.client is not None:
            out["key_id"] = self.client.key_id
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a request came from; empty for commands."""

    request_id: str = ""
    address: str = ""

    def wire(self) -> dict[str, str]:
        """Return what a record keeps of it: the members that are known."""
        members = {"request_id": self.request_id, "address": self.address}
        return {name: value for name, value in members.items() if value}


NOWHERE: Final = Origin()
