"""What a host asks, wire ⇄ values: one decision, or one listing (DESIGN §3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolpolicy.engine.faults import join
from toolpolicy.engine.reading import Reader, kind_of, present
from toolpolicy.engine.subjects import context_faults, name_fault, read_subject
from toolpolicy.engine.values import ABSENT, Subject
from toolpolicy.engine.words import Surface

MAX_CONTEXT = 64
MAX_CONTEXT_TEXT = 200
MAX_TARGETS = 100
MAX_SUBJECTS = 10_000
TARGET_MEMBERS = ("tool", "subject", "arguments")
QUESTION_MEMBERS = (
    *("surface", *TARGET_MEMBERS, "context", "targets"),
    *("dry_run", "explain", "min_policy_version"),
)
LIST_MEMBERS = ("surface", "context", "subjects", "query", "min_policy_version")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One tool as the host names it: by name, by (family, name), or with what it submits of it."""

    name: str
    family: str | None = None
    submitted: Subject | None = None
    arguments: Any = field(default=ABSENT, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One decision asked for. `targets` are what the host itself knows an indirect call to run."""

    surface: Surface
    tool: Asked
    context: Mapping[str, str] = field(default_factory=dict)
    targets: tuple[Asked, ...] = ()
    dry_run: bool = False
    explain: bool = False
    min_policy_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuestion:
    """One listing asked for: of the registry, or of the submitted `subjects`."""

    surface: Surface
    context: Mapping[str, str] = field(default_factory=dict)
    subjects: tuple[Subject, ...] | None = None
    query: str = ""
    min_policy_version: int | None = None


def parse_question(document: Any) -> Question:
    """Parse the body of a decision. Raises `Faults` with every fault."""
    reader = Reader()
    members = reader.members(document, "", QUESTION_MEMBERS)
    if not isinstance(document, dict):
        raise_faults(reader)
    surface = _surface(reader, members, list(Surface))
    tool = read_asked(reader, members, "")
    context = read_context(reader, members)
    targets = _read_targets(reader, members.get("targets", []))
    flags = {
        name: reader.boolean(members[name], f"/{name}") is True
        for name in ("dry_run", "explain")
        if name in members
    }
    least = _least_version(reader, members)
    raise_faults(reader)
    return Question(
        surface=surface,
        tool=tool,
        context=context,
        targets=targets,
        min_policy_version=least,
        **flags,
    )


def parse_list_question(document: Any) -> ListQuestion:
    """Parse the body of a listing. Raises `Faults` with every fault."""
    reader = Reader()
    members = reader.members(document, "", LIST_MEMBERS)
    if not isinstance(document, dict):
        raise_faults(reader)
    surface = _surface(reader, members, [Surface.CATALOG, Surface.SEARCH])
    context = read_context(reader, members)
    subjects = None
    if present(members, "subjects"):
        subjects = reader.items(
            members["subjects"],
            "/subjects",
            lambda item, at: read_subject(reader, item, at, strict=True),
        )
        _check_count(reader, "/subjects", len(subjects), MAX_SUBJECTS)
    query = reader.text(members["query"], "/query") if present(members, "query") else None
    least = _least_version(reader, members)
    raise_faults(reader)
    return ListQuestion(
        surface=surface,
        context=context,
        subjects=subjects,
        query=query or "",
        min_policy_version=least,
    )


def raise_faults(reader: Reader) -> None:
    """Raise what was noted so far, if anything was."""
    reader.finish(None)


def read_asked(reader: Reader, members: dict[str, Any], at: str) -> Asked:
    """Read how one tool is named: exactly one of `tool` and `subject`, with `arguments` or none."""
    arguments = members.get("arguments", ABSENT)
    named, described = present(members, "tool"), present(members, "subject")
    if named == described:
        reader.fault(at, "give exactly one of `tool` and `subject`", "missing")
    if described and not named:
        subject = read_subject(reader, members["subject"], f"{at}/subject", strict=True)
        return Asked(
            name=subject.name, family=subject.family, submitted=subject, arguments=arguments
        )
    name, family = _read_tool(reader, members.get("tool"), f"{at}/tool") if named else ("", None)
    return Asked(name=name, family=family, arguments=arguments)


def _read_tool(reader: Reader, value: Any, at: str) -> tuple[str, str | None]:
    if isinstance(value, str):
        problem = name_fault(value)
        if problem:
            reader.fault(at, problem, "name_refused")
        return value, None
    if not isinstance(value, dict):
        message = f"expected a name, or an object of name and family; found {kind_of(value)}"
        reader.fault(at, message)
        return "", None
    members = reader.members(value, at, ("name", "family"))
    subject = read_subject(reader, members, at, strict=True)
    return subject.name, subject.family


def read_context(reader: Reader, members: dict[str, Any]) -> dict[str, str]:
    """Read the context: strings by name, bounded, reserved attributes with their known words."""
    value = members.get("context", {})
    if not reader.has_kind(value, dict, "/context"):
        return {}
    context: dict[str, str] = {}
    for key, item in value.items():
        at = join("/context", key)
        text = reader.text(item, at)
        if text is not None and max(len(text), len(key)) > MAX_CONTEXT_TEXT:
            message = f"a context name or value has at most {MAX_CONTEXT_TEXT} characters"
            reader.fault(at, message, "too_large")
        elif text is not None:
            context[key] = text
    _check_count(reader, "/context", len(value), MAX_CONTEXT)
    found = context_faults(context)
    reader.found.extend(fault.moved(f"/context{fault.pointer}") for fault in found)
    return context


def _surface(reader: Reader, members: dict[str, Any], allowed: list[Surface]) -> Surface:
    if "surface" not in members:
        reader.fault("", "a `surface` is needed", "missing")
        return allowed[0]
    surface = reader.word(members["surface"], "/surface", Surface)
    if surface is not None and surface not in allowed:
        words = " or ".join(f"`{word}`" for word in allowed)
        reader.fault("/surface", f"a listing is of the surface {words}", "unknown_word")
    return surface or allowed[0]


def _read_targets(reader: Reader, value: Any) -> tuple[Asked, ...]:
    def read(item: Any, at: str) -> Asked | None:
        members = reader.members(item, at, TARGET_MEMBERS)
        return read_asked(reader, members, at) if isinstance(item, dict) else None

    targets = reader.items(value, "/targets", read)
    _check_count(reader, "/targets", len(targets), MAX_TARGETS)
    return targets


def _check_count(reader: Reader, at: str, count: int, most: int) -> None:
    if count > most:
        reader.fault(at, f"{count} entries; at most {most} are read", "too_large")


def _least_version(reader: Reader, members: dict[str, Any]) -> int | None:
    if not present(members, "min_policy_version"):
        return None
    return reader.integer(members["min_policy_version"], "/min_policy_version")
