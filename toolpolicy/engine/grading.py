"""The change between two declarations, graded member by member (SPEC §8).

Two declarations that differ always have at least one graded change, so that nothing passes as no
change at all. What is wording and what is a new power is told apart here; what follows from a
grade is a setting's business.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from toolpolicy.engine import canonical
from toolpolicy.engine.declarations import LOOSENING, Declaration
from toolpolicy.engine.faults import join
from toolpolicy.engine.grades import Grade, GradedChange
from toolpolicy.engine.mcp import HINTS
from toolpolicy.engine.schema_changes import same, schema_changes
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Hint, Permission, SideEffect

_CARELESS: Final = {**dict(LOOSENING), Hint.NEEDS_APPROVAL: False}
_SAID_TWICE: Final = {*HINTS, "title"}
_NONE: Final[Mapping[str, Any]] = {}


def graded_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[GradedChange, ...]:
    """Return every change between two declarations, wording first; none when they are the same."""
    if same(before, after):
        return ()
    found = [
        *_shown_changes(before, after),
        *_subject_changes(before["subject"], after["subject"]),
        *_input_changes(before, after),
        *_published_changes(before, after),
    ]
    # What else there is changes no meaning: a null for nothing, a title that was derived and is
    # now said. It is a change all the same.
    return tuple(found) or (GradedChange(Grade.OTHER, ""),)


def _differing(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    names: Iterable[str],
    grade: Grade,
    at: str = "",
) -> Iterator[GradedChange]:
    for name in names:
        old, new = before.get(name, ABSENT), after.get(name, ABSENT)
        if not same(old, new):
            yield GradedChange(grade, join(at, name), old, new)


def _shown_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[GradedChange]:
    """Compare what is shown. A title that is made from the name only follows it."""
    made = all("title" in one["derived"] for one in (before, after))
    names = ("description",) if made else ("title", "description")
    yield from _differing(before, after, names, Grade.WORDING)


def _subject_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[GradedChange]:
    yield from _differing(before, after, ("name",), Grade.MOVED_NAME, "/subject")
    for name in sorted({*before, *after} - {"name"}):
        old, new = before.get(name, ABSENT), after.get(name, ABSENT)
        at = join("/subject", name)
        if same(old, new):
            continue
        if name == "hints":
            yield from _each_rank(old, new, at, _hint_rank)
        elif name == "side_effects":
            yield from _each_rank(old, new, at, _side_effect_rank)
        elif name == "permission":
            yield _ranked(_permission_rank(old), _permission_rank(new), (at, old, new))
        else:
            yield GradedChange(Grade.OTHER, at, old, new)


def _ranked(old_rank: int, new_rank: int, change: tuple[str, Any, Any]) -> GradedChange:
    """Grade by how much care was and is asked for; between equals nobody can tell: loosened."""
    grade = Grade.TIGHTENED_HINT if new_rank > old_rank else Grade.LOOSENED_HINT
    return GradedChange(grade, *change)


def _each_rank(before: Any, after: Any, at: str, rank: Any) -> Iterator[GradedChange]:
    old_members, new_members = (
        _NONE if said in (ABSENT, None) else said for said in (before, after)
    )
    for name in sorted({*old_members, *new_members}):
        old, new = old_members.get(name, ABSENT), new_members.get(name, ABSENT)
        if not same(old, new):
            yield _ranked(rank(name, old), rank(name, new), (join(at, name), old, new))


def _hint_rank(hint: str, said: Any) -> int:
    """Rank a hint: 0 asks for less care, 2 for more, 1 says nothing."""
    if said in (ABSENT, None):
        return 1
    return 0 if said is _CARELESS[Hint(hint)] else 2


def _side_effect_rank(effect: str, said: Any) -> int:
    """Rank a declared side effect as a hint; that a tool is read-only asks for less care."""
    if said is ABSENT:
        return 1
    return 0 if said is (effect == SideEffect.READ_ONLY) else 2


def _permission_rank(said: Any) -> int:
    """Rank a declared permission: an unknown one is no claim that a rule could loosen by."""
    return len(Permission) if said in (ABSENT, None) else Permission(said).rank


def _input_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[GradedChange]:
    old, new = (one.get("input_schema") or {} for one in (before, after))
    yield from schema_changes(old, new, "/input_schema")


def _published_changes(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[GradedChange]:
    """Compare what nobody is judged by, but what hints and titles were taken from aside."""
    for member in ("annotations", "other"):
        old, new = (one.get(member) or _NONE for one in (before, after))
        names = sorted({*old, *new} - (_SAID_TWICE if member == "annotations" else set()))
        yield from _differing(old, new, names, Grade.OTHER, f"/{member}")


def moved_names(
    gone: Mapping[str, Mapping[str, Any]], new: Iterable[Declaration]
) -> dict[str, str]:
    """Return which new tool is one that is gone under another name: new name → old name.

    `gone` holds declarations by name. Only what says the same word for word is the same tool, and
    only where it says something; each old name is given once, in order.
    """
    said = {one["description"] for one in gone.values() if one["description"]}
    left: dict[str, list[str]] = {}
    for name in sorted(gone, reverse=True):
        left.setdefault(_but_name(gone[name]), []).append(name)
    moved: dict[str, str] = {}
    for declaration in new if said else ():
        if declaration.document["description"] not in said:
            continue
        names = left.get(_but_name(declaration.document))
        if names:
            moved[declaration.name] = names.pop()
    return moved


def _but_name(declaration: Mapping[str, Any]) -> str:
    """Return a declaration's text without the name, and without a title made from it."""
    subject = {name: said for name, said in declaration["subject"].items() if name != "name"}
    rest = {**declaration, "subject": subject}
    if "title" in declaration["derived"]:
        del rest["title"]
    return canonical.dumps(rest)
