"""Names that are easily mixed up, of tools, layers and rules; approvals that are kept for long."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, TypeVar

from toolpolicy.engine.faults import shown
from toolpolicy.engine.globs import ascii_lower
from toolpolicy.engine.lint.findings import Finding, FindingCode
from toolpolicy.engine.lint.known import Known
from toolpolicy.engine.near_names import near_names
from toolpolicy.engine.registry import Entry
from toolpolicy.engine.words import Hint, Permission, SideEffect

Named = TypeVar("Named")
_WRITES = (SideEffect.WRITES_FILES, SideEffect.DESTRUCTIVE, SideEffect.PAYMENT)
_NAMED = {
    SideEffect.WRITES_FILES: "writes files",
    SideEffect.DESTRUCTIVE: "is destructive",
    SideEffect.PAYMENT: "spends money",
}


def check_tools(known: Known) -> Iterator[Finding]:
    """Find names that may be mixed up, and approvals that are remembered where they should not."""
    yield from _names(known)
    for entry in known.question.registry:
        why = _why_not_cacheable(entry)
        tool = f"{entry.family}/{entry.name}"
        if why and entry.subject.hint(Hint.CACHEABLE_APPROVAL):
            yield Finding(
                code=FindingCode.CACHEABLE_APPROVAL,
                message=f"{shown(tool)} asks for its approval only once a session, yet it {why}",
                tools=((entry.family, entry.name),),
                witness={"tool": tool, "why": why},
            )


def _why_not_cacheable(entry: Entry) -> str:
    subject = entry.subject
    declared = subject.side_effects or frozenset()
    for effect in reversed(_WRITES):
        if effect in declared:
            return _NAMED[effect]
    if subject.hint(Hint.DESTRUCTIVE):
        return _NAMED[SideEffect.DESTRUCTIVE]
    level = subject.permission
    writes = level is not None and level.rank >= Permission.WRITE.rank
    return f"has the permission {level}" if writes else ""


def _names(known: Known) -> Iterator[Finding]:
    tools = [(entry.family, entry.name) for entry in known.question.registry]
    for twins in _twins((tool[1], tool) for tool in tools):
        told = ["/".join(same[0]) for same in twins]
        yield _told(told, "the tools", tools=tuple(chain.from_iterable(twins)))
    layers = known.question.policy.layers
    for names in _spellings(layer.name for layer in layers):
        yield _told(names, "the layers", layer=names[-1])
    for layer in layers:
        ids = [rule.id for rule in layer.rules]
        for names in _spellings(ids):
            number = ids.index(names[-1])
            yield _told(names, "the rules", layer=layer.name, rule=names[-1], number=number)
    for near in near_names(tools):
        if ascii_lower(near.tool[1]) != ascii_lower(near.like[1]):
            both = (near.tool, near.like)
            yield Finding(
                code=FindingCode.LOOK_ALIKES,
                message=str(near),
                tools=both,
                witness={"tools": ["/".join(tool) for tool in both]},
            )


def _spellings(names: Iterable[str | None]) -> Iterator[list[str]]:
    """Yield the spellings of each name that is spelt in several ways."""
    for twins in _twins((name, name) for name in names if name):
        yield [same[0] for same in twins]


def _twins(names: Iterable[tuple[str, Named]]) -> Iterator[list[list[Named]]]:
    """Yield, of names and what bears them, those whose names differ by case alone, by spelling."""
    alike: dict[str, dict[str, list[Named]]] = {}
    for name, bearer in names:
        alike.setdefault(ascii_lower(name), {}).setdefault(name, []).append(bearer)
    yield from (list(twins.values()) for twins in alike.values() if len(twins) > 1)


def _told(twins: list[str], what: str, **place: Any) -> Finding:
    return Finding(
        code=FindingCode.CASE_TWINS,
        message=f"{what} {' and '.join(map(shown, twins))} differ by case alone",
        witness={"names": twins},
        **place,
    )
