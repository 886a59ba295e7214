"""Where in a call the arguments of which tool stand, for what is said about a tool's arguments.

Unfolding (`targets`) stops at the first thing that is wrong, for such a call is refused. Here what
is wrong is passed over: a refused call is recorded too, and what is found of its targets counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from toolpolicy.engine.pointers import Found, follow, tokens
from toolpolicy.engine.registry import Entry, Registry
from toolpolicy.engine.targets import MAX_HOPS, MAX_ITEMS, Dispatcher
from toolpolicy.engine.values import ABSENT

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """`args`, at `path` of a dispatcher's, sent for the tool `name`, of `family` if one is said.

    The name None says that it was not followed further: too deep, in a circle, or too many.
    """

    path: Path
    name: str | None
    family: str | None = None
    args: Any = field(default=None, hash=False)


ALL_OF_IT: Final = Place((), None)


def places_below(registry: Registry, entry: Entry, args: Any) -> list[Place]:
    """Return where the arguments of a call's targets stand, at any depth; [] for a plain tool."""
    found: list[Place] = []
    if args is ABSENT:
        return found
    for number, place in enumerate(_below(registry, entry, args, (), (entry,))):
        if number >= MAX_ITEMS:
            return [ALL_OF_IT]
        found += [] if place is None else [place]
    return found


def _below(
    registry: Registry, entry: Entry, args: Any, at: Path, passed: tuple[Entry, ...]
) -> Iterator[Place | None]:
    """Yield the places; None for an item that names no target."""
    dispatcher = entry.dispatcher
    if dispatcher is None:
        return
    for path, item in _items(dispatcher, args, at):
        family = _at(dispatcher.family, item)
        names = _names(dispatcher, item)
        if not names:
            yield None
        for name in names:
            own = _at(dispatcher.arguments, item)
            inside = own is not ABSENT
            place = (*path, *tokens(dispatcher.arguments or "")) if inside else at
            sent = own if inside else args
            yield Place(place, name, family if isinstance(family, str) else None, sent)
            for target in held(registry, name, family):
                if target in passed or len(passed) > MAX_HOPS:
                    yield Place(place, None)
                else:
                    yield from _below(registry, target, sent, place, (*passed, target))


def held(registry: Registry, name: str, family: Any) -> tuple[Entry, ...]:
    """Return the registered tools that a target can mean: one, or each of an ambiguous name."""
    found = registry.resolve(name, family if isinstance(family, str) else None)
    if found.entry is not None:
        return (found.entry,)
    every = (registry.resolve(name, one).entry for one in found.families)
    return tuple(entry for entry in every if entry is not None)


def _items(dispatcher: Dispatcher, args: Any, at: Path) -> list[tuple[Path, Any]]:
    if dispatcher.items is None:
        return [(at, args)]
    names = tokens(dispatcher.items)
    found = follow(names, args)
    if not isinstance(found, Found) or not isinstance(found.value, list):
        return []
    return [((*at, *names, str(n)), item) for n, item in enumerate(found.value)]


def _names(dispatcher: Dispatcher, item: Any) -> list[str]:
    found = (_at(pointer, item) for pointer in dispatcher.target)
    return list(dict.fromkeys(name for name in found if isinstance(name, str)))


def _at(pointer: str | None, item: Any) -> Any:
    if pointer is None:
        return ABSENT
    found = follow(tokens(pointer), item)
    return found.value if isinstance(found, Found) else ABSENT
