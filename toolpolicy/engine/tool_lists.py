"""What every published list of tools must hold to, whatever its form (SPEC §1, §8)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from toolpolicy.engine.declarations import MAX_TITLE
from toolpolicy.engine.faults import join, shown
from toolpolicy.engine.globs import ascii_lower
from toolpolicy.engine.reading import Reader
from toolpolicy.engine.subjects import name_fault


@dataclass(frozen=True, slots=True)
class PrefixTwice:
    """A tool that has its family's prefix twice, as a rule because it was published with it."""

    family: str
    name: str
    prefix: str

    def __str__(self) -> str:
        has = f"`{self.family}/{self.name}` has the prefix `{self.prefix}` twice"
        return f"{has}: leave it out of the import, or of the name itself"

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"name": self.name, "message": str(self)}


def prefixed_twice(family: str, prefix: str, new: Iterable[str]) -> tuple[PrefixTwice, ...]:
    """Return which of the new names, prefix included, have it twice, in whatever case."""
    twice = ascii_lower(prefix * 2)
    found = (name for name in new if prefix and ascii_lower(name).startswith(twice))
    return tuple(PrefixTwice(family, name, prefix) for name in found)


def names(tools: list[Any], at: str) -> Iterator[tuple[str, str]]:
    """Yield each name with its pointer, whatever else is wrong with the tool."""
    for number, tool in enumerate(tools):
        name = tool.get("name") if isinstance(tool, dict) else None
        if isinstance(name, str):
            yield name, f"{join(at, number)}/name"


def check_twins(reader: Reader, tools: list[Any], at: str) -> None:
    """Note names that stand twice, and names that differ by ASCII case only."""
    seen: dict[str, tuple[str, str]] = {}
    for name, where in names(tools, at):
        first, there = seen.setdefault(ascii_lower(name), (name, where))
        if there == where:
            continue
        if first == name:
            reader.fault(where, f"{shown(name)} stands twice, first at {there}", "duplicate")
        else:
            message = f"{shown(name)} differs from {shown(first)} at {there} by case only"
            reader.fault(where, message, "case_twin")


def check_registered(
    reader: Reader, listed: Iterable[tuple[str, str]], registered: Iterable[str]
) -> None:
    """Note names that differ by ASCII case only from a registered one (SPEC §8)."""
    spelled: dict[str, set[str]] = {}
    for name in registered:
        spelled.setdefault(ascii_lower(name), set()).add(name)
    for name, where in listed:
        twins = spelled.get(ascii_lower(name), set())
        if twins and name not in twins:
            message = f"{shown(name)} differs from the registered {shown(min(twins))} by case only"
            reader.fault(where, message, "case_twin")


def check_name(reader: Reader, tool: dict[str, Any], at: str, prefix: str) -> None:
    """Note what is wrong with a tool's name, alone or behind the family's prefix."""
    if "name" not in tool:
        reader.fault(at, "a tool needs a `name`", "missing")
        return
    name = reader.text(tool["name"], f"{at}/name")
    if name is not None and (problem := name_fault(name) or name_fault(prefix + name)):
        reader.fault(f"{at}/name", problem, "name_refused")


def check_title(reader: Reader, title: Any, at: str) -> None:
    """Note a title that is too long."""
    if isinstance(title, str) and len(title) > MAX_TITLE:
        reader.fault(at, f"a title has at most {MAX_TITLE} characters", "too_large")
