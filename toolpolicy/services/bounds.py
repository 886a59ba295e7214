"""API keys that are bound to a context: they reach what is about that context, and nothing else.

The API refuses them wherever an operation is not declared to keep within the context
(`toolpolicy.api.operations`); what keeps within it may still name another one, and says so itself.
"""

from collections.abc import Mapping

from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import Refused


def bound_to(actor: Actor) -> Mapping[str, str]:
    """Return the context that an actor is bound to: only API keys are, and not all."""
    return actor.client.pinned_context if actor.client else {}


def refuse_bound(actor: Actor) -> None:
    """Raise Refused when an API key is bound to a context: what is asked is about everybody."""
    if bound_to(actor):
        message = "a key bound to a context neither reads nor changes what is about everybody"
        raise Refused("pinned_context", message)


def loose(pinned: Mapping[str, str], actor: Actor) -> list[str]:
    """Name what binds the actor and does not bind a key with this context."""
    return sorted(k for k, v in bound_to(actor).items() if pinned.get(k) != v)
