"""Privilege by argument: what a call's arguments raise a tool's permission to (SPEC §8).

A declaration is a list of `{"pointer", "patterns", "level"}`: where the argument at `pointer`
matches a glob, the call has at least that level. The highest that matches counts, never below the
tool's own permission. An argument that cannot be read counts as the highest level declared.
"""

from dataclasses import dataclass
from typing import Any

from toolpolicy.engine.documents import product_reader
from toolpolicy.engine.matching import Case, Truth, read_condition
from toolpolicy.engine.reading import Reader
from toolpolicy.engine.values import ArgumentIs, Patterns, Subject
from toolpolicy.engine.words import Permission, Surface

MEMBERS = ("pointer", "patterns", "level")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivilegeRule:
    """The level of calls whose argument at `pointer` matches one of the patterns."""

    pointer: str
    patterns: Patterns
    level: Permission


Privilege = tuple[PrivilegeRule, ...]


def parse_privilege(document: Any) -> Privilege:
    """Parse a declaration. Raises `Faults`."""
    reader = product_reader()
    rules = reader.items(document, "", lambda item, at: _read_rule(reader, item, at))
    if document == []:
        reader.fault("", "a list without rules says nothing; leave it out instead")
    return reader.finish(rules)


def _read_rule(reader: Reader, value: Any, at: str) -> PrivilegeRule | None:
    members = reader.members(value, at, MEMBERS)
    if not isinstance(value, dict):
        return None
    for name in MEMBERS:
        if name not in members:
            reader.fault(at, f"a privilege rule needs `{name}`", "missing")
    if len(members) < len(MEMBERS):
        return None
    pointer = reader.text(members["pointer"], f"{at}/pointer")
    patterns = reader.patterns(members["patterns"], f"{at}/patterns")
    level = reader.word(members["level"], f"{at}/level", Permission)
    if pointer is None or level is None:
        return None
    return PrivilegeRule(pointer=pointer, patterns=patterns, level=level)


def permission_of_call(privilege: Privilege, subject: Subject, args: Any) -> Permission:
    """Return the permission of a call with these arguments (`ABSENT`: there are none).

    A tool whose own permission is unknown counts as the highest level of the declaration.
    """
    levels = [subject.permission or _highest(privilege)]
    case = Case(subject=subject, context={}, surface=Surface.CALL, args=args)
    for rule in privilege:
        reading = read_condition(ArgumentIs(rule.pointer, rule.patterns), case)
        if reading.truth is Truth.UNREADABLE:
            levels.append(_highest(privilege))
        elif reading.truth is not Truth.NO:
            levels.append(rule.level)
    return max(levels, key=lambda level: level.rank)


def _highest(privilege: Privilege) -> Permission:
    return max((rule.level for rule in privilege), key=lambda level: level.rank)
