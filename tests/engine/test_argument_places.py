"""Where in a dispatcher's arguments the arguments of which tool stand."""

from typing import Any

import pytest

from toolpolicy.engine.argument_places import ALL_OF_IT, Place, places_below
from toolpolicy.engine.registry import Entry, Registry, ToolState
from toolpolicy.engine.targets import MAX_ITEMS, Dispatcher
from toolpolicy.engine.values import ABSENT, Subject

PLAIN: dict[str, Any] = {"target": ("/tool",), "arguments": "/args", "family": "/family"}
LISTED: dict[str, Any] = {"target": ("/tool", "/name"), "arguments": "/args", "items": "/calls"}


def entry(name: str, within: str = "kit", **dispatcher: Any) -> Entry:
    return Entry(
        subject=Subject(name=name, family=within),
        family=within,
        state=ToolState.ACTIVE,
        declaration="sha256:x",
        dispatcher=Dispatcher(**dispatcher) if dispatcher else None,
    )


REGISTRY = Registry(
    [
        entry("run", **PLAIN),
        entry("batch", **LISTED),
        entry("whole", target=("/tool",)),
        entry("read"),
        entry("twice"),
        entry("twice", "other", **PLAIN),
    ]
)


def below(name: str, args: Any, family: str = "kit") -> list[tuple[str, str | None]]:
    found = REGISTRY.resolve(name, family).entry
    assert found is not None
    return [("/".join(place.path), place.name) for place in places_below(REGISTRY, found, args)]


PLACES = [
    ("read", {"tool": "run"}, []),
    ("run", ABSENT, []),
    ("run", None, []),
    ("run", {"tool": "read", "args": {"a": 1}}, [("args", "read")]),
    ("run", {"tool": "unknown", "args": 1}, [("args", "unknown")]),
    ("run", {"tool": "read"}, [("", "read")]),
    ("run", {"tool": 5, "args": 1}, []),
    ("run", {"tool": "read", "family": 5, "args": 1}, [("args", "read")]),
    ("whole", {"tool": "read", "args": 1}, [("", "read")]),
    ("batch", {"calls": [{"tool": "read", "args": 1}, {"x": 1}, {"name": "run"}]},
     [("calls/0/args", "read"), ("", "run")]),
    ("batch", {"calls": [{"tool": "a", "name": "b", "args": 1}]},
     [("calls/0/args", "a"), ("calls/0/args", "b")]),
    ("batch", {"calls": {"tool": "read"}}, []),
    ("batch", {}, []),
    ("run", {"tool": "batch", "args": {"calls": [{"tool": "read", "args": 1}]}},
     [("args", "batch"), ("args/calls/0/args", "read")]),
    # An ambiguous name is followed as each tool that it can mean.
    ("run", {"tool": "twice", "args": {"tool": "read", "args": 1}},
     [("args", "twice"), ("args/args", "read")]),
    # In a circle: the rest is not followed.
    ("run", {"tool": "run", "args": {"tool": "read"}}, [("args", "run"), ("args", None)]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "places"), PLACES)
def test_places_of_targets(name, args, places):
    assert below(name, args) == places


def test_a_stated_family_picks_the_tool():
    args = {"tool": "twice", "family": "kit", "args": {"tool": "read", "args": 1}}
    assert below("run", args) == [("args", "twice")]


def test_too_deep_a_chain_is_not_followed_to_its_end():
    chain = Registry([entry(f"d{n}", **PLAIN) for n in range(12)])
    args: Any = {"tool": "end"}
    for number in range(11, 0, -1):
        args = {"tool": f"d{number}", "args": args}
    first = chain.resolve("d0").entry
    assert first is not None
    found = places_below(chain, first, args)
    assert found[-1].name is None
    assert len(found[-1].path) == len(found) - 1 == 9


def test_too_many_items_are_not_followed_at_all():
    calls = [{"tool": "read", "args": 1}] * (MAX_ITEMS + 1)
    found = REGISTRY.resolve("batch").entry
    assert found is not None
    assert places_below(REGISTRY, found, {"calls": calls}) == [ALL_OF_IT]
    assert places_below(REGISTRY, found, {"calls": calls[:1]}) == [
        Place(("calls", "0", "args"), "read", None, 1)
    ]
