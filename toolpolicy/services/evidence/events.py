"""What happened between two moments that can change answers: versions, registry, freezes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Self

from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.reading import time_text
from toolpolicy.models import PolicyVersion, Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import records
from toolpolicy.services.evidence.moments import (
    TICK,
    Frozen,
    Moment,
    apply_freeze,
    bodies,
    registry_changes,
    standing,
)
from toolpolicy.services.live import Live


class EventKind(StrEnum):
    """What happened."""

    VERSION = "version"
    REGISTRY = "registry"
    FREEZE = "freeze"
    LIFT = "lift"
    FREEZE_END = "freeze_end"
    TIME = "time"
    ONE_OF = "one_of"


WORDS: Final = {
    EventKind.VERSION: _("policy version"),
    EventKind.REGISTRY: _("change of the registry"),
    EventKind.FREEZE: _("freeze"),
    EventKind.LIFT: _("freeze lifted"),
    EventKind.FREEZE_END: _("freeze run out"),
    EventKind.TIME: _(
        "time: a layer or rule began or ended, or the session read something untrusted"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened; `record` is the id of its record, `version` a published number."""

    kind: EventKind
    at: datetime
    who: str = ""
    what: str = ""
    record: str | None = None
    version: int | None = None
    policy: str | None = None
    registry: str | None = None
    frozen: tuple[Frozen, ...] | None = None

    @classmethod
    def time(cls, at: datetime) -> Self:
        """Return what is nobody's act."""
        return cls(kind=EventKind.TIME, at=at)

    @classmethod
    def one_of(cls, events: Sequence[Self]) -> Self:
        """Return what stands for several events, of which one or more did it."""
        first, last = events[0].at, events[-1].at
        what = f"one or more of {len(events)} changes since {time_text(first)}"
        return cls(kind=EventKind.ONE_OF, at=last, what=what)

    def applied(self, live: Live) -> Live:
        """Return what was live after it."""
        if self.policy is not None:
            return replace(live, version=self.version, policy=self.policy)
        if self.registry is not None:
            return replace(live, registry=self.registry)
        if self.frozen is not None:
            return replace(live, freezes=standing(self.frozen))
        return live

    @property
    def words(self) -> str:
        """Say it in a line: when, what, and by whom."""
        known = (f"version {self.version}" if self.version else "", self.what, self.who)
        told = ", ".join(filter(None, known)) or str(WORDS[self.kind])
        return f"{time_text(self.at)[:19].replace('T', ' ')} {told}"

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "kind": str(self.kind),
            "at": time_text(self.at),
            "who": self.who,
            "what": self.what,
            "record": self.record,
            "version": self.version,
        }


def events_between(early: Moment, late: Moment) -> tuple[Event, ...]:
    """Return what happened after one moment up to another, in order. A few queries."""
    found = [*_versions(early, late), *_registry(early, late), *_freezes(early, late)]
    return tuple(sorted(found, key=lambda event: event.at))


def _versions(early: Moment, late: Moment) -> Iterator[Event]:
    first, last = (one.version.number if one.version else 0 for one in (early, late))
    versions = PolicyVersion.objects.filter(number__gt=first, number__lte=last)
    for version in versions.defer("document__text").order_by("number").iterator():
        yield Event(
            kind=EventKind.VERSION,
            at=version.published_at,
            who=version.published_by_label,
            what=version.comment,
            version=version.number,
            policy=version.document_id,
        )


def _between(found: Any, early: Moment, late: Moment) -> Any:
    return records.between(found, early.at + TICK, late.at + TICK).order_by("id")


def _registry(early: Moment, late: Moment) -> Iterator[Event]:
    for record, body in bodies(_between(registry_changes(), early, late)):
        if body is None:
            yield _event(record, EventKind.REGISTRY, {})
        elif isinstance(body.get("registry"), dict):
            yield _event(record, EventKind.REGISTRY, body, registry=body["registry"]["after"])


def _freezes(early: Moment, late: Moment) -> Iterator[Event]:
    """Yield freezes, liftings, and ends that came as they had been set."""
    stood = {one.key: one for one in early.frozen}
    found = Record.objects.filter(kind=RecordKind.FREEZE).select_related("body")
    for record, body in bodies(_between(found, early, late)):
        yield from _ended(stood, record.at)
        if body is None:
            yield _event(record, EventKind.FREEZE, {})
            continue
        apply_freeze(stood, body)
        kind = EventKind.LIFT if body["action"] == "lift" else EventKind.FREEZE
        yield _event(record, kind, body, frozen=tuple(stood.values()))
    yield from _ended(stood, late.at)


def _ended(stood: dict[str, Frozen], at: datetime) -> Iterator[Event]:
    """Yield the ends of freezes up to a moment, and let them stand no longer."""
    over = [(one.until, one) for one in stood.values() if one.until and one.until <= at]
    for until, one in sorted(over, key=lambda pair: pair[0]):
        del stood[one.key]
        what = f"the freeze of the {one.standing.kind} `{one.standing.value}` ran out"
        kept = tuple(stood.values())
        yield Event(kind=EventKind.FREEZE_END, at=until, what=what, frozen=kept)


def _event(record: Record, kind: EventKind, body: dict[str, Any], **after: Any) -> Event:
    return Event(
        kind=kind,
        at=record.at,
        who=record.actor_label,
        what=str(body.get("summary", "")),
        record=str(record.uid),
        **after,
    )
