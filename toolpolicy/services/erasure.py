"""Erasing what records keep of one person: values and salts go, commitments stay and verify.

Without its salt a commitment says nothing any more. What a text shows in the clear it goes on
showing, unless the text is deleted as well.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, Max, OuterRef, Q

from toolpolicy.engine.canonical import dumps
from toolpolicy.engine.faults import Fault, quantity, token
from toolpolicy.models import MaskedValue, Record, RecordBody
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import sealing, seen
from toolpolicy.services._deletion import (
    BATCH,
    Deleted,
    Order,
    Row,
    alone,
    deletable,
    delete_texts,
    delete_values,
    free,
    record,
    spans,
)
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.record_filters import RecordFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Whose values: the records that a filter asks for, and that have these context values."""

    filter: RecordFilter
    context: Mapping[str, str] = field(default_factory=dict)

    def bounded(self) -> bool:
        """Tell whether something must be equal: a span alone is nobody's."""
        return bool(self.filter.equal or self.context)

    def wire(self) -> dict[str, Any]:
        """Return what records say of it: of the context the keys alone, its values are erased."""
        return {"filter": self.filter.wire(), "context": sorted(self.context)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What an erasure did, or would do; `standing` texts of these records may name the person.

    Of those, `deletable` ones are neither held nor kept for good. `seen` counts the values of the
    context that are no longer offered to authors.
    """

    dry_run: bool
    records: int
    standing: int
    deletable: int
    seen: int
    deleted: Deleted

    @property
    def found_nothing(self) -> bool:
        """Whether nothing was there to be deleted: then no record tells of it."""
        return not (self.deleted.values or self.deleted.texts or self.seen)

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        counts = {"records": self.records, "standing": self.standing, "seen": self.seen}
        more = {"deletable": self.deletable, **self.deleted.wire()}
        return {"dry_run": self.dry_run, **counts, **more}


def erase(
    *,
    actor: Actor,
    person: Person,
    reason: str,
    bodies: bool = False,
    dry_run: bool = False,
    origin: Origin = NOWHERE,
) -> Erasure:
    """Delete the masked values of a person's records, with `bodies` their texts too, in batches.

    The values of the context that name the person are no longer offered to authors. Each step that
    deletes something leaves a sealed record. What a hold covers stays; what authors are offered is
    no record, and no hold covers it. With `dry_run` it is only counted. Raise InvalidInput without
    a reason or anything that must be equal, Refused when the log cannot be sealed.
    """
    _check(person, reason)
    order = Order(actor=actor, origin=origin, said={"why": reason.strip(), **person.wire()})
    total, records, standing, left = Deleted(), 0, 0, 0
    if not dry_run:
        sealing.seal()
    for rows in _records_of(person):
        batch = _counted(rows, bodies=bodies) if dry_run else _erased(rows, order, bodies=bodies)
        total.add(batch)
        records += len(rows)
        standing += RecordBody.objects.filter(pk__in=[row.pk for row in rows]).count()
        left += len(deletable(free(rows)))
    offered = seen.counted(person.context) if dry_run else _no_longer_offered(person, order)
    return Erasure(
        dry_run=dry_run,
        records=records,
        standing=standing,
        deletable=left,
        seen=offered,
        deleted=total,
    )


def _check(person: Person, reason: str) -> None:
    faults = []
    if not reason.strip():
        faults.append(Fault("/reason", "say why; it stays in the log", "missing"))
    if not person.bounded():
        message = "name whose values: one member that must be equal, or a value of the context"
        faults.append(Fault("/filter", message, "missing"))
    if faults:
        raise InvalidInput(faults)


def _erased(rows: Sequence[Row], order: Order, *, bodies: bool) -> Deleted:
    with alone():
        chosen = free(rows)
        masked = MaskedValue.objects.filter(record_id__in=[row.pk for row in chosen])
        having = set(masked.values_list("record_id", flat=True))
        of = [row for row in chosen if row.pk in having]
        values = delete_values(of)
        texts = deletable(chosen) if bodies else []
        deleted = delete_texts(texts, order) if texts else Deleted()
        if values or texts:
            _record(order, of=of, values=values, texts=len(texts))
    deleted.values, deleted.held = values, len(rows) - len(chosen)
    return deleted


def _no_longer_offered(person: Person, order: Order) -> int:
    if not person.context:
        return 0
    with alone():
        count = seen.erase(person.context)
        if count:
            _record(order, offered=count)
    return count


def _record(
    order: Order, *, of: Sequence[Row] = (), values: int = 0, texts: int = 0, offered: int = 0
) -> None:
    """Record what one transaction erased; which texts went is said by a record of their own."""
    erased = [f"{quantity(values, 'value')} of {quantity(len(of), 'record')}"] if values else []
    erased += [quantity(texts, "text")] if texts else []
    erased += [f"{quantity(offered, 'value')} that authors were offered"] if offered else []
    counts = {"records": len(of), "values": values, "texts": texts, "seen": offered}
    summary = f"erased {' and '.join(erased)}"
    record(RecordKind.ERASE, summary, order, {**counts, "spans": spans(of)})


def _counted(rows: Sequence[Row], *, bodies: bool) -> Deleted:
    chosen = free(rows)
    values = MaskedValue.objects.filter(record_id__in=[row.pk for row in chosen]).count()
    texts = len(deletable(chosen)) if bodies else 0
    return Deleted(texts=texts, values=values, held=len(rows) - len(chosen))


# --- which records --------------------------------------------------------------------------------


def _records_of(person: Person) -> Iterator[list[Row]]:
    """Yield the records that still have a text or masked values, some at a time."""
    masked = MaskedValue.objects.filter(record=OuterRef("pk"))
    having = Record.objects.filter(Q(body__isnull=False) | Exists(masked))
    # Not those that this erasure itself writes.
    newest = Record.objects.aggregate(last=Max("pk"))["last"] or 0
    found = person.filter.narrow(having.filter(pk__lte=newest)).order_by("pk")
    place = 0
    while some := found.filter(pk__gt=place).values_list(*Row.names())[:BATCH]:
        rows = [Row.of(values) for values in some]
        place = rows[-1].pk
        yield _with_context(rows, person.context) if person.context else rows


def _with_context(rows: Sequence[Row], context: Mapping[str, str]) -> list[Row]:
    """Keep the records that were judged in this context, shown in their texts or masked."""
    ids = [row.pk for row in rows]
    places = {f"/context/{token(key)}": (key, dumps(value)) for key, value in context.items()}
    found: dict[int, set[str]] = defaultdict(set)
    masked = MaskedValue.objects.filter(record_id__in=ids, pointer__in=places)
    for pk, pointer, value in masked.values_list("record_id", "pointer", "value"):
        if value == places[pointer][1]:
            found[pk].add(places[pointer][0])
    for pk, text in RecordBody.objects.filter(pk__in=ids).values_list("pk", "text"):
        shown = _context_in(text)
        found[pk].update(key for key, value in context.items() if shown.get(key) == value)
    return [row for row in rows if found[row.pk] == context.keys()]


def _context_in(text: str) -> Mapping[str, Any]:
    try:
        context = json.loads(text)["context"]
    except (ValueError, TypeError, KeyError):  # of another kind, or altered
        return {}
    return context if isinstance(context, dict) else {}
