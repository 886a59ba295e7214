"""Every method of every address of the API, as the code declares it."""

import re
from dataclasses import dataclass
from typing import Any

from toolpolicy.api import urls
from toolpolicy.api.base import METHODS, ApiView
from toolpolicy.models.choices import KeyScope

ARGUMENTS = {
    "pk": "1",
    "number": "1",
    "uid": "00000000-0000-4000-8000-000000000000",
    "name": "agent-allowlist",
}
WRITING = ("POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True)
class Address:
    """One address with its view; `path` is below the root of the API, arguments filled in."""

    path: str
    view: type[ApiView]

    @property
    def scopes(self) -> dict[str, KeyScope]:
        """The scope of each method that is offered."""
        return {
            name.upper(): method.scope
            for name in METHODS
            if (method := getattr(self.view, name, None)) is not None
        }


@dataclass(frozen=True)
class Asked:
    """One method of one address."""

    method: str
    path: str
    scope: str
    within_context: bool

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def addresses() -> list[Address]:
    """Return every address that needs a key."""
    found = []
    for pattern in urls.urlpatterns:
        view: Any = getattr(pattern.callback, "view_class", None)
        if view is not None and issubclass(view, ApiView) and pattern.name != "unknown":
            path = re.sub(r"<\w+:(\w+)>", lambda m: ARGUMENTS[m[1]], str(pattern.pattern))
            found.append(Address(path, view))
    return found


def asked() -> list[Asked]:
    """Return every method of every address that needs a key."""
    return [
        Asked(
            method, address.path, str(scope), getattr(address.view, method.lower()).within_context
        )
        for address in addresses()
        for method, scope in address.scopes.items()
    ]
