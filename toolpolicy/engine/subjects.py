"""Tool subjects and contexts, wire ⇄ values (SPEC §1, §5)."""

import re
from collections.abc import Mapping
from typing import Any

from toolpolicy.engine.faults import Fault, join, shown
from toolpolicy.engine.ordered_wire import parse_mode
from toolpolicy.engine.reading import Reader, present
from toolpolicy.engine.values import Subject
from toolpolicy.engine.words import Category, Exposure, Hint, Mode, Permission, SideEffect

_NAME = re.compile(r"[A-Za-z0-9_.\-/:]{1,128}")
TEXTS = ("family", "group", "parent", "verb", "method", "scope")
SHOWN = ("title", "description", "input_schema")
WORDS: dict[str, Any] = {"category": Category, "exposure": Exposure, "permission": Permission}
MEMBERS = ("name", *TEXTS, "tags", *WORDS, "side_effects", "hints", "default_permission", *SHOWN)
RESERVED_CONTEXT = {
    "sandbox_mode": ("read_only", "workspace_write", "full"),
    "untrusted_content": ("true", "false"),
}


def name_fault(name: str) -> str | None:
    """Say what is wrong with a tool's name; None when it is good (SPEC §1)."""
    if _NAME.fullmatch(name):
        return None
    return f"{shown(name)} is no tool name: 1 to 128 of `A-Z a-z 0-9 _ . - / :` are allowed"


def parse_subject(document: Any, strict: bool = True) -> Subject:  # noqa: FBT001, FBT002  (fixed by the public face)
    """Parse a subject. Raises `Faults`.

    `strict=True` (the product's faces) refuses unknown members and bad names, and a declared
    `read_only: true` makes an absent `destructive` false. `strict=False` follows the vectors.
    """
    reader = Reader()
    subject = read_subject(reader, document, "", strict=strict)
    return reader.finish(subject)


def read_subject(reader: Reader, document: Any, at: str, *, strict: bool) -> Subject:
    """Read a subject at `at`, noting faults in `reader`."""
    members = reader.members(document, at, MEMBERS if strict else [*MEMBERS, *_keys(document)])
    if not isinstance(document, dict):
        return Subject(name="")
    found: dict[str, Any] = {"name": _read_name(reader, members, at, strict=strict)}
    if "tags" in members:
        found["tags"] = reader.items(members["tags"], f"{at}/tags", reader.text)
    for name in (
        *TEXTS,
        *WORDS,
        "title",
        "description",
        "side_effects",
        "hints",
        "default_permission",
    ):
        if present(members, name):
            found[name] = _read_member(reader, name, members[name], f"{at}/{name}", strict=strict)
    return Subject(**found, input_schema=members.get("input_schema"))


def _read_member(reader: Reader, name: str, value: Any, at: str, *, strict: bool) -> Any:
    if name in WORDS:
        return reader.word(value, at, WORDS[name])
    if name == "side_effects":
        return _read_flags(reader, value, at, strict=strict)
    if name == "hints":
        return _read_hints(reader, value, at, strict=strict)
    if name == "default_permission":
        return _read_mode(reader, value, at)
    return reader.text(value, at)


def _keys(document: Any) -> list[str]:
    return list(document) if isinstance(document, dict) else []


def _read_name(reader: Reader, members: dict[str, Any], at: str, *, strict: bool) -> str:
    if "name" not in members:
        reader.fault(at, "a tool needs a `name`", "missing")
        return ""
    name = reader.text(members["name"], f"{at}/name")
    if name is not None and strict and (problem := name_fault(name)):
        reader.fault(f"{at}/name", problem, "name_refused")
    return name or ""


def _read_mode(reader: Reader, value: Any, at: str) -> Mode | None:
    mode = parse_mode(value) if isinstance(value, str) else None
    if mode is None:
        message = f"{shown(value)} is not a mode; known are on, ask, off, auto"
        reader.fault(at, message, "bad_default")
    return mode


def _read_flags(reader: Reader, value: Any, at: str, *, strict: bool) -> frozenset[SideEffect]:
    members = reader.members(value, at, list(SideEffect) if strict else _keys(value))
    if not isinstance(value, dict):
        return frozenset()
    for flag in SideEffect:
        if flag not in members:
            reader.fault(at, f"side effects need all seven flags; `{flag}` is missing", "missing")
    return frozenset(
        flag
        for flag in SideEffect
        if flag in members and reader.boolean(members[flag], f"{at}/{flag}")
    )


def _read_hints(
    reader: Reader, value: Any, at: str, *, strict: bool
) -> tuple[tuple[Hint, bool], ...]:
    members = reader.members(value, at, list(Hint) if strict else [*Hint, *_keys(value)])
    found: dict[Hint, bool] = {}
    for hint in Hint:
        if present(members, hint) and reader.has_kind(members[hint], bool, f"{at}/{hint}"):
            found[hint] = members[hint]
    if strict and found.get(Hint.READ_ONLY):
        found.setdefault(Hint.DESTRUCTIVE, False)
    return tuple((hint, found[hint]) for hint in Hint if hint in found)


def dump_subject(subject: Subject) -> dict[str, Any]:
    """Write a subject; what is unknown or absent is left out."""
    out: dict[str, Any] = {"name": subject.name}
    for name in (*TEXTS, *WORDS, "default_permission", "title", "description", "input_schema"):
        value = getattr(subject, name)
        if value is not None:
            out[name] = str(value) if name in WORDS or name == "default_permission" else value
    if subject.tags:
        out["tags"] = list(subject.tags)
    if subject.side_effects is not None:
        out["side_effects"] = {str(flag): flag in subject.side_effects for flag in SideEffect}
    if subject.hints:
        out["hints"] = {str(hint): value for hint, value in subject.hints}
    return out


def parse_context(document: Any) -> dict[str, str]:
    """Parse a context: strings only, the reserved keys with their known words. Raises `Faults`."""
    reader = Reader()
    if not reader.has_kind(document, dict, ""):
        return reader.finish({})
    context = {
        key: value
        for key, value in document.items()
        if reader.text(value, join("", key)) is not None
    }
    reader.found.extend(context_faults(context))
    return reader.finish(context)


def context_faults(context: Mapping[str, str]) -> list[Fault]:
    """Say which reserved attributes hold a word they must not hold."""
    return [
        Fault(
            join("", key), f"{shown(context[key])} is not one of {', '.join(words)}", "unknown_word"
        )
        for key, words in RESERVED_CONTEXT.items()
        if key in context and context[key] not in words
    ]
