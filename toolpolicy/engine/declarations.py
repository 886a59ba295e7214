"""What a tool says about itself, kept whole, and the subject that it is judged as (SPEC §1, §8).

A declaration is one canonical text, named by its digest. It holds the subject as declared, what is
only shown (title, description, schema), the published annotations untouched, and the list of what
was derived rather than said.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from toolpolicy.engine import canonical
from toolpolicy.engine.faults import Fault, Faults, shown
from toolpolicy.engine.reading import kind_of
from toolpolicy.engine.schema_changes import same
from toolpolicy.engine.subjects import SHOWN, parse_subject
from toolpolicy.engine.values import ABSENT, Subject
from toolpolicy.engine.words import Hint, Permission

MAX_TITLE: Final = 200
IDENTITY: Final = ("name", "family")
_FAMILY: Final = re.compile(r"[A-Za-z0-9_.\-:]{1,128}")
_PREFIX: Final = re.compile(r"[A-Za-z0-9_.\-/:]{0,64}")
_WORD_ENDS: Final = re.compile(r"[_\-.]+")
# Hints by which a tool asks for less care; a family that is not trusted is not believed in these.
LOOSENING: Final = frozenset(
    {
        (Hint.READ_ONLY, True),
        (Hint.IDEMPOTENT, True),
        (Hint.CACHEABLE_APPROVAL, True),
        (Hint.DESTRUCTIVE, False),
        (Hint.OPEN_WORLD, False),
    }
)


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """One declaration: the tool's name as the model sees it, its title, and its canonical text.

    `slips` are members that were published with it and nobody reads, each with the one that may
    have been meant.
    """

    name: str
    title: str
    text: str
    slips: tuple[tuple[str, str], ...] = ()

    @cached_property
    def digest(self) -> str:
        """The digest of the text: the same words have the same digest, wherever they come from."""
        return canonical.digest(self.text)

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The text, read."""
        document: Mapping[str, Any] = json.loads(self.text)
        return document


def family_fault(name: str) -> str | None:
    """Say what is wrong with a family's name; None when it is good.

    No slash, so that `family/name` can be read back.
    """
    if _FAMILY.fullmatch(name):
        return None
    return f"{shown(name)} is no family name: 1 to 128 of `A-Z a-z 0-9 _ . - :` are allowed"


def prefix_fault(prefix: str) -> str | None:
    """Say what is wrong with a family's prefix; None when it is good. It may be empty."""
    if _PREFIX.fullmatch(prefix):
        return None
    return f"{shown(prefix)} is no prefix: at most 64 of `A-Z a-z 0-9 _ . - / :` are allowed"


def humanised(name: str) -> str:
    """Return a title made from a name (SPEC §1).

    >>> humanised("create_or_update_file"), humanised("API-get-user"), humanised("--")
    ('Create Or Update File', 'API Get User', '--')
    """
    words = [word[0].upper() + word[1:] for word in _WORD_ENDS.split(name) if word]
    return " ".join(words) or name


def derived_permission(hints: Mapping[Any, Any]) -> Permission:
    """Return the level that hints speak for, where none is declared.

    A tool that calls itself both read-only and destructive is taken at its worst.
    """
    if hints.get(Hint.DESTRUCTIVE) is True:
        return Permission.DANGEROUS
    return Permission.READ_ONLY if hints.get(Hint.READ_ONLY) is True else Permission.WRITE


def declare(document: Any) -> Declaration:
    """Return the declaration of a tool that people describe by hand: a subject document.

    Nothing but a missing title is derived. Raises `Faults`.
    """
    subject = parse_subject(document)
    if subject.title is not None and len(subject.title) > MAX_TITLE:
        raise Faults([Fault("/title", f"a title has at most {MAX_TITLE} characters", "too_large")])
    try:
        return write_declaration(
            {name: value for name, value in document.items() if name not in SHOWN},
            {name: document.get(name) for name in SHOWN},
        )
    except ValueError as error:
        raise Faults([Fault("", str(error))]) from None


def write_declaration(
    subject: Mapping[str, Any],
    shown_members: Mapping[str, Any],
    *,
    derived: tuple[str, ...] = (),
    published: Mapping[str, Any] | None = None,
) -> Declaration:
    """Return the declaration with these parts; a missing title is made from the name.

    `published` adds members as a server published them. Raises ValueError for what JSON cannot
    hold.
    """
    title = shown_members.get("title") or ""
    if not title.strip():
        title, derived = humanised(str(subject["name"])), (*derived, "title")
    document = {
        "subject": subject,
        "title": title,
        "description": shown_members.get("description"),
        "input_schema": shown_members.get("input_schema"),
        "annotations": None,
        **(published or {}),
        "derived": sorted(derived),
    }
    return Declaration(name=str(subject["name"]), title=title, text=canonical.dumps(document))


def changed_members(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the members in which two declarations differ, those of the subject one by one."""
    old, new = _flat(before), _flat(after)
    return tuple(
        name
        for name in sorted({*old, *new})
        if not same(old.get(name, ABSENT), new.get(name, ABSENT))
    )


def _flat(declaration: Mapping[str, Any]) -> dict[str, Any]:
    members = {**declaration["subject"], **declaration}
    del members["subject"]
    return members


def effective_subject(
    declaration: Mapping[str, Any],
    *,
    trusted: bool = True,
    overrides: Mapping[str, Any] | None = None,
) -> Subject:
    """Return the subject that a registered tool is judged as. Raises `Faults` for bad overrides.

    Of a family that is not trusted the loosening hints are dropped, before anything is inferred
    from them; then an admin's overrides are laid over (hint by hint; null makes unknown). A
    permission that was derived follows the hints that are left, unless it is overridden.
    """
    laid = dict(overrides or {})
    _check_overrides(laid)
    declared = declaration["subject"]
    believed = {
        hint: said
        for hint, said in (declared.get("hints") or {}).items()
        if trusted or (hint, said) not in LOOSENING
    }
    over = laid.get("hints", {})
    hints = {} if over is None else {**believed, **over}
    shown_members = {name: declaration[name] for name in SHOWN}
    document = {**declared, **shown_members, **laid, "hints": hints}
    if "permission" in declaration["derived"] and "permission" not in laid:
        document["permission"] = str(derived_permission(hints))
    return parse_subject(document)


def _check_overrides(laid: Mapping[str, Any]) -> None:
    faults = [
        Fault(f"/{name}", "a tool's identity cannot be overridden", "identity")
        for name in IDENTITY
        if name in laid
    ]
    hints = laid.get("hints")
    if hints is not None and not isinstance(hints, dict):
        faults.append(Fault("/hints", f"expected an object, found {kind_of(hints)}"))
    if faults:
        raise Faults(faults)
