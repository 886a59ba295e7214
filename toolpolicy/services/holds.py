"""Legal holds: what one covers is neither deleted nor erased until it is lifted."""

from collections.abc import Mapping
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from toolpolicy.audit import sealer, writer
from toolpolicy.engine.faults import shown
from toolpolicy.engine.reading import Reader
from toolpolicy.models import LegalHold, Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import record_filters, sealing
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.bounds import refuse_bound
from toolpolicy.services.errors import InvalidInput, NotFound, Refused, model_faults
from toolpolicy.services.record_filters import RecordFilter

MEMBERS: Final = ("name", "reason", "filter")
MOST_COUNTED: Final = 10_000


def standing_filters() -> list[RecordFilter]:
    """Return what the holds that stand cover. One query.

    Raise Refused when one cannot be read: what it covers is not known, so nothing may be deleted.
    """
    found = []
    for hold in LegalHold.objects.standing():
        try:
            found.append(record_filters.parse(hold.filter))
        except InvalidInput as error:
            message = f"the filter of the hold {shown(hold.name)} cannot be read: {error}"
            raise Refused("hold_unreadable", message) from error
    return found


def covered(hold: LegalHold) -> int:
    """Return how many records a hold covers now, counted up to `MOST_COUNTED`."""
    asked = record_filters.parse(hold.filter)
    return asked.narrow(Record.objects.order_by())[:MOST_COUNTED].count()


@transaction.atomic
def place(*, actor: Actor, values: Mapping[str, Any], origin: Origin = NOWHERE) -> LegalHold:
    """Keep what `filter` asks for, now and later, under `name` and for `reason`.

    Once it returns, nothing covered is deleted any more. Raise InvalidInput, and Refused
    (`pinned_context`) for a key that is bound to a context.
    """
    refuse_bound(actor)
    found = LegalHold(
        **_read(values),
        created_by_id=actor.user.pk if actor.user else None,
        created_by_label=actor.label,
    )
    try:
        found.full_clean(exclude={"created_by"})
    except ValidationError as error:
        raise InvalidInput(model_faults(error, {})) from None
    # Whoever deletes holds the same lock and reads the holds under it.
    sealer.locked(wait=True)
    found.save()
    _record("place", f"placed the hold {shown(found.name)}", found, actor, origin)
    return found


@transaction.atomic
def lift(*, actor: Actor, hold: int, origin: Origin = NOWHERE) -> LegalHold:
    """End a hold; `hold` is its key. One that was lifted already stays as it is.

    Raise NotFound, and Refused as `place` does.
    """
    refuse_bound(actor)
    found = LegalHold.objects.select_for_update().filter(pk=hold).first()
    if found is None:
        raise NotFound(f"hold {hold}")
    if found.lifted_at is None:
        found.lifted_at, found.lifted_by_label = timezone.now(), actor.label
        found.save(update_fields=("lifted_at", "lifted_by_label"))
        _record("lift", f"lifted the hold {shown(found.name)}", found, actor, origin)
    return found


def _read(values: Mapping[str, Any]) -> dict[str, Any]:
    reader = Reader()
    members = reader.members(dict(values), "", MEMBERS)
    read: dict[str, Any] = {}
    for name in ("name", "reason"):
        read[name] = reader.text(members.get(name, ""), f"/{name}")
        if read[name] is not None and not read[name].strip():
            reader.fault(f"/{name}", f"a hold needs a {name}", "missing")
    if "filter" not in members:
        message = "a hold needs a filter; {} covers every record"
        reader.fault("/filter", message, "missing")
    faults = list(reader.faults)
    try:
        read["filter"] = record_filters.parse(members.get("filter", {}), "/filter").wire()
    except InvalidInput as error:
        faults += error.faults
    if faults:
        raise InvalidInput(faults)
    return read


def _record(action: str, summary: str, found: LegalHold, actor: Actor, origin: Origin) -> None:
    body = {
        "action": action,
        "summary": summary,
        "actor": actor.wire(),
        "origin": origin.wire(),
        "hold": {
            "id": str(found.pk),
            "name": found.name,
            "reason": found.reason,
            "filter": found.filter,
        },
    }
    index = writer.RecordIndex(
        actor_label=actor.label, object_label=found.name, request_id=origin.request_id
    )
    writer.write(kind=RecordKind.HOLD, body=body, index=index, client=actor.client)
    sealing.after_commit()
