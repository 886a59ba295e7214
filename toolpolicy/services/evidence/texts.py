"""Reports as text, piece by piece: JSON with every member, CSV with those that tables show."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolpolicy.services.csv_text import csv_lines
from toolpolicy.services.evidence.tables import Report


def json_chunks(report: Report, made_at: str) -> Iterator[str]:
    """Yield one JSON object: what the report is, then each section as a list, a row a line."""
    head = {
        "report": report.name,
        "made_at": made_at,
        "period": report.period.wire(),
        **report.head,
    }
    yield "{\n"
    yield ",\n".join(f"{json.dumps(name)}: {_json(value)}" for name, value in head.items())
    for section in report.sections:
        yield f",\n{json.dumps(section.name)}: ["
        yield from _joined(section.rows())
        yield "]"
    yield "\n}\n"


def _joined(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    before = "\n"
    for row in rows:
        yield f"{before}{_json(row)}"
        before = ",\n"


def _json(value: Any) -> str:
    # ASCII, so that no text can be unwritable as UTF-8.
    return json.dumps(value)


def csv_chunks(report: Report, made_at: str) -> Iterator[str]:
    """Yield the sections one after another, each under its headings; the first field names it."""
    yield from csv_lines([("report", report.name, report.period.words, f"made at {made_at}")])
    for section in report.sections:
        yield from csv_lines([(section.name, *(str(one.heading) for one in section.columns))])
        yield from csv_lines(
            (section.name, *("; ".join(column.lines(row)) for column in section.columns))
            for row in section.rows()
        )
