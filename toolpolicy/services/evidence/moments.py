"""What was in force at a moment: the version, the registry, the settings and the freezes.

Versions are kept for good; the rest is what records tell. Where they do not, it is said.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.reading import time_text
from toolpolicy.models import PolicyState, PolicyVersion, Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.models.records import RecordQuerySet
from toolpolicy.services import records
from toolpolicy.services.live import Live, Standing

Wire = dict[str, Any]
TICK: Final = timedelta(microseconds=1)
# Texts of imports can be large.
AT_ONCE: Final = 10


class Missing(StrEnum):
    """What the history does not tell of a moment."""

    NO_POLICY = "no_policy"
    REGISTRY = "registry"
    REGISTRY_DIFFERS = "registry_differs"
    SETTINGS = "settings"
    FREEZES = "freezes"


WORDS: Final = {
    Missing.NO_POLICY: _("no version was published yet, so every call was refused"),
    Missing.REGISTRY: _(
        "which tools were registered is not known: the texts of the records around that say it "
        "are no longer kept"
    ),
    Missing.REGISTRY_DIFFERS: _(
        "the change of the registry before that ended with another registry than the next one "
        "began with: it was changed past the records"
    ),
    Missing.SETTINGS: _(
        "the settings then in force are not known; they matter only for tools that are not "
        "registered"
    ),
    Missing.FREEZES: _("some freezes are not known: texts of their records are no longer kept"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """A freeze that stood, by its key, and when it was to end."""

    key: str
    standing: Standing
    until: datetime | None

    def wire(self) -> Wire:
        """Return it as JSON."""
        return {**self.standing.wire(), "until": time_text(self.until) if self.until else None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What was in force at a moment. `registry` and `settings` are None where not known."""

    at: datetime
    version: PolicyVersion | None
    registry: str | None
    settings: str | None
    frozen: tuple[Frozen, ...]
    missing: tuple[Missing, ...]

    @property
    def live(self) -> Live:
        """What a decision of that moment would have named; an unknown registry is empty."""
        return Live(
            version=self.version.number if self.version else None,
            policy=self.version.document_id if self.version else "",
            registry=self.registry or "",
            settings=self.settings or "",
            freezes=standing(self.frozen),
        )

    def wire(self) -> Wire:
        """Return it as JSON."""
        version = self.version
        policy = version and {
            "version": version.number,
            "digest": version.document_id,
            "published_at": time_text(version.published_at),
            "published_by": version.published_by_label,
        }
        return {
            "at": time_text(self.at),
            "policy": policy,
            "registry": self.registry,
            "settings": self.settings,
            "freezes": [one.wire() for one in self.frozen],
            "missing": [{"code": str(one), "message": str(WORDS[one])} for one in self.missing],
        }


def standing(frozen: tuple[Frozen, ...]) -> tuple[Standing, ...]:
    """Return freezes in the order in which decisions read them."""
    ordered = sorted(frozen, key=lambda one: (one.standing.kind, one.standing.value, int(one.key)))
    return tuple(one.standing for one in ordered)


def in_force(at: datetime) -> Moment:
    """Return what was in force at a moment. A fixed number of queries."""
    versions = PolicyVersion.objects.filter(published_at__lte=at)
    version = versions.defer("document__text").order_by("-number").first()
    registry, differs = _registry(at)
    settings = _settings(at)
    frozen, all_told = _frozen(at)
    missing = {
        Missing.NO_POLICY: version is None,
        Missing.REGISTRY: registry is None,
        Missing.REGISTRY_DIFFERS: differs,
        Missing.SETTINGS: settings is None,
        Missing.FREEZES: not all_told,
    }
    return Moment(
        at=at,
        version=version,
        registry=registry,
        settings=settings,
        frozen=frozen,
        missing=tuple(name for name, is_so in missing.items() if is_so),
    )


def registry_changes() -> RecordQuerySet:
    """Return the records of the registry's changes, and few others: those of settings."""
    kinds = (RecordKind.CHANGE, RecordKind.IMPORT)
    return Record.objects.filter(kind__in=kinds, policy_version=None).select_related("body")


def before(found: RecordQuerySet, at: datetime) -> RecordQuerySet:
    """Keep records up to a moment, the latest first."""
    return records.between(found, None, at + TICK).order_by("-id")


def after(found: RecordQuerySet, at: datetime) -> RecordQuerySet:
    """Keep records after a moment, the earliest first."""
    return records.between(found, at + TICK, None).order_by("id")


def bodies(found: RecordQuerySet) -> Iterator[tuple[Record, Wire | None]]:
    """Yield records with what they say; None where the text is no longer kept."""
    for record in found.iterator(chunk_size=AT_ONCE):
        yield record, records.document_of(record)


def _registry(at: datetime) -> tuple[str | None, bool]:
    """Return the registry's digest at a moment, and whether the records around disagree.

    It is what the last change before ended with, and what the next one began with.
    """
    told, ended = _named(before(registry_changes(), at), "registry", "after")
    known, began = _named(after(registry_changes(), at), "registry", "before")
    if known and began is None:
        # No change came after: it is what it is now.
        began = PolicyState.objects.get(pk=1).registry_digest
    if ended is None:
        # Before the first change it was empty.
        return began if told or known else None, False
    return ended, began is not None and began != ended


def _settings(at: datetime) -> str | None:
    found = registry_changes().filter(object_label="settings", actor_label="settings")
    _known, ended = _named(before(found, at), "digests", "after")
    _known, began = _named(after(found, at), "digests", "before")
    return ended or began or None


def _named(found: RecordQuerySet, member: str, side: str) -> tuple[bool, str | None]:
    """Return the digest that the first of these records names, None where none does.

    False where a text is no longer kept that may have named it.
    """
    for _record, body in bodies(found):
        if body is None:
            return False, None
        if isinstance(body.get(member), dict):
            return True, str(body[member][side])
    return True, None


def _frozen(at: datetime) -> tuple[tuple[Frozen, ...], bool]:
    """Return the freezes that stood at a moment, and whether every record of one could be read."""
    stood: dict[str, Frozen] = {}
    all_told = True
    found = Record.objects.filter(kind=RecordKind.FREEZE).select_related("body")
    for _record, body in bodies(before(found, at).reverse()):
        if body is None:
            all_told = False
        else:
            apply_freeze(stood, body)
    return tuple(one for one in stood.values() if one.until is None or one.until > at), all_told


def apply_freeze(stood: dict[str, Frozen], body: Wire) -> None:
    """Let stand, or no longer, what a record of a freeze or its lifting tells of."""
    told = body["freeze"]
    if body["action"] == "lift":
        stood.pop(told["id"], None)
        return
    until = datetime.fromisoformat(told["until"]) if told["until"] else None
    stopped = Standing(told["kind"], told["value"], told["reason"])
    stood[told["id"]] = Frozen(key=told["id"], standing=stopped, until=until)
