"""Every change of a period once, those that stand out first."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from django.db.models import Count, Max, Min
from django.utils.translation import gettext_lazy as _

from toolpolicy.engine.policy_grades import Direction
from toolpolicy.engine.reading import time_text
from toolpolicy.models import Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.models.records import RecordQuerySet
from toolpolicy.services import records
from toolpolicy.services.evidence.entries import CHANGES, entry_of
from toolpolicy.services.evidence.exceptions import WORDS, Known, exceptions_of
from toolpolicy.services.evidence.periods import Period
from toolpolicy.services.evidence.tables import Column, Report, Section
from toolpolicy.services.sign_ins import NOBODY

Wire = dict[str, Any]
# Texts of changes hold whole policies: so many are in memory at once.
AT_ONCE: Final = 20
# Characters of texts that a page compares, some seconds of work: twenty changes of 5,000 rules.
MOST_TEXT: Final = 20_000_000
EFFECTS: Final[Mapping[str, Any]] = {
    Direction.LOOSENS: _("loosens"),
    Direction.TIGHTENS: _("tightens"),
}
AREAS: Final = {**dict(RecordKind.choices), "registry": _("tool"), "settings": _("settings")}
COLUMNS: Final = (
    Column(name="at", heading=_("When (UTC)"), moment=True),
    Column(name="who", heading=_("Who")),
    Column(name="area", heading=_("Kind"), words=AREAS),
    Column(name="comment", heading=_("What")),
    Column(name="sentences", heading=_("Differences"), wide=True),
    Column(name="effect", heading=_("Effect"), words=EFFECTS),
    Column(name="exceptions", heading=_("Stands out"), words=WORDS),
    Column(name="policy_version", heading=_("Version")),
    Column(name="id", heading=_("Record")),
)
FAILED: Final = (
    Column(name="account", heading=_("Account"), words={"": _("(no account of that name)")}),
    Column(name="count", heading=_("Times"), count=True),
    Column(name="first", heading=_("First (UTC)"), moment=True),
    Column(name="last", heading=_("Last (UTC)"), moment=True),
)


def changes(period: Period, *, most: int | None) -> Report:
    """Return the report; of no more than the newest `most` records, None: of all.

    Fourteen queries at most with `most`, and a fixed number for each `AT_ONCE` records without.
    """
    found, known = _records(period), Known.now()
    total = found.count()
    head = {"records": total, "superusers_only": known.superusers_only}
    if most is None:
        return _report(period, head, partial(_entries, found, known))
    kept, looked = _newest(found, known, most)
    cut = _("Only the newest %(most)d of %(total)d changes were looked at here.")
    told = cut % {"most": looked, "total": total} if looked < total else ""
    return _report(period, head, kept.__iter__, cut=told)


def _report(
    period: Period, head: Wire, entries: Callable[[], Iterator[Wire]], *, cut: Any = ""
) -> Report:
    def standing_out() -> Iterator[Wire]:
        return (entry for entry in entries() if entry["exceptions"])

    def others() -> Iterator[Wire]:
        return (entry for entry in entries() if not entry["exceptions"])

    parts = (
        ("exceptions", _("What stands out"), COLUMNS, standing_out, cut),
        ("failed_sign_ins", _("Failed sign-ins"), FAILED, partial(_failed, period), ""),
        ("others", _("Other changes"), COLUMNS, others, cut),
    )
    return Report(
        name="changes",
        title=_("Changes"),
        period=period,
        head=head,
        sections=tuple(
            Section(name=name, title=title, columns=columns, rows=rows, cut=left_out)
            for name, title, columns, rows, left_out in parts
        ),
    )


def _records(period: Period) -> RecordQuerySet:
    """Return the changes up to now: what comes in while a report is made is not in half of it."""
    last = Record.objects.order_by("-id").values_list("id", flat=True).first() or 0
    found = records.between(Record.objects.newest_first(), period.since, period.until)
    return found.filter(kind__in=CHANGES, id__lte=last)


def _entries(found: RecordQuerySet, known: Known) -> Iterator[Wire]:
    """Yield changes, newest first, from a stream."""
    for record in found.select_related("body").iterator(chunk_size=AT_ONCE):
        yield from _told(record, known)


def _newest(found: RecordQuerySet, known: Known, most: int) -> tuple[list[Wire], int]:
    """Return the newest changes, and how many records were looked at for them.

    No more than `most`, and of large policies no more than a page can wait for.
    """
    entries: list[Wire] = []
    looked = weight = 0
    for record in found.select_related("body")[:most].iterator(chunk_size=AT_ONCE):
        if weight > MOST_TEXT:
            break
        looked += 1
        weight += len(record.body.text) if hasattr(record, "body") else 0
        entries += _told(record, known)
    return entries, looked


def _told(record: Record, known: Known) -> Iterator[Wire]:
    """Yield the change that a record tells of; nothing for what is none."""
    told = entry_of(record)
    if told is not None:
        entry, body = told
        yield {**entry, "exceptions": exceptions_of(entry, body, known)}


def _failed(period: Period) -> Iterator[Wire]:
    """Yield how often a sign-in failed, by account; "" for names that are nobody's. One query."""
    kinds = (RecordKind.SIGN_IN, RecordKind.ACCESS)
    found = records.between(Record.objects.all(), period.since, period.until).order_by()
    tried = found.filter(kind__in=kinds, actor_label=NOBODY).values("object_label")
    for row in tried.annotate(count=Count("id"), first=Min("at"), last=Max("at")).order_by(
        "-count", "object_label"
    ):
        yield {
            "account": row["object_label"],
            "count": row["count"],
            "first": time_text(row["first"]),
            "last": time_text(row["last"]),
        }
