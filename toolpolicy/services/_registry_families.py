"""Tool families: where tools come from, and whether their hints are believed (SPEC §8)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from django.db import transaction

from toolpolicy.engine.declarations import family_fault, prefix_fault
from toolpolicy.engine.faults import Fault, did_you_mean, shown
from toolpolicy.engine.globs import same_text
from toolpolicy.engine.masking import parse_masking
from toolpolicy.engine.reading import Reader
from toolpolicy.models import PolicyState, ToolFamily
from toolpolicy.models.choices import FamilyKind
from toolpolicy.services import masking
from toolpolicy.services._publishing import Author
from toolpolicy.services._registry_records import Change, settle
from toolpolicy.services._registry_rows import expect_version, faults_under
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.errors import InvalidInput, NotFound, unknown_members
from toolpolicy.services.registry_store import lock_state

MEMBERS = ("name", "kind", "prefix", "trusted", "description", "masking")
FIXED = ("name", "kind", "prefix")


def kind_fault(kind: str) -> str | None:
    """Say what is wrong with a family's kind; None when it is good."""
    if kind in FamilyKind.values:
        return None
    return f"{shown(kind)} is not a known kind{did_you_mean(kind, FamilyKind.values)}"


CHECKS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "name": family_fault,
    "prefix": prefix_fault,
    "kind": kind_fault,
}


def twin_fault(name: str, families: Iterable[str]) -> str | None:
    """Say that a family's name differs from another's by ASCII case only, which rules ignore."""
    twins = [one for one in families if same_text(one, name) and one != name]
    return f"{shown(name)} differs from {shown(twins[0])} by case only" if twins else None


def wire_of(family: ToolFamily) -> dict[str, Any]:
    """Return what a record and the API say of a family."""
    return {name: getattr(family, name) for name in MEMBERS}


@transaction.atomic
def create_family(
    *, actor: Actor, values: Mapping[str, Any], origin: Origin = NOWHERE
) -> ToolFamily:
    """Create a family; `values` are members of `MEMBERS`, of which only `name` must be there.

    Raises `InvalidInput`.
    """
    state = lock_state()
    known = list(ToolFamily.objects.values_list("name", flat=True))
    faults = _faults(values)
    name = values.get("name")
    if "name" not in values:
        faults.append(Fault("", "a family needs a `name`", "missing"))
    elif isinstance(name, str) and name in known:
        faults.append(Fault("/name", f"there is a family {shown(name)} already", "duplicate"))
    elif isinstance(name, str) and (twin := twin_fault(name, known)):
        faults.append(Fault("/name", twin, "case_twin"))
    if faults:
        raise InvalidInput(faults)
    family = ToolFamily(**values)
    family.full_clean()
    family.save()
    summary = f"added the family {shown(family.name)}"
    change = Change(action="create_family", summary=summary, family=family.name)
    body = {"before": None, "after": wire_of(family), **_masked(state, family, {})}
    settle(state, Author(actor=actor, origin=origin), change, body)
    return family


@transaction.atomic
def update_family(
    *, actor: Actor, name: str, version: int, values: Mapping[str, Any], origin: Origin = NOWHERE
) -> ToolFamily:
    """Change a family's members; its name never, its kind and prefix only while it has no tools.

    Trust decides how every tool of the family is judged from the next decision on. Raises
    `InvalidInput`, `NotFound`, and `Stale` when somebody changed the family since `version`.
    """
    state = lock_state()
    family = ToolFamily.objects.filter(name=name).first()
    if family is None:
        raise NotFound(f"family {shown(name)}")
    expect_version(family, version)
    before = wire_of(family)
    faults = _faults(values)
    moved = [one for one in FIXED if one in values and values[one] != before[one]]
    if moved and ("name" in moved or family.tools.exists()):
        message = f"the tools of `{name}` are known by it; it stays as it is"
        faults += [Fault(f"/{one}", message, "fixed") for one in moved]
    if faults:
        raise InvalidInput(faults)
    for member, value in values.items():
        setattr(family, member, value)
    if wire_of(family) == before:
        return family
    family.version += 1
    family.full_clean()
    family.save()
    summary = f"changed the family {shown(family.name)}"
    change = Change(action="update_family", summary=summary, family=family.name)
    body = {"before": before, "after": wire_of(family), **_masked(state, family, before["masking"])}
    settle(state, Author(actor=actor, origin=origin), change, body)
    return family


def _masked(state: PolicyState, family: ToolFamily, before: Mapping[str, Any]) -> dict[str, Any]:
    """Make another masking live; return what the record says of it."""
    return {} if family.masking == before else {"masking": masking.write_snapshot(state)}


def _faults(values: Mapping[str, Any]) -> list[Fault]:
    reader = Reader()
    for name, value in values.items():
        if name == "trusted":
            reader.boolean(value, "/trusted")
        elif name == "masking":
            reader.found.extend(faults_under("masking", lambda: parse_masking(values["masking"])))
        elif name in MEMBERS and reader.text(value, f"/{name}") is not None and name in CHECKS:
            message = CHECKS[name](value)
            if message:
                reader.fault(f"/{name}", message)
    return [*unknown_members(values, MEMBERS), *reader.faults]
