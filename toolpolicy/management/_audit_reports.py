"""`manage.py audit report`, `at` and `replay`: what an auditor asks, in a terminal."""

import json
import shutil
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from uuid import UUID

from django.core.management.base import CommandError
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import escape

from toolpolicy.engine.faults import quantity
from toolpolicy.management._audit_evidence import add_out, new_file
from toolpolicy.management.refusing import sentences
from toolpolicy.services import records
from toolpolicy.services.actors import Actor
from toolpolicy.services.decisions.proving import Proof, Verdict, prove
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.evidence.periods import read_moment, read_period
from toolpolicy.services.evidence.reports import ReportFormat, ReportName, export
from toolpolicy.services.evidence.standings import (
    PLACES,
    Compared,
    Standing,
    compare,
    said_words,
    standing_at,
)
from toolpolicy.services.evidence.tables import Report, ShownSection

HTML: Final = "html"
Options = Mapping[str, Any]
NAMES: Final = {name: f"--{name}" for name in ("from", "to", "on", "against")}


def add_report_actions(actions: Any) -> None:
    """Add the actions `report`, `at` and `replay`."""
    report = actions.add_parser("report", help="write a report of a period; it is recorded")
    report.add_argument("name", choices=[str(name) for name in ReportName])
    report.add_argument("--from", dest="since", default="", metavar="DATE", help="first day (UTC)")
    report.add_argument("--to", dest="until", default="", metavar="DATE", help="last day (UTC)")
    forms = [HTML, *(str(form) for form in ReportFormat)]
    report.add_argument("--format", dest="form", choices=forms, default=str(ReportFormat.JSON))
    add_out(report)
    _add_at(actions.add_parser("at", help="say what an agent could do at a point in time"))
    replay = actions.add_parser("replay", help="judge a recorded answer again by what it names")
    replay.add_argument("uid", type=_uid, metavar="UID", help="a decision_id or listing_id")
    replay.add_argument("--json", action="store_true", help="answer as JSON")


def _add_at(parser: ArgumentParser) -> None:
    for place in PLACES:
        parser.add_argument(f"--{place}", default="", metavar="NAME")
    moment = "a date (its end, UTC) or a time"
    parser.add_argument("--on", required=True, metavar="DATE", help=moment)
    parser.add_argument("--against", metavar="DATE", help="say what differs from then")
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def _uid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no id of a record") from None


# --- report --------------------------------------------------------------------------------------


def run_report(options: Options) -> Iterator[str]:
    """Write a report to a file, or to standard output; yield what to say of it."""
    path = options["out"]
    try:
        period = read_period(options["since"], options["until"], now=timezone.now())
    except InvalidInput as refused:
        raise CommandError(sentences(refused.faults, NAMES)) from None
    form = options["form"]
    # The file first: what cannot be written is not recorded as taken.
    with new_file(path) as out:
        exported = export(
            actor=Actor.system("audit report"),
            name=ReportName(options["name"]),
            period=period,
            form=form,
            chunks=_html if form == HTML else None,
        )
        shutil.copyfileobj(exported.file, out)
    if path is not None:
        rows = quantity(exported.rows, "row")
        yield f"{path}: {rows}, {exported.size} bytes, {exported.digest}"


def _html(report: Report, made_at: str) -> Iterator[str]:
    """Yield the report as a page of its own, to be printed: without script, sprite or server."""
    yield render_to_string("toolpolicy/report.html", {"report": report, "made_at": made_at})
    for section in report.sections:
        yield f"<section>\n<h2>{escape(section.title)}</h2>\n"
        for shown in ShownSection.pieces(section):
            yield render_to_string("toolpolicy/report_section.html", {"shown": shown})
        yield "</section>\n"
    yield "</body>\n</html>\n"


# --- at ------------------------------------------------------------------------------------------


def run_at(options: Options) -> Iterator[str]:
    """Yield what a caller could do then, or what differs between two moments."""
    now = timezone.now()
    context = {place: options[place] for place in PLACES if options[place]}
    try:
        on = read_moment(options["on"], now=now)
        against = options["against"]
        other = read_moment(against, now=now, at="/against") if against else None
    except InvalidInput as refused:
        raise CommandError(sentences(refused.faults, NAMES)) from None
    found = standing_at(context, on) if other is None else compare(context, other, on)
    if options["json"]:
        yield _json(found.wire())
    elif isinstance(found, Standing):
        yield from _standing_lines(found)
    else:
        yield from _compared_lines(found)


def _standing_lines(found: Standing) -> Iterator[str]:
    yield from _moment_lines(found.moment.wire())
    for answer in found.answers:
        yield f"  {'/'.join(answer.tool)}: {said_words(answer.said)} ({answer.state})"


def _moment_lines(moment: Mapping[str, Any]) -> Iterator[str]:
    policy = moment["policy"]
    version = f"version {policy['version']}" if policy else "no version"
    yield f"{moment['at']}: {version}, registry {moment['registry'] or 'empty or not known'}"
    for freeze in moment["freezes"]:
        yield f"  frozen: {freeze['kind']} {freeze['value']}, {freeze['reason']}"
    for missing in moment["missing"]:
        yield f"  missing: {missing['message']}"


def _compared_lines(found: Compared) -> Iterator[str]:
    for side in (found.before, found.after):
        yield from _moment_lines(side.moment.wire())
    yield f"{quantity(len(found.events), 'change')} between"
    for one in found.differences:
        before, after = (said_words(*side) for side in one.sides)
        yield f"  {'/'.join(one.tool)}: {before} → {after}"
        for event in one.through:
            yield f"      through {event.words}"
    if not found.differences:
        yield "no answer differs"


# --- replay --------------------------------------------------------------------------------------


def run_replay(options: Options) -> Iterator[str]:
    """Yield the proof of a record; raise CommandError unless the answer is the same."""
    record = records.get(actor=Actor.system("audit replay"), uid=options["uid"])
    proof = prove(record)
    if options["json"]:
        yield _json(proof.wire())
    else:
        yield from _proof_lines(proof)
    if proof.verdict is not Verdict.SAME:
        raise CommandError(str(proof.verdict), returncode=1)


def _proof_lines(proof: Proof) -> Iterator[str]:
    wire = proof.wire()
    yield f"{wire['message']} ({quantity(wire['compared'], 'value')} compared)"
    for name, named in wire["judged_by"].items():
        shown = json.dumps(named) if isinstance(named, dict) else named
        yield f"  {name}: {shown}"
    for missing in wire["missing"]:
        yield f"  missing: {missing['message']}"
    for one in proof.differences:
        yield f"  {one.pointer}: {one.recorded_text} → {one.replayed_text}"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


ACTIONS: Final[Mapping[str, Callable[[Options], Iterator[str]]]] = {
    "report": run_report,
    "at": run_at,
    "replay": run_replay,
}
