"""Reading records. Nothing here writes, and a list never follows a link."""

import json
import uuid
from datetime import datetime, timedelta
from typing import Any, Final

from toolpolicy.models import Record
from toolpolicy.models.records import RecordQuerySet
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import NotFound


def visible_to(actor: Actor) -> RecordQuerySet:
    """Return the records that an actor may read, latest first.

    A key reads its own and nobody else's; a person needs the permission `view_record` and reads
    all.
    """
    records = Record.objects.newest_first()
    if actor.client is not None:
        return records.of_client(actor.client)
    return records if actor.may("view_record") else records.none()


# Ids, not clocks, say what came later: the clocks of two servers differ by less than this.
CLOCKS: Final = timedelta(hours=1)


def between(
    records: RecordQuerySet, since: datetime | None, until: datetime | None
) -> RecordQuerySet:
    """Keep the records from `since` on and before `until`; None: no bound. A query for each.

    The times are turned into ids, which every index of records ends with: so a span of time costs
    a list that is narrowed by something else no more than a page does.
    """
    by_time = Record.objects.order_by("at", "id").values_list("id", flat=True)
    if since is not None:
        earlier = by_time.filter(at__lt=since - CLOCKS).last()
        records = records.filter(at__gte=since, **({} if earlier is None else {"id__gt": earlier}))
    if until is not None:
        later = by_time.filter(at__gte=until + CLOCKS).first()
        records = records.filter(at__lt=until, **({} if later is None else {"id__lt": later}))
    return records


def get(*, actor: Actor, uid: uuid.UUID) -> Record:
    """Return one record with body and leaf: one query. Raise NotFound, also for that of another."""
    found = visible_to(actor).filter(uid=uid).select_related("body", "leaf").first()
    if found is None:
        raise NotFound(f"record {uid}")
    return found


def document_of(record: Record) -> dict[str, Any] | None:
    """Return what a record says; None when its body is no longer kept."""
    body = getattr(record, "body", None)  # a row that is not there reads as no attribute
    return None if body is None else json.loads(body.text)
