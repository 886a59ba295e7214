"""Retention: the texts of records are deleted once their time is over.

How long each kind is kept is a setting. A record's header, its leaf and its place in the log stay
for ever, so the log verifies, and says of each text that its time was over.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.utils import timezone

from toolpolicy.audit.headers import AT, moment
from toolpolicy.audit.verification.deletions import KEPT
from toolpolicy.conf import LEAST_RETENTION_DAYS, conf
from toolpolicy.models import MaskedValue, Record, RecordBody
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import clock, masking, sealing, seen
from toolpolicy.services._deletion import (
    BATCH,
    Deleted,
    Order,
    Row,
    alone,
    deletable,
    delete_texts,
    free,
)
from toolpolicy.services.actors import Actor
from toolpolicy.services.records import CLOCKS

PRUNED: Final = frozenset(str(kind) for kind in RecordKind) - KEPT
"""Kinds whose texts are deleted at all."""
DAY: Final = timedelta(days=1)
CutOffs = Mapping[str, datetime]


def days_kept() -> dict[str, int]:
    """Return for how many days the texts of each kind are kept; never fewer than six months."""
    values = conf()
    days = {
        **dict.fromkeys(sorted(PRUNED), values.retention_days),
        **dict(values.retention_by_kind),
    }
    return {kind: max(LEAST_RETENTION_DAYS, days[kind]) for kind in sorted(PRUNED)}


def cut_offs(now: datetime) -> dict[str, datetime]:
    """Return for each kind the time before which its texts are deleted."""
    return {kind: now - timedelta(days=days) for kind, days in days_kept().items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """What a pruning did, or would do."""

    dry_run: bool
    before: CutOffs
    deleted: Deleted

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        before = {kind: moment(at) for kind, at in self.before.items()}
        return {"dry_run": self.dry_run, "before": before, **self.deleted.wire()}


def prune(
    *, actor: Actor, dry_run: bool = False, progress: Callable[[int], None] | None = None
) -> Pruning:
    """Delete every text whose time is over and that no hold covers, in batches.

    With `dry_run` it is only counted. `progress` is told after each batch how many texts are gone
    so far. Raise Refused when the log cannot be sealed, and when the clock may be wrong
    (`clock.confirm` ends that doubt).
    """
    now = timezone.now()
    total = Deleted()
    if not dry_run:
        sealing.seal()
    for batch in _counted(now) if dry_run else prune_slowly(actor=actor, now=now):
        total.add(batch)
        if progress is not None:
            progress(total.texts)
    return Pruning(dry_run=dry_run, before=cut_offs(now), deleted=total)


def prune_slowly(*, actor: Actor, now: datetime) -> Iterator[Deleted]:
    """Do as `prune`, one transaction at each step; between two, others have their turn."""
    before = cut_offs(now)
    clock.refuse_doubted(now, before)
    for rows in _over(before):
        kept = free(rows) if rows else []
        deleted = _pruned(kept, actor, before) if kept else Deleted()
        deleted.held += len(rows) - len(kept)
        yield deleted
    # What callers sent is kept beside the records as well, and no longer than with them.
    seen.erase_before(min(before[RecordKind.DECISION], before[RecordKind.LISTING]))
    seen.erase_hidden(masking.load(masking.live_digest()).shows)


def _pruned(rows: Sequence[Row], actor: Actor, before: CutOffs) -> Deleted:
    kinds = sorted({row.kind for row in rows})
    said = {
        "why": "retention",
        "filter": {},
        "before": {kind: moment(before[kind]) for kind in kinds},
    }
    with alone():
        chosen = deletable(rows)
        kept = free(chosen)
        deleted = delete_texts(kept, Order(actor=actor, said=said)) if kept else Deleted()
    deleted.held = len(chosen) - len(kept)
    return deleted


def _counted(now: datetime) -> Iterator[Deleted]:
    before = cut_offs(now)
    clock.refuse_doubted(now, before)
    for rows in _over(before):
        kept = free(rows)
        values = MaskedValue.objects.filter(record_id__in=[row.pk for row in kept]).count()
        kinds = Counter(row.kind for row in kept)
        yield Deleted(texts=len(kept), values=values, kinds=kinds, held=len(rows) - len(kept))


def _over(before: CutOffs) -> Iterator[list[Row]]:
    """Yield the sealed records whose text stands and whose time is over, some at a time.

    Texts that are gone cost nothing: the walk goes from one that stands to the next, by id, and
    reads a span of ids at each step. It ends where everything is younger.
    """
    bodies = RecordBody.objects.order_by("pk")
    youngest = Record.objects.order_by("at", "pk").filter(at__gte=max(before.values()) + CLOCKS)
    end = youngest.values_list("pk", flat=True).first()
    if end is not None:
        bodies = bodies.filter(pk__lt=end)
    place = 0
    while (first := bodies.filter(pk__gt=place).values_list("pk", flat=True).first()) is not None:
        place = first + BATCH - 1
        span = Record.objects.filter(pk__range=(first, place))
        sealed = span.filter(body__isnull=False, leaf__isnull=False).order_by("pk")
        rows = (Row.of(values) for values in sealed.values_list(*Row.names()))
        yield [row for row in rows if row.kind in before and row.columns[AT] < before[row.kind]]


class Daily:
    """Prunes once a day, a step at a time, for a process that has other things to do as well."""

    __slots__ = ("_actor", "_due", "_steps")

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._due = timezone.now()
        self._steps: Iterator[Deleted] = iter(())

    def step(self) -> Deleted:
        """Do the next step, if there is one today. Raise Refused as `prune` does.

        A clock that was set back is another day too.
        """
        if not conf().prune_in_worker:
            return Deleted()
        now = timezone.now()
        if not self._due - DAY <= now < self._due:
            self._due = now + DAY
            self._steps = prune_slowly(actor=self._actor, now=now)
        return next(self._steps, Deleted())
