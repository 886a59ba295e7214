"""People signing in and out: each is a record, and guessing passwords is slowed down.

Who fails too often with one name from one address, or with many names from it, waits. A failure
that was looked at is a record; what comes while somebody waits is only counted, by address and
minute, as requests without a key are.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import salted_hmac

from toolpolicy.audit import writer
from toolpolicy.conf import conf
from toolpolicy.engine.faults import shown
from toolpolicy.models import SignInAttempt
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import refusals
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.origins import counted_address

# An address may fail this many times as often as one name from it: people share addresses.
NAMES: Final = 10
NOBODY: Final = "somebody"
REFUSED, WAITING = 401, 429


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try to sign in. `wait` says how many minutes are left to wait; 0: it may go on."""

    name: str
    origin: Origin
    address: str
    account: str
    wait: int = 0


def begin(*, name: str, origin: Origin = NOWHERE) -> Attempt:
    """Count a try before its password is looked at, so that many at once are no way around."""
    now = timezone.now()
    minute = now.replace(second=0, microsecond=0)
    account = salted_hmac("toolpolicy.sign_in", name, algorithm="sha256").hexdigest()
    with transaction.atomic():
        SignInAttempt.objects.filter(minute__lt=minute - _window()).delete()
        address, account = _counted(origin, account, minute)
        row: dict[str, Any] = {"minute": minute, "address": address, "account": account}
        tried, created = SignInAttempt.objects.get_or_create(**row)
        if not created:
            SignInAttempt.objects.filter(pk=tried.pk).update(count=F("count") + 1)
        wait = _wait(address, account, now)
        if wait:
            # What is not looked at does not lengthen the wait.
            transaction.set_rollback(True)
    if wait:
        refusals.count(origin.address, WAITING)
    return Attempt(name=name, origin=origin, address=address, account=account, wait=wait)


def _window() -> timedelta:
    return timedelta(minutes=conf().sign_in_minutes)


def _counted(origin: Origin, account: str, minute: datetime) -> tuple[str, str]:
    """Return what a try is counted under; beyond many addresses a minute, few rows for the rest."""
    address = counted_address(origin.address)
    known = SignInAttempt.objects.filter(address=address).exists()
    rows = SignInAttempt.objects.filter(minute=minute)
    if known or rows.count() < refusals.MOST_ADDRESSES:
        return address, account
    return refusals.OTHERS, account[:3]


def _wait(address: str, account: str, now: datetime) -> int:
    """Return how many minutes there are to wait, by what is counted with this try."""
    most = conf().sign_in_failures
    found = SignInAttempt.objects.filter(address=address)
    own = list(found.filter(account=account))
    # The rows of all others together say nothing about one of them.
    everybody = [] if address == refusals.OTHERS else list(found)
    for rows, bound in ((own, most), (everybody, most * NAMES)):
        if sum(row.count for row in rows) > bound:
            over = min(row.minute for row in rows) + _window() - now
            return max(1, ceil(over / timedelta(minutes=1)))
    return 0


@transaction.atomic
def signed_in(*, actor: Actor, attempt: Attempt) -> None:
    """Record that somebody signed in, and forget the failures before."""
    tries = SignInAttempt.objects.filter(address=attempt.address, account=attempt.account)
    tries.delete()
    _record("sign_in", "signed in", actor, attempt.origin)


@transaction.atomic
def signed_out(*, actor: Actor, origin: Origin = NOWHERE) -> None:
    """Record that somebody signed out."""
    _record("sign_out", "signed out", actor, origin)


@transaction.atomic
def failed(*, attempt: Attempt, right_password: bool) -> None:
    """Record a failed try; with the `right_password`, of one who may not see these pages.

    A name that is nobody's is not written down: people type their password there by mistake.
    """
    if attempt.address == refusals.OTHERS:
        refusals.count(attempt.origin.address, REFUSED)
        return
    known = get_user_model().objects.filter(username=attempt.name).exists()
    name = attempt.name if known else ""
    whom = shown(name) if known else "a name that is nobody's"
    reason = "no_access" if right_password else "wrong_password" if known else "unknown_name"
    body = {
        "action": "sign_in_failed",
        "summary": f"could not sign in as {whom}",
        "origin": attempt.origin.wire(),
        "object": {"account": name or None},
        "reason": reason,
    }
    _write(body, NOBODY, name, attempt.origin)


def _record(action: str, summary: str, actor: Actor, origin: Origin) -> None:
    body = {
        "action": action,
        "summary": summary,
        "actor": actor.wire(),
        "origin": origin.wire(),
        "object": {"account": actor.label},
    }
    _write(body, actor.label, actor.label, origin)


def _write(body: dict[str, Any], label: str, about: str, origin: Origin) -> None:
    index = writer.RecordIndex(actor_label=label, object_label=about, request_id=origin.request_id)
    writer.write(kind=RecordKind.SIGN_IN, body=body, index=index)
