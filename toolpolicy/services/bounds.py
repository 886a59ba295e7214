"""API keys that are bound to a context: they reach what is about that context, and nothing else.

The API refuses them wherever an operation is not declared to keep within the context
(`toolpolicy.api.operations`); what keeps within it may still name another one, and says so itself.
"""

from collections.abc import Mapping
from typing import Any

from toolpolicy.models import ApiClient
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import Altered, Refused


def bound_to(actor: Actor) -> Mapping[str, str]:
    """Return the context that an actor is bound to: only API keys are, and not all.

    Raises as `pinned_to`.
    """
    return pinned_to(actor.client)


def pinned_to(client: ApiClient | None) -> Mapping[str, str]:
    """Return the context that a key is bound to. Raises `Altered` where its row holds none."""
    pinned: Any = client.pinned_context if client else {}
    if not is_context(pinned):
        raise Altered("what the key is bound to cannot be read: it was changed in the database")
    context: Mapping[str, str] = pinned
    return context


def is_context(stored: object) -> bool:
    """Tell whether a stored value is a context; an empty list would bind a key to nothing."""
    return isinstance(stored, dict) and all(isinstance(value, str) for value in stored.values())


def refuse_bound(actor: Actor) -> None:
    """Raise Refused when an API key is bound to a context: what is asked is about everybody."""
    if bound_to(actor):
        message = "a key bound to a context neither reads nor changes what is about everybody"
        raise Refused("pinned_context", message)


def loose(pinned: Mapping[str, str], actor: Actor) -> list[str]:
    """Name what binds the actor and does not bind a key with this context."""
    return sorted(k for k, v in bound_to(actor).items() if pinned.get(k) != v)
