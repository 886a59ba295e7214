"""Emergency stops of one agent, channel, family or tool, whatever the rules say."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from toolpolicy.audit import writer
from toolpolicy.engine.faults import shown
from toolpolicy.engine.globs import same_text
from toolpolicy.engine.reading import Reader, time_text
from toolpolicy.models import Freeze
from toolpolicy.models.choices import FreezeKind, RecordKind
from toolpolicy.models.versions import FreezeQuerySet
from toolpolicy.services import sealing
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.bounds import bound_to
from toolpolicy.services.errors import InvalidInput, NotFound, Refused, model_faults

MEMBERS: Final = ("kind", "value", "reason", "until")


def active(now: datetime) -> FreezeQuerySet:
    """Return the freezes that stand at `now`."""
    return Freeze.objects.live(now)


def standing_over(named: Mapping[str, str]) -> list[Freeze]:
    """Return the freezes that stand now over any of these, each value by its kind. One query."""
    standing = active(timezone.now()).filter(kind__in=named)
    # Databases fold more letters than a decision does.
    return [one for one in standing if same_text(one.value, named[one.kind])]


def visible_to(actor: Actor) -> FreezeQuerySet:
    """Return the freezes that an actor may see: a key bound to a context those of that context."""
    pinned = bound_to(actor)
    if not pinned:
        return Freeze.objects.all()
    own = Q(pk__in=())
    for kind, value in pinned.items():
        own |= Q(kind=kind, value__iexact=value)
    return Freeze.objects.filter(own)


@transaction.atomic
def freeze(*, actor: Actor, values: Mapping[str, Any], origin: Origin = NOWHERE) -> Freeze:
    """Stop what `kind` and `value` name, for `reason`, until `until` (null: until it is lifted).

    Raise InvalidInput, and Refused (`pinned_context`) when a key that is bound to a context would
    stop something else than its own agent or channel.
    """
    read = _read(values)
    _refuse_beyond_context(actor, read["kind"], read["value"])
    found = Freeze(
        **read,
        created_by_id=actor.user.pk if actor.user else None,
        created_by_label=actor.label,
    )
    try:
        found.full_clean(exclude={"created_by"})
    except ValidationError as error:
        raise InvalidInput(model_faults(error, {})) from None
    found.save()
    _record("freeze", f"froze the {found.kind} {shown(found.value)}", found, actor, origin)
    return found


@transaction.atomic
def lift(*, actor: Actor, freeze: int, origin: Origin = NOWHERE) -> Freeze:
    """End a freeze now; `freeze` is its key. One that was lifted already stays as it is.

    Raise NotFound, and Refused as `freeze` does.
    """
    found = Freeze.objects.select_for_update().filter(pk=freeze).first()
    if found is None:
        raise NotFound(f"freeze {freeze}")
    _refuse_beyond_context(actor, found.kind, found.value)
    if found.lifted_at is None:
        found.lifted_at = timezone.now()
        found.save(update_fields=("lifted_at",))
        summary = f"lifted the freeze of the {found.kind} {shown(found.value)}"
        _record("lift", summary, found, actor, origin)
    return found


def _refuse_beyond_context(actor: Actor, kind: str, value: str) -> None:
    pinned = bound_to(actor)
    if pinned and (kind not in pinned or not same_text(pinned[kind], value)):
        raise Refused(
            "pinned_context",
            "a key bound to a context freezes and lifts its own agent or channel only",
        )


def _read(values: Mapping[str, Any]) -> dict[str, Any]:
    reader = Reader()
    members = reader.members(dict(values), "", MEMBERS)
    kind = reader.word(members.get("kind"), "/kind", FreezeKind)
    value = reader.text(members.get("value", ""), "/value")
    reason = reader.text(members.get("reason", ""), "/reason")
    for name, text in (("value", value), ("reason", reason)):
        if text is not None and not text.strip():
            reader.fault(f"/{name}", f"a freeze needs a {name}", "missing")
    until = members.get("until")
    if until is not None:
        until = reader.time(time_text(until) if isinstance(until, datetime) else until, "/until")
        if until is not None and until <= timezone.now():
            reader.fault("/until", "the end of a freeze must be in the future")
    if reader.faults:
        raise InvalidInput(reader.faults)
    return {"kind": kind, "value": value, "reason": reason, "until": until}


def _record(action: str, summary: str, found: Freeze, actor: Actor, origin: Origin) -> None:
    body = {
        "action": action,
        "summary": summary,
        "actor": actor.wire(),
        "origin": origin.wire(),
        "freeze": {
            "id": str(found.pk),
            "kind": found.kind,
            "value": found.value,
            "reason": found.reason,
            "until": time_text(found.until) if found.until else None,
        },
    }
    named = {found.kind: found.value}
    index = writer.RecordIndex(
        agent=named.get(FreezeKind.AGENT, ""),
        channel=named.get(FreezeKind.CHANNEL, ""),
        family=named.get(FreezeKind.FAMILY, ""),
        tool=named.get(FreezeKind.TOOL, ""),
        actor_label=actor.label,
        object_label=f"{found.kind} {found.value}",
        request_id=origin.request_id,
    )
    writer.write(kind=RecordKind.FREEZE, body=body, index=index, client=actor.client)
    sealing.after_commit()
