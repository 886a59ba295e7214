"""Context that a key is bound to: it must send these values, and no others (DESIGN §2, ApiClient).

A missing value is refused too, not filled in: what a record says the caller claimed is what it
claimed, and a host that forgets its agent's name learns it at once.
"""

from collections.abc import Mapping

from toolpolicy.api.problems import problem
from toolpolicy.engine.faults import Fault, join, shown
from toolpolicy.models import ApiClient
from toolpolicy.services.bounds import pinned_to


def refuse_other_context(client: ApiClient | None, context: Mapping[str, str]) -> None:
    """Raise a problem (403) that names every pinned value that is missing or another one."""
    faults = tuple(
        Fault(join("/context", key), _said(context.get(key), value), "pinned_context")
        for key, value in pinned_to(client).items()
        if context.get(key) != value
    )
    if faults:
        detail = "the key may only ask with the context that it is bound to"
        raise problem("pinned_context", detail, faults=faults)


def _said(sent: str | None, pinned: str) -> str:
    if sent is None:
        return f"the key must send {shown(pinned)} here"
    return f"the key may only send {shown(pinned)} here, not {shown(sent)}"
