"""A verdict on the log, in lines for a terminal or a page."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolpolicy.audit.sinks import checkpoint_file
from toolpolicy.audit.verification.findings import Verdict
from toolpolicy.engine.faults import printable, quantity


def lines(verdict: Verdict) -> Iterator[str]:
    """Say what was read, what was found, and what it comes to."""
    reach = "from the first record on" if verdict.full else f"after block {verdict.after_block}"
    read = f"{quantity(verdict.records, 'record')} in {quantity(verdict.blocks, 'block')}"
    yield f"log {verdict.log}, verified {reach}: {read}"
    by_age = verdict.expired - verdict.on_request
    if by_age:
        yield f"  {quantity(by_age, 'text')} deleted by retention; their headers verify"
    if verdict.on_request:
        gone = quantity(verdict.on_request, "text")
        yield f"  {gone} deleted on request; the report of changes says who asked, and why"
    if verdict.waiting:
        yield f"  {quantity(verdict.waiting, 'record')} not sealed yet"
    yield from (f"  {line}" for line in closed_lines(verdict.closed))
    for finding in verdict.findings:
        yield printable(f"  {finding.kind}: {finding.message}")
    if verdict.more:
        yield f"  and {quantity(verdict.more, 'finding')} more"
    path = checkpoint_file(verdict.log)
    if path is not None:
        same = quantity(verdict.checkpoints, "line") if verdict.checkpoints else "no line"
        yield printable(f"  checkpoint file {path}: {same} as in the database")
    if verdict.full and not verdict.checkpoints:
        yield "  no checkpoint outside the database was compared: see docs/audit.md"
    yield "the log is good" if verdict.good else "the log is BROKEN"


def closed_lines(closed: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Say which segments repairs closed, as a verdict has them, each with its note."""
    for part in closed:
        yield printable(f"segment {part['segment']} was closed: {part['note']}")
