"""Deleting what may be deleted of records, and saying so in the log in the same transaction.

Texts and masked values go, headers and leaves stay: the log verifies without them. Each batch is
one short transaction that also holds the sealed record of it, so a process that is killed leaves a
log that verifies. What a legal hold covers stays, whoever asks.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import transaction

from toolpolicy.audit import sealer, writer
from toolpolicy.audit.headers import COLUMNS, KIND
from toolpolicy.audit.signing import SealRefused
from toolpolicy.audit.verification.deletions import KEPT
from toolpolicy.engine.faults import quantity
from toolpolicy.models import MaskedValue, RecordBody
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import holds
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.errors import Refused

BATCH: Final = 500
"""Records that one transaction deletes from, at most."""


@dataclass(frozen=True, slots=True)
class Row:
    """A record that may be deleted from: its row's id, its sealed number, its header's columns."""

    pk: int
    seq: int | None
    columns: tuple[Any, ...]

    @property
    def kind(self) -> str:
        """What the record is about."""
        return str(self.columns[KIND])

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the columns to read rows with."""
        return ("pk", "leaf", *COLUMNS)

    @classmethod
    def of(cls, values: Sequence[Any]) -> "Row":
        """Return the row of what was read."""
        pk, seq, *columns = values
        return cls(pk, seq, tuple(columns))


@dataclass(slots=True, kw_only=True)
class Deleted:
    """What was deleted, or would be; `held` records were kept by a hold."""

    texts: int = 0
    values: int = 0
    held: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Deleted") -> None:
        """Count another batch in."""
        self.texts += other.texts
        self.values += other.values
        self.held += other.held
        self.kinds += other.kinds

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        counts = {"texts": self.texts, "values": self.values, "held": self.held}
        return {**counts, "kinds": dict(sorted(self.kinds.items()))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Who has what deleted, and why: the members that the records of it share."""

    actor: Actor
    said: Mapping[str, Any]
    origin: Origin = NOWHERE


def free(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that no hold covers. One query."""
    standing = holds.standing_filters()
    return [
        row for row in rows if not any(hold.asks_for(row.columns, row.seq) for hold in standing)
    ]


@contextmanager
def alone() -> Iterator[None]:
    """Run one transaction in which nobody else seals, places a hold or deletes.

    What it recorded is sealed before it commits, so a text is never gone without a sealed record.
    Raise Refused (`not_sealed`) when the log cannot go on: then nothing is deleted.
    """
    try:
        with transaction.atomic():
            sealer.locked(wait=True)
            yield
            sealer.seal_all()
    except SealRefused as error:
        raise Refused("not_sealed", f"nothing was deleted: {error}") from error


def delete_values(rows: Sequence[Row]) -> int:
    """Delete the masked values of records and return how many."""
    count, _ = MaskedValue.objects.filter(record_id__in=[row.pk for row in rows]).delete()
    return count


def deletable(rows: Sequence[Row]) -> list[Row]:
    """Return the records whose text stands and may be deleted: sealed, of no kind that is kept."""
    sought = [row for row in rows if row.seq is not None and row.kind not in KEPT]
    bodies = RecordBody.objects.filter(pk__in=[row.pk for row in sought])
    standing = set(bodies.values_list("pk", flat=True))
    return [row for row in sought if row.pk in standing]


def delete_texts(rows: Sequence[Row], order: Order) -> Deleted:
    """Delete the texts of `deletable` records with their masked values, and record it."""
    values, kinds = delete_values(rows), Counter(row.kind for row in rows)
    texts, _ = RecordBody.objects.filter(pk__in=[row.pk for row in rows]).delete()
    said = {"kinds": dict(kinds), "values": values, "bodies": spans(rows)}
    record(RecordKind.PRUNE, f"deleted {quantity(texts, 'text')} of records", order, said)
    return Deleted(texts=texts, values=values, kinds=kinds)


def record(kind: RecordKind, summary: str, order: Order, said: Mapping[str, Any]) -> None:
    """Write what was done."""
    actor, origin = order.actor, order.origin
    body = {
        "action": str(kind),
        "summary": summary,
        "actor": actor.wire(),
        "origin": origin.wire(),
        **order.said,
        **said,
    }
    index = writer.RecordIndex(
        actor_label=actor.label, object_label=summary, request_id=origin.request_id
    )
    writer.write(kind=kind, body=body, index=index, client=actor.client)


def spans(rows: Sequence[Row]) -> list[list[int]]:
    """Return the sealed numbers of records as spans, both ends included."""
    numbers = sorted(row.seq for row in rows if row.seq is not None)
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found
