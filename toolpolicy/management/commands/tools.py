"""`manage.py tools`: import and export a family's tools, list all of them, review one."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from toolpolicy.engine import strictjson
from toolpolicy.engine.faults import Fault, Faults, printable, quantity, total
from toolpolicy.engine.near_names import near_names
from toolpolicy.engine.registry import Entry
from toolpolicy.management.progress import Progress
from toolpolicy.management.reading import read_within
from toolpolicy.management.reviews import review_text
from toolpolicy.models import Tool
from toolpolicy.models.choices import FamilyKind, ToolState
from toolpolicy.services import registry
from toolpolicy.services.actors import Actor
from toolpolicy.services.documents import sources
from toolpolicy.services.errors import InvalidInput, NotFound, Refused
from toolpolicy.services.registry import ImportReport, ToolFormat, Verdict

VERDICTS: Final = {
    Verdict.ACCEPT: "its declaration was read and is good: the tool is active",
    Verdict.QUARANTINE: "refuse every use until it is accepted",
    Verdict.RETIRE: "refuse every use: the tool has had its time",
}


class Command(BaseCommand):
    """Register what tool servers publish, and show what is registered."""

    help = "Import or export the tools of a family, list the registered ones, review one."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(
            dest="action", required=True, metavar="import|export|list|review"
        )
        importing = actions.add_parser("import", help="register the tools of a tools/list answer")
        importing.add_argument("file", type=Path, metavar="FILE", help="JSON: the server's answer")
        importing.add_argument("--family", required=True, help="the server's name in rules")
        importing.add_argument("--prefix", help="put before every name, as the model sees it")
        importing.add_argument("--kind", choices=FamilyKind.values, help="what the family is")
        _add_format(importing, "how the list is written")
        importing.add_argument("--dry-run", action="store_true", help="report only, write nothing")
        _add_json(importing)
        exporting = actions.add_parser(
            "export", help="write what a family's tools declare, as JSON"
        )
        exporting.add_argument("--family", required=True, help="the server's name in rules")
        _add_format(exporting, "how the list is to be written")
        _add_json(actions.add_parser("list", help="show every registered tool"))
        _add_review(actions.add_parser("review", help="show what changed, and say what follows"))

    def handle(self, *args: Any, **options: Any) -> None:
        del args
        if options["action"] == "import":
            self._import(options)
        elif options["action"] == "export":
            self._export(options)
        elif options["action"] == "review":
            self._review(options)
        else:
            self._list(as_json=options["json"])

    def _import(self, options: dict[str, Any]) -> None:
        path: Path = options["file"]
        try:
            with Progress(self.stderr, options) as tell:
                tell(f"reading {path.name}")
                report = registry.import_tools(
                    actor=Actor.system("tools import"),
                    family=options["family"],
                    document=_read(path),
                    prefix=options["prefix"],
                    kind=options["kind"],
                    form=ToolFormat(options["format"]),
                    dry_run=options["dry_run"],
                    tell=tell,
                )
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}") from error
        except (Faults, InvalidInput) as error:
            if options["json"]:
                self._write_json(
                    {"file": str(path), "faults": [fault.wire() for fault in error.faults]}
                )
            raise CommandError(_refusal(path, error.faults)) from error
        if options["json"]:
            self._write_json(report.wire())
        else:
            self.stdout.write(report_text(report))

    def _list(self, *, as_json: bool) -> None:
        vanished = set(
            Tool.objects.filter(vanished_at__isnull=False).values_list("family__name", "name")
        )
        tools = [(entry, (entry.family, entry.name) in vanished) for entry in registry.live()]
        near = near_names((entry.family, entry.name) for entry, _ in tools)
        if as_json:
            alike: dict[tuple[str, str], list[str]] = {}
            for one in near:
                alike.setdefault(one.tool, []).append("/".join(one.like))
                alike.setdefault(one.like, []).append("/".join(one.tool))
            wires = [_tool_wire(entry, gone=gone) for entry, gone in tools]
            self._write_json(
                [
                    wire | {"looks_like": alike.get((wire["family"], wire["name"]), [])}
                    for wire in wires
                ]
            )
            return
        for entry, gone in tools:
            self.stdout.write(_tool_line(entry, gone=gone))
        self.stdout.write(quantity(len(tools), "tool") + " registered")
        for one in near:
            self.stdout.write(f"warning: {one}")

    def _export(self, options: dict[str, Any]) -> None:
        form = ToolFormat(options["format"])
        try:
            self._write_json(registry.export_tools(family=options["family"], form=form))
        except NotFound as error:
            raise CommandError(error.faults[0].message) from error

    def _review(self, options: dict[str, Any]) -> None:
        family, _, name = options["tool"].partition("/")
        try:
            tool = registry.find_tool(family, name)
            shown = registry.review_of(tool)
            if options["verdict"]:
                _expect_declaration(options)
                tool = registry.give_verdict(
                    actor=Actor.system("tools review"),
                    tool=tool,
                    verdict=options["verdict"],
                    declaration=options["declaration"] or "",
                )
        except (NotFound, Refused) as error:
            raise CommandError(error.faults[0].message) from error
        if options["json"]:
            self._write_json({**shown.wire(), "state": str(tool.state)})
            return
        self.stdout.write(review_text(shown))
        if options["verdict"]:
            self.stdout.write(f"it is {tool.state} now")

    def _write_json(self, value: Any) -> None:
        self.stdout.write(sources.write(value), ending="")


def _read(path: Path) -> Any:
    limits = registry.import_limits()
    with path.open("rb") as stream:
        return strictjson.loads(read_within(stream, limits.size), limits)


def _add_review(parser: ArgumentParser) -> None:
    parser.add_argument("tool", metavar="FAMILY/NAME")
    verdicts = parser.add_mutually_exclusive_group()
    for verdict, does in VERDICTS.items():
        verdicts.add_argument(
            f"--{verdict}", dest="verdict", action="store_const", const=verdict, help=does
        )
    parser.add_argument(
        "--declaration", metavar="DIGEST", help="which one was read; needed to accept"
    )
    _add_json(parser)


def _expect_declaration(options: dict[str, Any]) -> None:
    """Refuse to accept what may have come in after somebody looked."""
    if options["verdict"] == Verdict.ACCEPT and not options["declaration"]:
        raise CommandError("to accept, name the declaration that was read: --declaration DIGEST")


def _add_format(parser: ArgumentParser, does: str) -> None:
    known = [str(form) for form in ToolFormat]
    parser.add_argument("--format", choices=known, default="mcp", help=f"{does}; default: mcp")


def _add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def _refusal(path: Path, faults: tuple[Fault, ...]) -> str:
    lines = [f"{path}: {quantity(total(faults), 'fault')}, nothing was imported"]
    places = ((f"{path}#{one.pointer}" if one.pointer else str(path), one) for one in faults)
    lines += [f"  {place}: {fault.message}" for place, fault in places]
    return "\n".join(lines)


def report_text(report: ImportReport) -> str:
    """Return an import's report as lines for a terminal."""
    was = {tool.name: f" (was {tool.was}, now {tool.state})" for tool in report.moved}
    lines = [report.summary, *(f"  + {name}{was.get(name, '')}" for name, _ in report.added)]
    lines += [
        f"  ~ {tool.name} ({', '.join(tool.members)}: {tool.grades}; now {tool.state})"
        for tool in report.changed
    ]
    lines += [
        f"  - {name} (vanished; kept, retire it when it is gone for good)"
        for name in report.vanished
    ]
    lines += [f"  ^ {name} (is back)" for name in report.returned]
    states = {tool.state for tool in report.changed} | {tool.state for tool in report.moved}
    if ToolState.CHANGED in states:
        lines.append("changed tools ask for approval until they are reviewed")
    if ToolState.QUARANTINED in states:
        lines.append("quarantined tools are refused until they are reviewed")
    return "\n".join([*lines, *(f"warning: {one}" for one in report.warnings)])


def _tool_wire(entry: Entry, *, gone: bool) -> dict[str, Any]:
    return {
        "family": entry.family,
        "name": entry.name,
        "title": entry.subject.title,
        "state": str(entry.state),
        "vanished": gone,
        "permission": entry.subject.permission,
        "hints": {str(hint): value for hint, value in entry.subject.hints},
        "dispatcher": entry.dispatcher is not None,
        "declaration": entry.declaration,
    }


def _tool_line(entry: Entry, *, gone: bool) -> str:
    notes = [str(entry.state), str(entry.subject.permission or "permission unknown")]
    notes += [f"{hint}={str(value).lower()}" for hint, value in entry.subject.hints]
    notes += ["dispatcher"] * (entry.dispatcher is not None) + ["vanished"] * gone
    return printable(f"{entry.family}/{entry.name}  {', '.join(notes)}")
