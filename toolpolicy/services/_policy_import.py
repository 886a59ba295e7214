"""Importing a policy, whole or as added layers: all of it, or nothing and every fault."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction

from toolpolicy.engine.documents import dump_policy
from toolpolicy.engine.faults import Fault, Faults, quantity, shown
from toolpolicy.engine.formats import Form, Reading, Source, read_any
from toolpolicy.engine.formats import Place as Where
from toolpolicy.models import Layer, PolicyVersion, Rule
from toolpolicy.services import _policy_rows as rows
from toolpolicy.services._policy_diff import diff
from toolpolicy.services._policy_draft import Draft, Place
from toolpolicy.services._policy_rows import Wire
from toolpolicy.services._publishing import Author, Change, publish
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.errors import InvalidInput, model_faults

_UNCHECKED: Final = {"validate_unique": False, "validate_constraints": False}


class ImportMode(StrEnum):
    """What becomes of the layers that are there."""

    REPLACE = "replace"
    ADD = "add"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """How to import; `where` is for rules that do not say where they belong.

    `seen` is the number of the live version that the caller saw, 0 for none; it has to be the one
    that is live still.
    """

    mode: ImportMode = ImportMode.REPLACE
    where: Where | None = None
    dry_run: bool = False
    seen: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import came to, or after a dry run would have come to.

    `changes` is as `policies.diff` says it; `changed` is also true when the rows were not live.
    """

    form: Form
    layers: int
    changes: list[Wire]
    changed: bool
    dry_run: bool
    version: PolicyVersion | None

    def wire(self) -> Wire:
        """Return it as JSON."""
        live = self.version
        return {
            "form": str(self.form),
            "layers": self.layers,
            "dry_run": self.dry_run,
            "changed": self.changed,
            "changes": self.changes,
            "policy": {
                "version": live.number if live else None,
                "digest": live.document_id if live else None,
            },
        }


@transaction.atomic
def import_document(
    *,
    actor: Actor,
    document: Any,
    options: ImportOptions = ImportOptions(),
    origin: Origin = NOWHERE,
) -> Imported:
    """Import a policy in any form that `engine.formats.read_any` reads.

    Replacing keeps the rows of layers and rules whose name or id is the same; added layers become
    the last of their scopes, in their own order. Rules without an id get one, and layers of one
    scope that share a position are numbered in the order in which they apply.

    Raises `InvalidInput` with every fault (pointers into `document`), `Stale` and `Refused`
    (`baseline_protected`), and then nothing is written.
    """
    reading = _read(document, options.where)
    draft = Draft.open()
    if options.seen is not None:
        draft.expect_live(options.seen)
    placed = _lay(draft, reading, options.mode)
    after = draft.settle(None)
    faults = [fault for place, source in placed for fault in _row_faults(place, source)]
    if faults:
        raise InvalidInput(faults)
    before, live = draft.before, draft.state.live
    saved = publish(draft, Author(actor=actor, origin=origin), _change(reading, options.mode))
    if options.dry_run:  # made and undone: what it says is what would have come of it
        transaction.set_rollback(True)
    return Imported(
        form=reading.form,
        layers=len(placed),
        changes=diff(before, after),
        changed=saved.changed,
        dry_run=options.dry_run,
        version=live if options.dry_run else saved.version,
    )


def _read(document: Any, where: Where | None) -> Reading:
    try:
        return read_any(document, where)
    except Faults as error:
        raise InvalidInput(error.faults) from None


def _change(reading: Reading, mode: ImportMode) -> Change:
    layers = quantity(len(reading.sources), "layer")
    done = f"added {layers}" if mode is ImportMode.ADD else f"replaced the policy with {layers}"
    return Change(action="import_document", summary=f"{done} from a file ({reading.form})")


# --- laying the layers ---------------------------------------------------------------------------


def _lay(draft: Draft, reading: Reading, mode: ImportMode) -> list[tuple[Place, Source]]:
    """Put the layers into the draft; return their places, each with its source."""
    entries: list[Wire] = dump_policy(reading.policy)["layers"]
    if mode is ImportMode.REPLACE:
        _number(entries)
        draft.replace(entries)
        return list(zip(draft.places, reading.sources, strict=True))
    _refuse_taken_names(draft, entries, reading.sources)
    for scope, same in _by_scope(entries).items():
        _renumber(same, draft.next_position(scope))
    places = [Place(entry, rules=[None] * len(entry["policy"]["rules"])) for entry in entries]
    draft.places += places
    return list(zip(places, reading.sources, strict=True))


def _number(entries: Iterable[Wire]) -> None:
    """Give layers of one scope that share a position new ones that mean the same (SPEC §5)."""
    for same in _by_scope(entries).values():
        if len({entry["position"] for entry in same}) < len(same):
            _renumber(same, 0)


def _by_scope(entries: Iterable[Wire]) -> dict[str, list[Wire]]:
    found: dict[str, list[Wire]] = defaultdict(list)
    for entry in entries:
        found[entry["scope"]].append(entry)
    return found


def _renumber(entries: Iterable[Wire], first: int) -> None:
    ordered = sorted(entries, key=lambda entry: (entry["position"], entry["policy"]["name"]))
    for position, entry in enumerate(ordered, start=first):
        entry["position"] = position


def _refuse_taken_names(draft: Draft, entries: Sequence[Wire], sources: Sequence[Source]) -> None:
    known = {place.entry["policy"]["name"] for place in draft.places}
    names = [entry["policy"]["name"] for entry in entries]
    faults = [
        Fault(source.name, f"the policy has a layer {shown(name)} already", "duplicate")
        for name, source in zip(names, sources, strict=True)
        if name in known
    ]
    if faults:
        raise InvalidInput(faults)


# --- what only rows refuse -----------------------------------------------------------------------


def _row_faults(place: Place, source: Source) -> Iterator[Fault]:
    """Find what no column can hold, a name that is too long for example."""
    layer = Layer(**rows.layer_values(place.entry))
    for name, fault in _column_faults(layer):
        at = source.name if name == "name" else f"{source.place}/{name}"
        yield fault.moved(at)
    for at, values in zip(source.rules, rows.rule_values(place.entry), strict=True):
        for name, fault in _column_faults(Rule(**values)):
            yield fault.moved(f"{at}/{rows.RULE_MEMBERS.get(name, name)}")


def _column_faults(row: Layer | Rule) -> Iterator[tuple[str, Fault]]:
    try:
        row.full_clean(exclude={"layer"}, **_UNCHECKED)
    except ValidationError as error:
        for fault in model_faults(error, {}):
            yield fault.pointer.removeprefix("/"), fault
