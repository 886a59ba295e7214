"""The registry as one immutable value: the authority on what a tool is (SPEC §8).

A snapshot is a document that lists every registered tool with its state and the digest of its
declaration; its own digest names the registry that a decision was judged by.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from toolpolicy.engine.declarations import effective_subject
from toolpolicy.engine.globs import ascii_lower
from toolpolicy.engine.privilege import Privilege, parse_privilege, permission_of_call
from toolpolicy.engine.targets import Dispatcher, Known, Refusal, parse_dispatcher
from toolpolicy.engine.values import Subject
from toolpolicy.engine.words import Approval, ReasonCode

FORMAT: Final = "toolpolicy-registry/1"


class ToolState(StrEnum):
    """Whether a registered tool may be used."""

    ACTIVE = "active"
    CHANGED = "changed"
    QUARANTINED = "quarantined"
    RETIRED = "retired"


REFUSED_STATES: Final = {
    ToolState.RETIRED: ReasonCode.TOOL_RETIRED,
    ToolState.QUARANTINED: ReasonCode.TOOL_QUARANTINED,
}


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Entry:
    """One registered tool. `subject` is what it is judged as, before any arguments are known."""

    subject: Subject
    family: str
    state: ToolState
    declaration: str
    dispatcher: Dispatcher | None = None
    privilege: Privilege = ()

    @property
    def name(self) -> str:
        """The name that the model sees."""
        return self.subject.name

    @property
    def refusal(self) -> ReasonCode | None:
        """Why its state refuses every use; None when it does not."""
        return REFUSED_STATES.get(self.state)

    @property
    def floor(self) -> Approval:
        """The least approval: a tool that changed since its review is never called without one."""
        return Approval.REQUIRED if self.state is ToolState.CHANGED else Approval.DEFAULT

    @property
    def depends_on_arguments(self) -> bool:
        """Whether no listing can say what a call would meet (SPEC §5a)."""
        return self.dispatcher is not None or bool(self.privilege)

    @property
    def known(self) -> Known:
        """The tool as the unfolding of indirect calls sees it."""
        return Known(self.family, self.name, self.dispatcher)

    def subject_of_call(self, args: Any) -> Subject:
        """Return the subject of a call with these arguments (`ABSENT`: there are none)."""
        if not self.privilege:
            return self.subject
        level = permission_of_call(self.privilege, self.subject, args)
        return replace(self.subject, permission=level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What a name stands for: a registered tool, or none; and why it is refused, if it is.

    A refused state still names its tool. `tool_unregistered` means that the registry has no such
    tool: the deployment says what that means (SPEC §8). `families` are the ones that hold the name.
    """

    entry: Entry | None = None
    refusal: ReasonCode | None = None
    families: tuple[str, ...] = ()


class Registry:
    """All registered tools, in the order of family and name."""

    __slots__ = ("_by_name", "_folded", "entries")

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = tuple(sorted(entries, key=lambda entry: (entry.family, entry.name)))
        self._by_name: dict[str, dict[str, Entry]] = {}
        for entry in self.entries:
            self._by_name.setdefault(entry.name, {})[entry.family] = entry
        self._folded = frozenset(ascii_lower(name) for name in self._by_name)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def resolve(self, name: str, family: str | None = None) -> Resolution:
        """Return what `name` stands for (SPEC §8), in `family` when one is stated."""
        held = self._by_name.get(name)
        if held is None:
            twin = ascii_lower(name) in self._folded
            refusal = ReasonCode.NAME_REFUSED if twin else ReasonCode.TOOL_UNREGISTERED
            return Resolution(refusal=refusal)
        families = tuple(held)
        if family is None and len(held) > 1:
            return Resolution(refusal=ReasonCode.TOOL_AMBIGUOUS, families=families)
        entry = held.get(families[0] if family is None else family)
        if entry is None:
            return Resolution(refusal=ReasonCode.NAME_REFUSED, families=families)
        return Resolution(entry=entry, refusal=entry.refusal, families=families)

    def twins(self, name: str) -> tuple[Entry, ...]:
        """Return the tools whose name differs from this one by ASCII case at most."""
        folded = ascii_lower(name)
        if folded not in self._folded:
            return ()
        return tuple(entry for entry in self.entries if ascii_lower(entry.name) == folded)

    def exact(self, family: str | None, name: str) -> Known | None:
        """Return the tool registered as (family, name), for the unfolding of indirect calls."""
        entry = self._by_name.get(name, {}).get(family or "")
        return None if entry is None else entry.known

    def bare(self, name: str) -> Known | Refusal | None:
        """Return the tool that a bare name means; None when unregistered, a refusal when unclear.

        A refused state is no question of identity: who judges the target finds it by `resolve`.
        """
        found = self.resolve(name)
        if found.entry is not None:
            return found.entry.known
        if found.refusal is None or found.refusal is ReasonCode.TOOL_UNREGISTERED:
            return None
        return Refusal(found.refusal, name)


def read_registry(document: Mapping[str, Any], declarations: Mapping[str, Any]) -> Registry:
    """Build a registry from a snapshot and the declarations that it names, by digest.

    Both were checked when they were written; what cannot be read now raises `Faults` or KeyError.
    """
    tools = document["tools"]
    return Registry(_read_entry(tool, declarations[tool["declaration"]]) for tool in tools)


def _read_entry(tool: Mapping[str, Any], declaration: Mapping[str, Any]) -> Entry:
    trusted, overrides = tool["trusted"], tool.get("overrides")
    dispatcher, privilege = tool.get("dispatcher"), tool.get("privilege")
    return Entry(
        subject=effective_subject(declaration, trusted=trusted, overrides=overrides),
        family=tool["family"],
        state=ToolState(tool["state"]),
        declaration=tool["declaration"],
        dispatcher=None if dispatcher is None else parse_dispatcher(dispatcher),
        privilege=() if privilege is None else parse_privilege(privilege),
    )
