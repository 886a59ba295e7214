"""`manage.py audit`: the sealed log itself."""

import traceback
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.core.management.base import CommandError

from toolpolicy.audit import signing
from toolpolicy.audit.verification.crew import cores

VERIFY: Final = "verify"
GOOD: Final = 0
BROKEN: Final = 1
UNKNOWN: Final = 2


@contextmanager
def nothing_said(*, shown: bool) -> Iterator[None]:
    """Let whatever ends a verification before its verdict end with `UNKNOWN`, never `BROKEN`.

    What nobody foresaw is told with its traceback; with `shown`, everything is.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except Exception as error:
        if isinstance(error, CommandError) and not shown:
            error.returncode = UNKNOWN
            raise
        traceback.print_exc()
        raise SystemExit(UNKNOWN) from None


def add_log_actions(actions: Any) -> None:
    """Add the sub-commands of the log to those of `audit`."""
    verify = actions.add_parser(
        VERIFY,
        help="tell whether the log is as it was sealed",
        description=(
            "Judge what was sealed since the log was verified last. Exit status: 0 good, 1 broken, "
            "2 nothing is said of the log (wrong options or settings, no database, cut off)."
        ),
    )
    verify.add_argument("--full", action="store_true", help="from the first record on")
    verify.add_argument(
        "--processes",
        type=int,
        default=cores(),
        metavar="N",
        help="how many processes read a long log (one for each core)",
    )
    _add_json(verify)
    _add_json(actions.add_parser("seal", help="seal every record that is not sealed yet"))
    proof = actions.add_parser("proof", help="print what proves that one record is in the log")
    proof.add_argument("uid", type=UUID, metavar="UID")
    _add_json(proof)
    repair = actions.add_parser(
        "repair", help="close the broken part of the log with an explanation and begin a new one"
    )
    repair.add_argument("--note", required=True, help="what happened; it stays in the log")
    _add_json(repair)
    _add_key_actions(actions)


def _add_key_actions(actions: Any) -> None:
    rotate = actions.add_parser("rotate", help="let another key seal from now on")
    rotate.add_argument(
        "--to-file",
        type=Path,
        required=True,
        metavar="FILE",
        help="the new private key, as `audit new-key` makes it",
    )
    _add_json(rotate)
    new_key = actions.add_parser("new-key", help="make a private key for sealing")
    new_key.add_argument("--out", type=Path, metavar="FILE", help="where to (default: print it)")
    _add_json(new_key)


def _add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def read_seed(path: Path) -> str:
    """Return the private key in a file. Raise CommandError when there is none."""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from None
    if not signing.is_seed(text):
        raise CommandError(f"{path} holds no key: it must hold {signing.FORM}")
    return text


def write_seed(path: Path, seed: str) -> None:
    """Keep a private key in a new file that only its owner reads. Raise CommandError."""
    try:
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(seed + "\n", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error}") from None
