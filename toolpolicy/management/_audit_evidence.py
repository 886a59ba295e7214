"""`manage.py audit export`, `verifier` and `stream`: records that leave the database."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError

from toolpolicy.audit.line_files import OUTPUT, LineFile, LineOutput, LineTarget
from toolpolicy.audit.unreadable import Unreadable
from toolpolicy.engine.faults import quantity
from toolpolicy.management.filtering import add_filter, filter_of
from toolpolicy.services.evidence.exports import Asked, Export, Form


def add_evidence_actions(actions: Any) -> None:
    """Add the sub-commands that take records away to those of `audit`."""
    _add_export(actions.add_parser("export", help="take sealed records away as evidence"))
    verifier = actions.add_parser("verifier", help="write the program that checks a bundle")
    add_out(verifier)
    stream = actions.add_parser(
        "stream", help="write every sealed record as a line of JSON, at least once"
    )
    stream.add_argument(
        "--to", required=True, metavar="FILE", help="the file to append to; - for standard output"
    )
    stream.add_argument("--follow", action="store_true", help="go on as records are sealed")


def _add_export(parser: ArgumentParser) -> None:
    add_filter(parser)
    add_out(parser, "; packed when it ends in .gz")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument(
        "--complete", action="store_true", help="also prove that nothing was left out"
    )
    kinds.add_argument("--csv", action="store_true", help="a table to read; it proves nothing")
    parser.add_argument("--json", action="store_true", help="say as JSON what was written")


def add_out(parser: ArgumentParser, more: str = "") -> None:
    """Add where to write: never over a file that is there."""
    help_text = f"where to, a new file (default: here){more}"
    parser.add_argument("--out", type=Path, metavar="FILE", help=help_text)


def asked_for(options: Mapping[str, Any]) -> Asked:
    """Return what an `export` is to hold. Raise CommandError when that is unclear."""
    return Asked(wanted=filter_of(options), form=_form(options), complete=options["complete"])


def _form(options: Mapping[str, Any]) -> Form:
    out: Path | None = options["out"]
    if options["csv"]:
        return Form.TABLE
    return Form.PACKED if out is not None and out.suffix == ".gz" else Form.BUNDLE


@contextmanager
def new_file(path: Path | None) -> Iterator[BinaryIO]:
    """Open a new file, or standard output. Raise CommandError when it cannot be written."""
    if path is None:
        yield sys.stdout.buffer
        return
    try:
        with path.open("xb") as file:
            yield file
    except FileExistsError:
        raise CommandError(f"{path} is there already; evidence is not overwritten") from None
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}") from None


def write_out(begin: Callable[[], Export], path: Path | None) -> dict[str, Any]:
    """Write an export to a new file or to standard output; return what to say of it.

    It is not begun, and so not recorded, where the file cannot be made.
    """
    try:
        with new_file(path) as out, closing(_begun(begin, path)) as export:
            for piece in export:
                out.write(piece)
            out.flush()
    except Unreadable as error:
        message = f"the export broke off: {error}; `manage.py audit verify` says what happened"
        raise CommandError(message) from None
    counts = {f"{name}s": export.counts[name] for name in ("record", "other", "block")}
    return {
        **counts,
        "unsealed": export.waiting,
        "size": export.size,
        "digest": export.digest,
    }


def _begun(begin: Callable[[], Export], path: Path | None) -> Export:
    try:
        return begin()
    except BaseException:
        if path is not None:
            path.unlink()
        raise


def export_lines(told: Mapping[str, Any], path: Path | None) -> Iterator[str]:
    """Say in lines what was written."""
    records, blocks = quantity(told["records"], "record"), quantity(told["blocks"], "block")
    yield f"{path or 'written'}: {records}, {blocks}, {told['size']} bytes, {told['digest']}"
    if told["unsealed"]:
        yield f"not in it: {quantity(told['unsealed'], 'record')} that cannot be sealed now"


def target_of(word: str) -> LineTarget:
    """Return where `stream` writes to."""
    return LineOutput(sys.stdout.buffer) if word == OUTPUT else LineFile(Path(word).absolute())
