"""`manage.py audit prune` and `audit erase`: what is deleted of records, and how that is told."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from typing import Any

from toolpolicy.engine.faults import quantity
from toolpolicy.management.filtering import add_filter, filter_of
from toolpolicy.services.clock import OPTION
from toolpolicy.services.erasure import Erasure, Person
from toolpolicy.services.retention import Pruning


def add_retention_actions(actions: Any) -> None:
    """Add the sub-commands of retention to those of `audit`."""
    prune = actions.add_parser(
        "prune",
        help="delete the texts of records whose time is over",
        description="Headers and the sealed log stay. What a legal hold covers stays whole.",
    )
    prune.add_argument(
        OPTION,
        action="store_true",
        help="say that the clock is right and nothing ran for so long; it stays in the log",
    )
    _add_common(prune)
    _add_erase(actions)


def _add_erase(actions: Any) -> None:
    erase = actions.add_parser(
        "erase",
        help="delete the masked values of one person's records",
        description=(
            "Deletes values and their salts; the texts stay, with commitments that say nothing any "
            "more. What a legal hold covers stays whole."
        ),
    )
    add_filter(erase)
    erase.add_argument(
        "--context",
        action="append",
        type=_pair,
        default=[],
        metavar="KEY=VALUE",
        help="only records judged in this context; reads every text that the filter leaves",
    )
    erase.add_argument("--reason", required=True, help="why; it stays in the log")
    erase.add_argument("--bodies", action="store_true", help="delete their texts as well")
    _add_common(erase)


def _add_common(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only count")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key, value


def person_of(options: dict[str, Any]) -> Person:
    """Return whose values the options name. Raise CommandError."""
    return Person(filter=filter_of(options), context=dict(options["context"]))


def pruning_lines(found: Pruning) -> Iterator[str]:
    """Say in lines for a terminal what a pruning did."""
    deleted = found.deleted
    verb = "would delete" if found.dry_run else "deleted"
    yield f"{verb} {quantity(deleted.texts, 'text')} whose time is over"
    for kind, count in sorted(deleted.kinds.items()):
        yield f"  {kind}: {count} from before {found.before[kind]:%Y-%m-%d}"
    if deleted.values:
        yield f"  with {quantity(deleted.values, 'masked value')}"
    if deleted.held:
        yield f"  {quantity(deleted.held, 'record')} kept by legal holds"


def erasure_lines(found: Erasure, *, bodies: bool) -> Iterator[str]:
    """Say in lines for a terminal what an erasure did, and what it left."""
    deleted = found.deleted
    verb = "would erase" if found.dry_run else "erased"
    of = quantity(found.records, "record")
    yield f"{verb} {quantity(deleted.values, 'masked value')} of {of} that match"
    if bodies:
        done = "would delete" if found.dry_run else "deleted"
        yield f"{done} {quantity(deleted.texts, 'text')}"
    if found.seen:
        yield f"{verb} {quantity(found.seen, 'context value')} that authors were offered"
    if deleted.held:
        yield f"{quantity(deleted.held, 'record')} kept by legal holds"
    if found.standing:
        yield (
            f"{quantity(found.standing, 'text')} of these records still stand: what they show in "
            "the clear, they go on showing"
        )
        if not bodies:
            yield "  the same with --bodies deletes them too"
    yield "headers stay: they name tool, agent, channel and session (docs/audit.md)"
