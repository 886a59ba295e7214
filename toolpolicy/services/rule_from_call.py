"""Rules that a recorded call suggests, from narrow to broad, each with what it would reach."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from toolpolicy.engine.faults import join
from toolpolicy.engine.globs import any_glob
from toolpolicy.engine.matching import scalar_text
from toolpolicy.engine.registry import Registry

MOST_ARGUMENTS: Final = 5
LONGEST_VALUE: Final = 200
WHO: Final = ("agent", "channel")
# A value with one of these would stand for others too.
PATTERNED: Final = frozenset("*?,!")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a rule would be about: its `match` and `when` in wire form.

    `tools` are the registered ones that it can match; `calls` those of the last days to such tools,
    of which a rule that looks at arguments or context meets a part.
    """

    match: Mapping[str, Any]
    when: Mapping[str, str]
    tools: int
    calls: int

    @property
    def looks_at_arguments(self) -> bool:
        """Whether only some values of an argument are meant."""
        return "arg" in self.match

    @property
    def meets_a_part(self) -> bool:
        """Whether not each of the counted calls would meet it."""
        return self.looks_at_arguments or bool(self.when)


def reaches(
    body: Mapping[str, Any], *, registry: Registry, calls: Mapping[tuple[str, str], int]
) -> list[Reach]:
    """Return what a rule made from this record's call can be about, the narrowest first.

    `calls` are counts by (family, tool), as `usage.tool_calls` gives them. No query.
    """
    found = []
    for match, when in _choices(body):
        held = [
            (entry.family, entry.name)
            for entry in registry
            if _meant(match, entry.family, entry.name)
        ]
        times = sum(n for (family, tool), n in calls.items() if _meant(match, family, tool))
        found.append(Reach(match=match, when=when, tools=len(held), calls=times))
    return found


def _choices(body: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    answer = body["answer"]
    # Where the reason is about a tool that the call would have run, the rule is about that one.
    tool = answer.get("about") or answer["tool"]
    family = {"family": tool["family"]} if tool["family"] else {}
    named = {"name": tool["name"], **family}
    who = {key: body["context"][key] for key in WHO if body["context"].get(key)}
    agent = {key: value for key, value in who.items() if key == "agent"}
    if "about" not in answer:
        masked = {one["pointer"] for one in body.get("masked", ())}
        for pointer, value in _values(body["asked"].get("arguments"), masked):
            yield {**named, "arg": {"pointer": pointer, "value": value}}, who
    yield from _wider(named, who, agent)
    if family:
        yield from _wider(family, agent, {})


def _wider(
    match: dict[str, Any], *contexts: dict[str, str]
) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yield a match with each of these contexts, then with none; each once."""
    seen: list[dict[str, str]] = []
    for when in (*contexts, {}):
        if when not in seen:
            seen.append(when)
            yield match, when


def _values(arguments: Any, masked: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the arguments whose value a rule can name exactly.

    None that is masked: what stands in a policy is never erased.
    """
    members = arguments.items() if isinstance(arguments, dict) else ()
    readable = (
        (join("", name), text)
        for name, value in members
        if (text := scalar_text(value))
        and len(text) <= LONGEST_VALUE
        and join("/asked/arguments", name) not in masked
    )
    exact = ((pointer, text) for pointer, text in readable if PATTERNED.isdisjoint(text))
    yield from islice(exact, MOST_ARGUMENTS)


def _meant(match: Mapping[str, Any], family: str, tool: str) -> bool:
    name, held = match.get("name"), match.get("family")
    return (name is None or any_glob((name,), tool)) and (held is None or any_glob((held,), family))
