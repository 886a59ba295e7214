"""Requests that were refused or failed, undecided: nothing that was asked goes unseen.

A request with a good key is one record. One without is only counted, by address and minute: a flood
of them must not fill the store.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Q, Sum
from django.utils import timezone

from toolpolicy.audit import writer
from toolpolicy.engine.faults import Fault, printable, total
from toolpolicy.engine.questions import LIST_MEMBERS, QUESTION_MEMBERS
from toolpolicy.engine.subjects import MEMBERS as SUBJECT_MEMBERS
from toolpolicy.engine.words import Effect, Mode, Scope, SideEffect, Surface
from toolpolicy.models import ApiClient, RefusalCount
from toolpolicy.models.choices import RecordKind
from toolpolicy.services._policy_edits import LAYER_MEMBERS, RULE_MEMBERS
from toolpolicy.services.actors import Actor, Origin
from toolpolicy.services.origins import counted_address

OUTCOME: Final = "refused"
# A record names this many faults and counts the others.
MOST_FAULTS: Final = 20
LONGEST_PATH: Final = 400
# Addresses counted by name in one minute; those beyond share one row.
MOST_ADDRESSES: Final = 1_000
OTHERS: Final = "others"
_QUOTED: Final = re.compile("`([^`]*)`")
_OWN_WORDS: Final = frozenset(
    (
        *QUESTION_MEMBERS,
        *LIST_MEMBERS,
        *SUBJECT_MEMBERS,
        *LAYER_MEMBERS,
        *RULE_MEMBERS,
        *("items", "defaults", "document", "order"),
        *(str(word) for words in (Surface, Effect, Mode, Scope, SideEffect) for word in words),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What was refused and why: the HTTP status, the problem's code, the faults."""

    status: int
    code: str
    method: str
    path: str
    faults: Sequence[Fault] = ()
    request_digest: str = ""


@transaction.atomic
def record(*, client: ApiClient | None, refusal: Refusal, origin: Origin) -> None:
    """Record a refused request of `client`, or count it where no key was recognised."""
    if client is None:
        count(origin.address, refusal.status)
        return
    actor = Actor.for_client(client)
    path = printable(refusal.path)[:LONGEST_PATH]
    index = writer.RecordIndex(
        outcome=OUTCOME,
        reason_code=refusal.code,
        actor_label=actor.label,
        object_label=f"{refusal.method} {path}",
        request_id=origin.request_id,
        request_digest=refusal.request_digest,
    )
    about = {"actor": actor.wire(), "origin": origin.wire()}
    body = {**about, **_body(refusal, path)}
    writer.write(kind=RecordKind.REFUSED, body=body, index=index, client=client)


def _body(refusal: Refusal, path: str) -> dict[str, Any]:
    return {
        "request": {"method": refusal.method, "path": path},
        "status": refusal.status,
        "code": refusal.code,
        "faults": [
            {
                "pointer": printable(fault.pointer),
                "code": fault.code,
                "message": unquoted(fault.message),
            }
            for fault in refusal.faults[:MOST_FAULTS]
        ],
        "fault_count": total(refusal.faults),
        "request_digest": refusal.request_digest,
    }


def unquoted(message: str) -> str:
    """Return a fault's message without what it quotes of the request; the caller was told it.

    Only words of the product stay: anything else in backticks can be what the caller sent.
    """
    return _QUOTED.sub(lambda met: met[0] if met[1] in _OWN_WORDS else "`…`", message)


def count(address: str, status: int) -> None:
    """Add one to the count of this address, minute and status: mostly one query."""
    minute = timezone.now().replace(second=0, microsecond=0)
    row: dict[str, Any] = {"address": counted_address(address), "minute": minute, "status": status}
    if _added(row):
        return
    if RefusalCount.objects.filter(minute=minute).count() >= MOST_ADDRESSES:
        row["address"] = OTHERS
        if _added(row):
            return
    _, created = RefusalCount.objects.get_or_create(**row)
    if not created:
        _added(row)


def _added(row: dict[str, Any]) -> bool:
    return RefusalCount.objects.filter(**row).update(count=F("count") + 1) == 1


def lately() -> tuple[Counter[int], Counter[int]]:
    """Return the counts of the running hour (UTC) and of the one before, by status. One query."""
    this = timezone.now().replace(minute=0, second=0, microsecond=0)
    counts = RefusalCount.objects.filter(minute__gte=this - timedelta(hours=1)).order_by()
    late = Sum("count", filter=Q(minute__gte=this), default=0)
    running, before = Counter[int](), Counter[int]()
    for status, both, now in counts.values_list("status").annotate(both=Sum("count"), now=late):
        running[status], before[status] = now, both - now
    return running, before
