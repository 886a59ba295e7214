"""A language in which every translated text stands in brackets, and a reader of pages in it.

What a page shows outside the brackets was not translated. That is right for data, for what the
engine says (`lang="en"`, `translate="no"` on its element), and for names; for nothing else.
"""

import json
import re
from collections.abc import Iterator
from gettext import NullTranslations
from html.parser import HTMLParser
from typing import Any, Final

import pytest
from django.apps import apps
from django.db.models.enums import ChoicesType
from django.utils.translation import trans_real

from toolpolicy.models import choices

# It takes the place of German, so that every part of Django takes it for a real language.
LANGUAGE: Final = "de"
OPEN, CLOSE = "⟦", "⟧"
# Elements whose text is no words of ours: code, times, what somebody typed, what nobody sees.
QUIET: Final = {"code", "kbd", "pre", "time", "textarea", "script", "style", "template"}
SHOWN: Final = (
    "title",
    "placeholder",
    "aria-label",
    "alt",
    "aria-description",
    "label",
    "data-label",
)
VOID: Final = {"area", "br", "col", "hr", "img", "input", "link", "meta", "wbr", "use", "path"}
BUTTONS: Final = ("submit", "button", "reset")


class Pseudo(NullTranslations):
    """Translates by putting a text in brackets."""

    def gettext(self, message: str) -> str:
        return f"{OPEN}{message.rpartition(chr(4))[2]}{CLOSE}"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)

    def language(self) -> str:
        return LANGUAGE

    to_language = language


def install(patch: pytest.MonkeyPatch) -> None:
    """Let Django speak it until the end of the test."""
    patch.setitem(trans_real._translations, LANGUAGE, Pseudo())  # type: ignore[attr-defined]


class Reader(HTMLParser):
    """Collects the texts of a page that stand in no brackets, each with its element."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.open: list[tuple[str, bool]] = []
        self.language = ""
        self.text = ""
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "wbr":
            return
        self._end_of_text()
        given = {name: text or "" for name, text in attrs}
        if tag == "html":
            self.language = given.get("lang", "")
        english = given.get("lang") == "en" or given.get("translate") == "no"
        names = list(SHOWN)
        if tag == "template":  # what is handed to scripts
            names += [name for name in given if name.startswith("data-")]
        if tag == "input" and given.get("type") in BUTTONS:
            names.append("value")
        if not english:
            for name in names:
                self.found += _outside(given.get(name, ""))
        if tag not in VOID:
            self.open.append((tag, english or tag in QUIET))

    def handle_endtag(self, tag: str) -> None:
        self._end_of_text()
        while self.open and tag in [name for name, _ in self.open]:
            if self.open.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        for sign in data:
            self.depth += {OPEN: 1, CLOSE: -1}.get(sign, 0)
            if not self.depth and sign != CLOSE:
                self.text += sign

    def _end_of_text(self) -> None:
        """Note what was read since the last tag; where a line may break, no text ends."""
        text, self.text = " ".join(self.text.split()), ""
        if text and not any(quiet for _, quiet in self.open):
            self.found.append(text)


def _outside(text: str) -> Iterator[str]:
    """Yield what of an attribute stands in no brackets."""
    kept, inner = "", re.compile(f"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}")
    while kept != text:
        kept, text = text, inner.sub("", text)
    if text.strip():
        yield " ".join(text.split())


def stored() -> set[str]:
    """Return every text that some row holds, and how rows are called; no word of a fixed list."""
    found: set[str] = set()
    for model in apps.get_models():
        for row in model._base_manager.all():
            found.add(str(row))
            for field in model._meta.concrete_fields:
                found |= set(_texts(getattr(row, field.attname)))
    lists = [one for one in vars(choices).values() if isinstance(one, ChoicesType)]
    return found - {word for one in lists for word in one.values}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield " ".join(value.split())
        yield value.strip("*-")  # what a pattern begins or ends with
        if value[:1] in ("{", "["):
            try:
                yield from _texts(json.loads(value))
            except ValueError:
                return
