"""Policy files on a command line: read, told when they are wrong, and what importing them did."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError

from toolpolicy.engine.faults import Fault, printable, quantity, said, total
from toolpolicy.engine.words import Scope
from toolpolicy.management.reading import read_within
from toolpolicy.services import differences
from toolpolicy.services.documents.sources import SYNTAXES, Syntax, guess, policy_limits, read
from toolpolicy.services.documents.yaml_text import Text
from toolpolicy.services.policies import Imported
from toolpolicy.services.policy_files import UNTITLED, Belonging

STDIN: Final = "-"
_MARKS: Final = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}


def add_import_arguments(parser: ArgumentParser) -> None:
    """Add what `policy import` can be told."""
    parser.add_argument("file", metavar="FILE", help="a policy; - reads standard input")
    parser.add_argument("--add", action="store_true", help="keep the layers that are there")
    parser.add_argument("--dry-run", action="store_true", help="report only, write nothing")
    parser.add_argument(
        "--format",
        choices=["auto", *Syntax],
        default="auto",
        help="how the file is written (default: as its name says)",
    )
    bare = parser.add_argument_group("for rules that do not say where they belong")
    bare.add_argument("--scope", choices=[str(scope) for scope in Scope])
    bare.add_argument("--target", action="append", metavar="PATTERN", help="may be repeated")
    bare.add_argument("--name", help="of the layer (default: the file's name)")


def belonging_of(options: Mapping[str, Any]) -> Belonging:
    """Return where bare rules go, as far as it was said; without a name they get the file's."""
    target, file = options["target"], options["file"]
    return Belonging(
        scope=Scope(options["scope"]) if options["scope"] else None,
        target=None if target is None else tuple(target),
        name=options["name"],
        title=UNTITLED if file == STDIN else Path(file).stem,
    )


def read_file(name: str, format_name: str) -> Text:
    """Read a file, or standard input. Raise CommandError, or `Faults` with lines."""
    syntax = guess(name) if format_name == "auto" else Syntax(format_name)
    if syntax is None:
        known = ", ".join(SYNTAXES)
        raise CommandError(f"{name} has none of the endings {known}; say --format")
    try:
        with nullcontext(sys.stdin.buffer) if name == STDIN else Path(name).open("rb") as stream:
            data = read_within(stream, policy_limits().size)
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}") from error
    return read(data, syntax)


def refusal(name: str, faults: Iterable[Fault]) -> str:
    """Return every fault as a line `FILE:LINE: /pointer: message`."""
    told = tuple(faults)
    lines = [
        f"{name}{'' if fault.line is None else f':{fault.line}'}: {said([fault])}" for fault in told
    ]
    last = f"{quantity(total(told), 'fault')}, nothing was imported"
    return "\n".join([*map(printable, lines), last])


def imported_lines(name: str, imported: Imported) -> Iterator[str]:
    """Say what an import did, or would do."""
    yield f"{name}: {quantity(imported.layers, 'layer')} read ({imported.form})"
    yield from change_lines(imported.changes)
    if imported.dry_run:
        yield "a dry run: nothing was written"
    elif not imported.changed:
        yield "the policy was so already; nothing was written"
    else:
        yield f"{imported.version} is live"


def change_lines(changes: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Say what differs, a line each, and below it what a rule says and which members differ."""
    for change in changes:
        rule = f" / {change['rule']}" if "rule" in change else ""
        grade = f", {change['grade']}" if "grade" in change else ""
        yield f"  {_MARKS[change['change']]} {change['layer']}{rule} ({change['change']}{grade})"
        if change["change"] != "moved":
            yield from (f"      {line}" for line in differences.told(change).lines())
