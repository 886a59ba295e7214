"""Indirect calls: a dispatcher's call unfolded into the list of what is judged (SPEC §7)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from toolpolicy.engine.pointers import Found, Missing, resolve
from toolpolicy.engine.reading import Reader, present
from toolpolicy.engine.subjects import name_fault
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import ReasonCode

MAX_HOPS = 8
MAX_TARGETS = 1_000
# Items that name no target add none, but each of 1,000 targets may look through the same long list.
MAX_ITEMS = 10_000
_POINTERS = ("arguments", "family", "items")
_SWITCHES = ("target_required", "known_targets_only")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatcher:
    """How a tool names its real target: pointers into its arguments or into list items."""

    target: tuple[str, ...]
    arguments: str | None = None
    family: str | None = None
    items: str | None = None
    target_required: bool = False
    known_targets_only: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """What the registry knows of a tool: its identity, and how it dispatches if it does."""

    family: str | None
    name: str
    dispatcher: Dispatcher | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call refused before any rule is read; `tool` is the name that the refusal is about."""

    reason_code: ReasonCode
    tool: str


class Lookup(Protocol):
    """The registry as the unfolding sees it."""

    def exact(self, family: str | None, name: str) -> Known | None:
        """Return the tool registered as (family, name)."""

    def bare(self, name: str) -> Known | Refusal | None:
        """Return the tool that a bare name means; None when unregistered."""


@dataclass(frozen=True, slots=True)
class Target:
    """One target of a dispatcher's call, with the arguments it is judged against."""

    family: str | None
    name: str
    args: Any
    hops: int


def parse_dispatcher(document: Any) -> Dispatcher:
    """Parse a dispatcher declaration (SPEC §7). Raises `Faults`."""
    reader = Reader()
    members = reader.members(document, "", ("target", *_POINTERS, *_SWITCHES))
    if isinstance(document, dict) and "target" not in members:
        reader.fault(
            "", "a dispatcher needs a `target`: a pointer, or a list of pointers", "missing"
        )
    target = reader.patterns(members["target"], "/target") if "target" in members else ()
    if "target" in members and not target and not reader.faults:
        reader.fault("/target", "a dispatcher needs at least one pointer to its target", "missing")
    found: dict[str, Any] = {"target": target}
    for name in _POINTERS:
        if present(members, name):
            found[name] = reader.text(members[name], f"/{name}")
    for name in _SWITCHES:
        if name in members:
            found[name] = reader.boolean(members[name], f"/{name}") is True
    return reader.finish(Dispatcher(**found))


def dump_dispatcher(dispatcher: Dispatcher) -> dict[str, Any]:
    """Write a dispatcher declaration."""
    target = dispatcher.target
    out: dict[str, Any] = {"target": target[0] if len(target) == 1 else list(target)}
    out.update({n: getattr(dispatcher, n) for n in _POINTERS if getattr(dispatcher, n) is not None})
    out.update({n: True for n in _SWITCHES if getattr(dispatcher, n)})
    return out


class _Refused(Exception):
    def __init__(self, reason_code: ReasonCode, tool: str) -> None:
        super().__init__(reason_code)
        self.refusal = Refusal(reason_code, tool)


def unfold(
    lookup: Lookup, known: Known, args: Any, *, strict: bool = True
) -> tuple[Target, ...] | Refusal:
    """Return the targets of a call, depth first, without the dispatcher; () for a plain tool.

    A refusal names why: dispatcher_bad_target, dispatcher_unknown_target, dispatcher_cycle,
    dispatcher_too_deep (beyond 8 hops or 1,000 targets, or 10,000 items with those that name none),
    or what the look-up says of a bare name. `strict=False` follows the vectors, and takes for a
    name what no tool can be named (SPEC §1).
    """
    found: list[Target] = []
    try:
        followed = _follow(lookup, known, args, (known,), strict=strict)
        for number, target in enumerate(followed, start=1):
            found += [] if target is None else [target]
            if len(found) > MAX_TARGETS or number > MAX_ITEMS:
                return Refusal(ReasonCode.DISPATCHER_TOO_DEEP, known.name)
    except _Refused as refused:
        return refused.refusal
    return tuple(found)


def _follow(
    lookup: Lookup, known: Known, args: Any, path: tuple[Known, ...], *, strict: bool
) -> Iterator[Target | None]:
    """Yield the targets depth first; None for an item that names none."""
    dispatcher = known.dispatcher
    if dispatcher is None:
        return
    for item in _items(dispatcher, known, args):
        name = _name(dispatcher, known, item, strict=strict)
        if name is None:
            yield None
            continue
        if len(path) > MAX_HOPS:
            raise _Refused(ReasonCode.DISPATCHER_TOO_DEEP, known.name)
        target = _identify(lookup, dispatcher, item, name)
        if target is None and dispatcher.known_targets_only:
            raise _Refused(ReasonCode.DISPATCHER_UNKNOWN_TARGET, name)
        own = _value(dispatcher.arguments, item)
        target_args = args if own is ABSENT else own
        yield Target(target.family if target else None, name, target_args, len(path))
        if target is None:
            continue
        if any((step.family, step.name) == (target.family, target.name) for step in path):
            raise _Refused(ReasonCode.DISPATCHER_CYCLE, name)
        yield from _follow(lookup, target, target_args, (*path, target), strict=strict)


def _items(dispatcher: Dispatcher, known: Known, args: Any) -> list[Any]:
    """Return the documents in which the pointers are followed: the arguments, or each list item."""
    if dispatcher.items is None:
        return [args]
    found = Missing.ABSENT if args is ABSENT else resolve(dispatcher.items, args)
    if isinstance(found, Found) and isinstance(found.value, list):
        if not found.value and dispatcher.target_required:
            raise _Refused(ReasonCode.DISPATCHER_BAD_TARGET, known.name)
        return found.value
    if found is Missing.ABSENT and not dispatcher.target_required:
        return []
    raise _Refused(ReasonCode.DISPATCHER_BAD_TARGET, known.name)


def _name(dispatcher: Dispatcher, known: Known, item: Any, *, strict: bool) -> str | None:
    """Return the one name that the target pointers find; None where it may be missing."""
    names: set[str] = set()
    for pointer in dispatcher.target:
        found = Missing.ABSENT if item is ABSENT else resolve(pointer, item)
        if found is Missing.ABSENT:
            continue
        # Before anything repeats it: registry and rules are asked about names alone.
        if not isinstance(found, Found) or not _is_name(found.value, strict=strict):
            raise _Refused(ReasonCode.DISPATCHER_BAD_TARGET, known.name)
        names.add(found.value)
    if len(names) > 1 or (not names and dispatcher.target_required):
        raise _Refused(ReasonCode.DISPATCHER_BAD_TARGET, known.name)
    return names.pop() if names else None


def _is_name(value: Any, *, strict: bool) -> bool:
    return isinstance(value, str) and bool(value) and not (strict and name_fault(value))


def _identify(lookup: Lookup, dispatcher: Dispatcher, item: Any, name: str) -> Known | None:
    """Find the registered target; a stated family counts only if registered with that name."""
    family = _value(dispatcher.family, item)
    if isinstance(family, str) and (known := lookup.exact(family, name)):
        return known
    found = lookup.bare(name)
    if isinstance(found, Refusal):
        raise _Refused(found.reason_code, found.tool)
    return found


def _value(pointer: str | None, item: Any) -> Any:
    if pointer is None or item is ABSENT:
        return ABSENT
    found = resolve(pointer, item)
    return found.value if isinstance(found, Found) else ABSENT
