"""Everything that a decision is judged by, gathered once per request (SPEC §10, the last Law)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from time import perf_counter

from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.masker import Masker
from toolpolicy.engine.registry import Registry
from toolpolicy.engine.values import Policy
from toolpolicy.engine.words import ReasonCode, Surface
from toolpolicy.models import SessionTaint
from toolpolicy.services import deployment, masking, registry
from toolpolicy.services.actors import Actor
from toolpolicy.services.deployment import Deployment
from toolpolicy.services.live import Live, Shelf, compiled, read_live, shelf

UNTRUSTED = "untrusted_content"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is live, the asker's tainted sessions, and the time."""

    live: Live
    compiled: CompiledPolicy
    registry: Registry
    deployment: Deployment
    now: datetime
    tainted: frozenset[str] = frozenset()
    masker: Masker = field(default_factory=partial(masking.load, ""))
    """What finds the values that the record does not show."""
    started: float = field(default_factory=perf_counter)
    """When the question came in, by a clock that measures spans."""

    @property
    def policy(self) -> Policy:
        """The policy as written."""
        return self.compiled.policy

    def shelf(self, surface: Surface) -> Shelf:
        """Return what a listing surface shows of the registry."""
        return shelf(self.live.policy, self.live.registry, surface)

    def context_of(self, context: Mapping[str, str]) -> dict[str, str]:
        """Return the context after taint: a caller can raise it, never lower it (SPEC §6)."""
        if context.get("session") in self.tainted:
            return {**context, UNTRUSTED: "true"}
        return dict(context)

    def tainting(self, session: str) -> "Facts":
        """Return the facts after something untrusted was read in `session`."""
        return replace(self, tainted=self.tainted | {session})

    def missing(self, min_version: int | None) -> ReasonCode | None:
        """Say why nothing can be judged: no policy, or an older one than the caller has seen."""
        if self.live.version is None:
            return ReasonCode.NO_POLICY
        if min_version is not None and self.live.version < min_version:
            return ReasonCode.STALE_POLICY
        return None


def gather(
    asker: Actor, sessions: Collection[str], now: datetime, started: float | None = None
) -> Facts:
    """Read the facts: one query, one more when a client names sessions, none for what is cached.

    `started` is when the question came in, by default now. Raises `KeyRefused` for a key that was
    revoked since it was recognised, `Lost` and `Altered` when what is live is not there or is not
    what was published.
    """
    live = read_live(now, asker.client)
    return Facts(
        live=live,
        compiled=compiled(live.policy, live.registry),
        registry=registry.load(live.registry),
        deployment=deployment.in_force(live.settings),
        now=now,
        masker=masking.load(live.masking),
        tainted=_tainted(asker, sessions),
        started=perf_counter() if started is None else started,
    )


def recalled(live: Live, now: datetime) -> Facts:
    """Return the facts of another time, by their digests; settings without one are those of now.

    Five queries at most, none for policies and registries that are cached. Raises `NotFound`
    when a document is not kept.
    """
    return Facts(
        live=live,
        compiled=compiled(live.policy, live.registry),
        registry=registry.load(live.registry),
        deployment=deployment.load(live.settings) if live.settings else deployment.current(),
        now=now,
    )


def _tainted(asker: Actor, sessions: Collection[str]) -> frozenset[str]:
    if asker.client is None or not sessions:
        return frozenset()
    found = SessionTaint.objects.filter(client=asker.client, session__in=sessions)
    return frozenset(found.values_list("session", flat=True))
