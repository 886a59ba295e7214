"""What records do not show of arguments: the rules, kept as one document that the state names.

Rules for all tools have a row of their own; families and tools hold theirs. Every write of one of
them writes the document anew, so that a decision finds all of them by the digest that it reads with
the state anyway. Masking changes no answer, and the registry's digest says nothing of it.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction

from toolpolicy.audit import writer
from toolpolicy.engine import canonical
from toolpolicy.engine.faults import Faults
from toolpolicy.engine.masker import EVERYWHERE, FORMAT, Masker, everywhere_rules
from toolpolicy.models import Document, Masking, PolicyState, Tool, ToolFamily
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import seen
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.errors import InvalidInput, Stale
from toolpolicy.services.made_once import made_once
from toolpolicy.services.registry_store import lock_state
from toolpolicy.services.stored_texts import made_of

# The live rules and those before them.
KEPT: Final = 4
Wire = dict[str, Any]


@made_once(KEPT)
def load(digest: str) -> Masker:
    """Return the rules with this digest; "" is what the product masks by itself.

    Unless cached, one query. Raises `Lost` and `Altered`.
    """
    return made_of("masking", digest, FORMAT, Masker) if digest else Masker({})


def live_digest() -> str:
    """Return the digest of the rules that count now. One query."""
    found = PolicyState.objects.values_list("masking_digest", flat=True).first()
    return found or ""


def write_snapshot(state: PolicyState) -> dict[str, str]:
    """Make the rules that the rows hold now the live ones; return the digests before and after."""
    text = canonical.dumps(_document())
    digests = {"before": state.masking_digest, "after": canonical.digest(text)}
    Document.objects.bulk_create(
        [Document(digest=digests["after"], text=text)], ignore_conflicts=True
    )
    state.masking_digest = digests["after"]
    state.save(update_fields=["masking_digest"])
    return digests


def _document() -> Wire:
    families = ToolFamily.objects.order_by().values_list("name", "masking")
    tools = Tool.objects.order_by("family__name", "name")
    rows = tools.values_list("family__name", "name", "masking")
    return {
        "format": FORMAT,
        "all": everywhere().rules,
        "families": {name: rules for name, rules in families if rules},
        "tools": [
            {"family": one, "name": name, "rules": rules} for one, name, rules in rows if rules
        ],
    }


def everywhere() -> Masking:
    """Return the row of the rules for all tools. One query."""
    return Masking.objects.get(pk=1)


@transaction.atomic
def change(
    *, actor: Actor, version: int, rules: Mapping[str, Any], origin: Origin = NOWHERE
) -> Masking:
    """Change members of the rules for all tools: `mode`, `keys`, `pointers`.

    Members that `rules` leaves out stay. Raises `InvalidInput`, and `Stale` when somebody changed
    them since `version`. What callers sent under a key that is masked from now on is deleted where
    it is offered to authors.
    """
    state = lock_state()
    row = everywhere()
    if row.version != version:
        raise Stale(version, row.version)
    before, after = row.rules, {**row.rules, **rules}
    try:
        everywhere_rules(after)
    except Faults as refused:
        raise InvalidInput(refused.faults) from None
    if after == before:
        return row
    row.rules, row.version = after, row.version + 1
    row.save()
    told = {"before": before, "after": after, "masking": write_snapshot(state)}
    seen.erase_hidden(load(state.masking_digest).shows)
    _record(actor, origin, told)
    return row


def _record(actor: Actor, origin: Origin, told: Wire) -> None:
    body = {
        "action": "change_masking",
        "summary": f"changed what records do not show of {EVERYWHERE}",
        "actor": actor.wire(),
        "origin": origin.wire(),
        "object": {"masking": EVERYWHERE},
        **told,
    }
    index = writer.RecordIndex(
        actor_label=actor.label, object_label="masking", request_id=origin.request_id
    )
    writer.write(kind=RecordKind.CHANGE, body=body, index=index, client=actor.client)
