"""The reports by name, and a report as a file: whoever takes one away leaves a record."""

import hashlib
import io
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import IO, Final

from django.db import transaction
from django.utils import timezone

from toolpolicy.audit import writer
from toolpolicy.engine.faults import quantity
from toolpolicy.models.choices import RecordKind
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.bounds import refuse_bound
from toolpolicy.services.evidence.access import access
from toolpolicy.services.evidence.changes import changes
from toolpolicy.services.evidence.oversight import oversight
from toolpolicy.services.evidence.periods import Period
from toolpolicy.services.evidence.tables import Report, Row, Section
from toolpolicy.services.evidence.texts import csv_chunks, json_chunks

# What a page looks at: a change of a large policy takes a good part of a second.
MOST_CHANGES: Final = 100
IN_MEMORY: Final = 1 << 20


class ReportName(StrEnum):
    """Which report."""

    CHANGES = "changes"
    ACCESS = "access"
    OVERSIGHT = "oversight"


class ReportFormat(StrEnum):
    """How a report is written."""

    JSON = "json"
    CSV = "csv"


Chunks = Callable[[Report, str], Iterable[str]]
WRITERS: Final[dict[str, tuple[str, Chunks]]] = {
    ReportFormat.JSON: ("application/json", json_chunks),
    ReportFormat.CSV: ("text/csv; charset=utf-8", csv_chunks),
}


def report_of(name: ReportName, period: Period, *, now: datetime, whole: bool) -> Report:
    """Return a report; `whole` for a file, else no more than a page can wait for."""
    match name:
        case ReportName.CHANGES:
            return changes(period, most=None if whole else MOST_CHANGES)
        case ReportName.ACCESS:
            return access(period, now=now)
        case ReportName.OVERSIGHT:
            return oversight(period, whole=whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A report as a file that was recorded: read it once, from its beginning."""

    file: IO[bytes]
    name: str
    media: str
    size: int
    digest: str
    rows: int


def export(
    *,
    actor: Actor,
    name: ReportName,
    period: Period,
    form: str,
    origin: Origin = NOWHERE,
    chunks: Chunks | None = None,
) -> Exported:
    """Write a report to a temporary file, in constant memory, and record who takes it.

    `chunks` writes it in a form that is none of `ReportFormat`. The record names the digest of
    exactly the bytes that are given. Raises `Refused` as `refuse_bound` does.
    """
    refuse_bound(actor)
    now = timezone.now()
    report = report_of(name, period, now=now, whole=True)
    media, write = (f"text/{form}; charset=utf-8", chunks) if chunks else WRITERS[form]
    counting = _Counted(report)
    file, seen = _Spool(), hashlib.sha256()
    for chunk in write(counting.report, f"{now:%Y-%m-%dT%H:%M:%SZ}"):
        data = chunk.encode()
        seen.update(data)
        file.write(data)
    exported = Exported(
        file=file.rewound(),
        name=f"{name}-{report.period.since:%Y%m%d}-{report.period.last:%Y%m%d}.{form}",
        media=media,
        size=file.size,
        digest=f"sha256:{seen.hexdigest()}",
        rows=counting.rows,
    )
    _record(exported, (name, report.period, form), actor, origin)
    return exported


class _Spool:
    """Bytes in memory while they are few, then in a file that the system deletes when closed."""

    def __init__(self) -> None:
        self.size = 0
        self._file: IO[bytes] = io.BytesIO()

    def write(self, data: bytes) -> None:
        before, self.size = self.size, self.size + len(data)
        if before <= IN_MEMORY < self.size:
            small, self._file = self.rewound(), tempfile.TemporaryFile()  # noqa: SIM115
            shutil.copyfileobj(small, self._file)
        self._file.write(data)

    def rewound(self) -> IO[bytes]:
        """Return the file, to be read from its beginning."""
        self._file.seek(0)
        return self._file


class _Counted:
    """A report whose rows are counted as they are read."""

    def __init__(self, report: Report) -> None:
        self.rows = 0
        sections = (replace(one, rows=partial(self._count, one)) for one in report.sections)
        self.report = replace(report, sections=tuple(sections))

    def _count(self, section: Section) -> Iterator[Row]:
        for row in section.rows():
            self.rows += 1
            yield row


@transaction.atomic
def _record(
    exported: Exported, what: tuple[ReportName, Period, str], actor: Actor, origin: Origin
) -> None:
    name, period, form = what
    rows = quantity(exported.rows, "row")
    body = {
        "action": "export_report",
        "summary": f"took the report `{name}` of {period.words} as {form}: {rows}",
        "actor": actor.wire(),
        "origin": origin.wire(),
        "report": {"name": str(name), "period": period.wire(), "format": str(form)},
        "count": exported.rows,
        "size": exported.size,
        "digest": exported.digest,
    }
    index = writer.RecordIndex(
        actor_label=actor.label,
        object_label=f"report {name}, {period.words}",
        request_id=origin.request_id,
    )
    writer.write(kind=RecordKind.EXPORT, body=body, index=index, client=actor.client)
