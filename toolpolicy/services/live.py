"""What is live at this moment, read by every decision in one query, and the policies by digest.

Policies and registries are content-addressed: a cached one is never out of date, and what a
decision is judged by is exactly what this query names (DESIGN, "How a policy becomes live").
"""

from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

from django.db import connection

from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.compiled_listing import CompiledListing, Row
from toolpolicy.engine.documents import FORMAT, parse_policy
from toolpolicy.engine.evaluate import Judged
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.values import Policy
from toolpolicy.engine.words import Exposure, Surface
from toolpolicy.models import ApiClient
from toolpolicy.models.fields import unreadable_time
from toolpolicy.services import registry_store
from toolpolicy.services.errors import Altered, Lost, key_revoked
from toolpolicy.services.made_once import made_once
from toolpolicy.services.stored_texts import made_of

# The live policy, the ones around a publication, and a few that replays ask for.
KEPT = 8

# What each listing surface shows of the registry; an unknown exposure is a direct one.
SHOWN = {
    Surface.CATALOG: (Exposure.DIRECT,),
    Surface.SEARCH: (Exposure.DIRECT, Exposure.DEFERRED),
}

# One row at least: the state; more when freezes stand. The ORM cannot join what has no relation.
# A freeze stands too where somebody wrote no time in place of when it was lifted or ends; each half
# has an index, or else every decision would look through the lifted ones.
_LIVE_SQL = """
SELECT v.number, v.document_id, s.registry_digest, s.settings_digest, s.masking_digest, {clock},
    k.revoked_at IS NOT NULL, CASE
        WHEN s.registry_digest = '' AND EXISTS (SELECT 1 FROM toolpolicy_tool) THEN 'registry'
        WHEN s.masking_digest = '' AND EXISTS (
            SELECT 1 FROM toolpolicy_masking WHERE version > 1
        ) THEN 'masking'
        ELSE ''
    END, f.kind, f.value, f.reason
FROM toolpolicy_policystate s
LEFT JOIN toolpolicy_policyversion v ON v.id = s.live_id
LEFT JOIN toolpolicy_apiclient k ON k.id = %s
LEFT JOIN (
    SELECT id, kind, value, reason, until FROM toolpolicy_freeze WHERE lifted_at IS NULL
    UNION ALL
    SELECT id, kind, value, reason, until FROM toolpolicy_freeze WHERE {no_time_of_lifting}
) f ON f.until IS NULL OR f.until > %s OR {no_end}
WHERE s.id = 1
ORDER BY f.kind, f.value, f.id
"""
# The database's own time, as records write times.
_CLOCKS: Final = {
    "sqlite": "strftime('%%Y-%%m-%%dT%%H:%%M:%%f000Z', 'now')",
    "postgresql": (
        "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
    ),
}


@dataclass(frozen=True, slots=True)
class Standing:
    """A freeze that stands: what is stopped, and why."""

    kind: str
    value: str
    reason: str

    def wire(self) -> dict[str, str]:
        """Return it as records keep it."""
        return {"kind": self.kind, "value": self.value, "reason": self.reason}


@lru_cache(maxsize=len(_CLOCKS))
def _live_sql(vendor: str) -> str:
    return _LIVE_SQL.format(
        clock=_CLOCKS[vendor],
        no_time_of_lifting=unreadable_time("lifted_at", vendor),
        no_end=unreadable_time("f.until", vendor),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """The digests that decisions are judged by; `version` is None before any publication.

    No policy has the digest "", but that there is none: a version without one raises `Lost`.
    """

    version: int | None
    policy: str
    registry: str
    settings: str
    freezes: tuple[Standing, ...] = ()
    masking: str = ""
    clock: str = field(default="", compare=False)
    """What the database's clock said; "" where nothing was read."""

    def __post_init__(self) -> None:
        if self.version is not None and not self.policy:
            raise Lost(f"document of version {self.version} of the policy")


def read_live(now: datetime, client: ApiClient | None = None) -> Live:
    """Read what is live at `now`. One query.

    Raises `KeyRefused` when the key of `client` was revoked: then nothing is live for it. Raises
    `Lost` when the live version has no document, `Altered` when the state names no registry or no
    masking though there is one.
    """
    with connection.cursor() as cursor:
        moment = connection.ops.adapt_datetimefield_value(now)
        asked = [client.pk if client else None, moment]
        cursor.execute(_live_sql(connection.vendor), asked)
        rows = cursor.fetchall()
    if not rows:
        return Live(version=None, policy="", registry="", settings="")
    number, document, registry, settings, masking, clock, revoked, emptied = rows[0][:8]
    if revoked:
        raise key_revoked()
    if emptied:
        raise Altered(f"the state names no {emptied}, though there is one: it was changed")
    freezes = tuple(Standing(*row[8:]) for row in rows if row[8] is not None)
    return Live(
        version=number,
        policy=document or "",
        registry=registry,
        settings=settings,
        freezes=freezes,
        masking=masking,
        clock=clock,
    )


@made_once(KEPT)
def policy_of(digest: str) -> Policy:
    """Return the policy whose document has this digest; "" is the empty one. At most one query.

    Raises `Lost` and `Altered`.
    """
    return made_of("policy", digest, FORMAT, parse_policy) if digest else Policy()


@made_once(KEPT)
def compiled(policy: str, registry_digest: str) -> CompiledPolicy:
    """Return a policy ready to decide, with the tools of a registry pinned; both by digest.

    Unless cached, one query for the policy and those of the registry. Raises `Lost` and
    `Altered`.
    """
    ready = CompiledPolicy(policy_of(policy))
    ready.pin(entry.subject for entry in registry_store.load(registry_digest))
    return ready


class Shelf(NamedTuple):
    """The registered tools that a listing surface shows, and their listing in the same order."""

    entries: tuple[Entry, ...]
    listing: CompiledListing


@made_once(KEPT)
def shelf(policy: str, registry_digest: str, surface: Surface) -> Shelf:
    """Return what a surface shows of a registry under a policy; queries and errors as `compiled`.

    A tool whose state refuses every use has its place too: it is withheld by name.
    """
    shown = SHOWN[surface]
    entries = tuple(
        entry
        for entry in registry_store.load(registry_digest)
        if (entry.subject.exposure or Exposure.DIRECT) in shown
    )
    rows = [Row(Judged(e.subject, floor=e.floor), e.depends_on_arguments) for e in entries]
    return Shelf(entries, CompiledListing(compiled(policy, registry_digest), surface, rows))
