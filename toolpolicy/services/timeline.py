"""Everything that the log says about one thing: a tool, a rule, an agent, a session, a person."""

from enum import StrEnum
from typing import Final

from django.db.models import Q

from toolpolicy.models.choices import RecordKind
from toolpolicy.models.records import RecordQuerySet

# What callers ask all day; the rest is what people did.
ASKED: Final = (
    *(RecordKind.DECISION, RecordKind.LISTING, RecordKind.SIMULATION, RecordKind.REFUSED),
)
DONE: Final = tuple(kind for kind in RecordKind if kind not in ASKED)


class About(StrEnum):
    """What kind of thing."""

    TOOL = "tool"
    FAMILY = "family"
    LAYER = "layer"
    RULE = "rule"
    AGENT = "agent"
    CHANNEL = "channel"
    SESSION = "session"
    PERSON = "person"


def narrow(
    records: RecordQuerySet, about: About, name: str, *, only_done: bool = False
) -> RecordQuerySet:
    """Keep the records about one thing; `only_done` leaves out what callers asked.

    A rule is named by its id, or by its layer and id: `layer / rule`.
    """
    if about is About.PERSON:
        # People act; what keys ask is found by their agents.
        own = Q(actor_label=name) | Q(kind__in=_ON_PEOPLE, object_label=name)
        return records.filter(own, kind__in=(*DONE, RecordKind.SIMULATION))
    if about is About.RULE and " / " in name:
        layer, rule = name.rsplit(" / ", 1)
        records = records.filter(layer=layer, rule=rule)
    else:
        records = records.filter(**{about.value: name})
    return records.filter(kind__in=DONE) if only_done else records


_ON_PEOPLE: Final = (RecordKind.PERMISSION, RecordKind.SIGN_IN, RecordKind.ACCESS)
