"""Who may do what: people, API keys, and what each agent may call under the live policy."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.reading import time_text
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.words import Outcome, Scope
from toolpolicy.models import ApiClient
from toolpolicy.services import seen
from toolpolicy.services.errors import NotFound
from toolpolicy.services.evidence.people import Person, everybody
from toolpolicy.services.evidence.periods import Period
from toolpolicy.services.evidence.tables import NO_AGENT, Column, Report, Section
from toolpolicy.services.matrix import OUTCOMES, Cell, Matrix

Wire = dict[str, Any]
WRITES: Final = frozenset(
    f"{do}_{on}" for do in ("add", "change", "delete") for on in ("layer", "rule")
)
PUBLISHES: Final = frozenset({"publish_policy"})
BROAD: Final = frozenset({"policy:write", "registry:write", "clients:write", "audit:read"})
WORDS: Final[Mapping[str, Any]] = {
    "superuser": _("superuser: may do everything"),
    "writes_and_publishes": _("may write and publish the policy"),
    "own_permissions": _("has permissions of its own, beside its groups"),
    "not_in_period": _("not used in the period"),
    "never": _("never used"),
    "switched_off": _("switched off"),
    "no_end": _("never expires"),
    "broad": _("may change more than ask"),
    "owner_gone": _("its owner is switched off or unknown"),
    "expired": _("expired"),
    "revoked": _("revoked"),
}
PEOPLE: Final = (
    Column(name="name", heading=_("Person")),
    Column(name="active", heading=_("Active")),
    Column(name="superuser", heading=_("Superuser")),
    Column(name="groups", heading=_("Groups")),
    Column(name="permissions", heading=_("May")),
    Column(name="last_sign_in", heading=_("Last sign-in (UTC)"), moment=True),
    Column(name="flags", heading=_("Look at"), words=WORDS),
)
KEYS: Final = (
    Column(name="name", heading=_("Key")),
    Column(name="key_id", heading=_("Id")),
    Column(name="scopes", heading=_("Scopes")),
    Column(name="pins", heading=_("Bound to")),
    Column(name="owner", heading=_("Owner")),
    Column(name="expires_at", heading=_("Expires (UTC)"), moment=True),
    Column(name="last_used_at", heading=_("Last use (UTC)"), moment=True),
    Column(name="flags", heading=_("Look at"), words=WORDS),
)
AGENTS: Final = (
    Column(name="agent", heading=_("Agent"), words=NO_AGENT),
    Column(name="allow", heading=_("May call"), count=True),
    Column(name="needs_approval", heading=_("With approval"), count=True),
    Column(name="depends", heading=_("Depends on arguments"), count=True),
    Column(name="deny", heading=_("Refused"), count=True),
    Column(name="allowed_tools", heading=_("Tools it may call")),
    Column(name="approval_tools", heading=_("Tools that need approval")),
    Column(name="depending_tools", heading=_("Tools that depend on arguments")),
)
COUNTED: Final = _(
    "What a call without a channel meets under the live policy. May call, with approval and "
    "refused are together all tools; those that depend on arguments are counted among them once "
    "more."
)


def access(period: Period, *, now: datetime) -> Report:
    """Return the report: as of `now`, and what was used in the period. A query count that is fixed.

    Each agent's row is worked out when it is asked for.
    """
    matrix = _matrix(now)
    agents = sorted({*seen.values(Scope.AGENT), *matrix.named(Scope.AGENT)}) if matrix else []
    return Report(
        name="access",
        title=_("Access review"),
        period=period,
        head={
            "policy_version": matrix.version if matrix else None,
            "tools": len(matrix.entries) if matrix else 0,
        },
        sections=(
            Section(
                name="people", title=_("People"), columns=PEOPLE, rows=partial(_people, period)
            ),
            Section(
                name="keys", title=_("API keys"), columns=KEYS, rows=partial(_keys, period, now)
            ),
            Section(
                name="agents",
                title=_("Agents"),
                columns=AGENTS,
                rows=partial(_agents, matrix, agents),
                page=50,
                source=COUNTED,
            ),
        ),
    )


def _matrix(now: datetime) -> Matrix | None:
    """Return the matrix of the live policy; None where there is none, and every call is refused."""
    try:
        return Matrix.of(now=now)
    except NotFound:
        return None


def _time(at: datetime | None) -> str | None:
    return None if at is None else time_text(at)


def _people(period: Period) -> Iterator[Wire]:
    return (_person(one, period) for one in everybody())


def _person(person: Person, period: Period) -> Wire:
    held = person.permissions | person.own
    writes = bool(held & WRITES) and bool(held & PUBLISHES)
    flags = {
        "superuser": person.superuser,
        "writes_and_publishes": writes and not person.superuser,
        "own_permissions": bool(person.own),
        **_unused(person.last_sign_in, period),
    }
    told = [name for name, is_so in flags.items() if is_so]
    return {
        "name": person.name,
        "active": person.active,
        "superuser": person.superuser,
        "staff": person.staff,
        "groups": list(person.groups),
        "permissions": sorted(held),
        "last_sign_in": _time(person.last_sign_in),
        # Who cannot sign in needs no look for what they could do then.
        "flags": told if person.active else ["switched_off"],
    }


def _unused(last: datetime | None, period: Period) -> dict[str, bool]:
    return {"never": last is None, "not_in_period": last is not None and last < period.since}


def _keys(period: Period, now: datetime) -> Iterator[Wire]:
    """Yield the keys that were good at any time from the period on. One query."""
    good = Q(revoked_at=None) | Q(revoked_at__gte=period.since)
    running = Q(expires_at=None) | Q(expires_at__gte=period.since)
    keys = ApiClient.objects.filter(good, running).select_related("owner")
    for key in keys.order_by("name", "pk").iterator():
        owner = key.owner
        active = None if owner is None else owner.is_active
        yield {
            "name": key.name,
            "key_id": key.key_id,
            "scopes": sorted(key.held),
            "pinned_context": key.pinned_context,
            "pins": [f"{name}={value}" for name, value in sorted(key.pinned_context.items())],
            "owner": key.owner_label,
            "owner_active": active,
            "created_at": time_text(key.created_at),
            "expires_at": _time(key.expires_at),
            "revoked_at": _time(key.revoked_at),
            "last_used_at": _time(key.last_used_at),
            "flags": [name for name, is_so in _key_flags(key, period, now).items() if is_so],
        }


def _key_flags(key: ApiClient, period: Period, now: datetime) -> dict[str, bool]:
    if key.revoked_at is not None:
        return {"revoked": True}
    if key.expires_at is not None and key.expires_at <= now:
        return {"expired": True}
    return {
        "no_end": key.expires_at is None,
        "broad": bool(BROAD & key.held),
        "owner_gone": key.owner is None or not key.owner.is_active,
        **_unused(key.last_used_at, period),
    }


def _agents(matrix: Matrix | None, agents: Sequence[str]) -> Iterator[Wire]:
    """Yield what each agent may call; the last row is of an agent that nobody named."""
    if matrix is None:
        return
    for agent in (*agents, ""):
        [cells] = matrix.columns(matrix.entries, [{"agent": agent} if agent else {}])
        pairs = list(zip(matrix.entries, cells, strict=True))
        counts = Counter(cell.outcome for cell in cells)
        yield {
            "agent": agent,
            **{str(outcome): counts[outcome] for outcome in OUTCOMES.values()},
            "depends": sum(cell.depends for cell in cells),
            "hidden": sum(cell.hidden for cell in cells),
            "tools": _names(pairs, lambda cell: cell.depends or cell.outcome is not Outcome.DENY),
            "allowed_tools": _names(pairs, lambda cell: cell.outcome is Outcome.ALLOW),
            "approval_tools": _names(pairs, lambda cell: cell.outcome is Outcome.NEEDS_APPROVAL),
            "depending_tools": _names(pairs, lambda cell: cell.depends),
        }


def _names(pairs: Sequence[tuple[Entry, Cell]], wanted: Callable[[Cell], bool]) -> list[str]:
    return [f"{entry.family}/{entry.name}" for entry, cell in pairs if wanted(cell)]
