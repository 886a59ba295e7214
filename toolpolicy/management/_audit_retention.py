"""`manage.py audit prune` and `audit erase`: what is deleted of records, and how that is told."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from typing import Any, Final

from toolpolicy.engine.faults import quantity
from toolpolicy.management.filtering import add_filter, filter_of
from toolpolicy.services.clock import OPTION
from toolpolicy.services.erasure import Erasure, Person
from toolpolicy.services.retention import Pruning

NAMES: Final = {"reason": "--reason", "filter": "--filter"}


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
    of = f"{quantity(found.records, 'record')} that {'matches' if found.records == 1 else 'match'}"
    yield f"{verb} {quantity(deleted.values, 'masked value')} of {of}"
    if bodies:
        done = "would delete" if found.dry_run else "deleted"
        yield f"{done} {quantity(deleted.texts, 'text')}"
    if found.seen:
        yield f"{verb} {quantity(found.seen, 'context value')} that authors were offered"
    if deleted.held:
        yield f"{quantity(deleted.held, 'record')} kept by legal holds"
    if found.found_nothing:
        yield "nothing is there to be deleted, so no record tells of it"
    yield from _standing_lines(found, bodies=bodies)
    yield "headers stay: they name tool, agent, channel and session (docs/audit.md)"


def _standing_lines(found: Erasure, *, bodies: bool) -> Iterator[str]:
    left = found.standing - (found.deleted.texts if found.dry_run else 0)
    if left == 1:
        yield "1 text of these records still stands: what it shows in the clear, it goes on showing"
    elif left:
        yield (
            f"{quantity(left, 'text')} of these records still stand: what they show in the clear, "
            "they go on showing"
        )
    if not bodies and found.deletable:
        them = "it" if left == 1 else "them"
        which = them if found.deletable == left else f"{found.deletable} of them"
        yield f"  the same with --bodies deletes {which} too"
