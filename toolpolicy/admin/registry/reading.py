"""What a tool declared, read for its page: hints with where they come from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.words import Words
from toolpolicy.engine.declarations import effective_subject
from toolpolicy.engine.faults import Faults
from toolpolicy.engine.values import Subject
from toolpolicy.engine.words import Hint
from toolpolicy.models import Tool

# What a tool says of itself by a hint: (true, false).
SAYS: Final[Mapping[Hint, tuple[Words, Words]]] = {
    Hint.READ_ONLY: (_("reads only"), _("does more than read")),
    Hint.DESTRUCTIVE: (_("may destroy"), _("destroys nothing")),
    Hint.IDEMPOTENT: (_("may be repeated"), _("not to be repeated")),
    Hint.OPEN_WORLD: (_("reaches outside"), _("stays inside")),
    Hint.NEEDS_APPROVAL: (_("needs approval"), _("needs no approval")),
    Hint.CACHEABLE_APPROVAL: (_("one approval lasts"), _("approval each time")),
}
# The hints themselves.
HINTS: Final[Mapping[Hint, Words]] = {
    Hint.READ_ONLY: _("read only"),
    Hint.DESTRUCTIVE: _("destructive"),
    Hint.IDEMPOTENT: _("idempotent"),
    Hint.OPEN_WORLD: _("open world"),
    Hint.NEEDS_APPROVAL: _("needs approval"),
    Hint.CACHEABLE_APPROVAL: _("cacheable approval"),
}
# By whether an admin set the tags, and the group.
SET_HERE: Final[Mapping[tuple[bool, bool], Words]] = {
    (True, False): _("tags set here"),
    (False, True): _("group set here"),
    (True, True): _("tags and group set here"),
}


# Where an attribute comes from.
DECLARED, DERIVED = _("declared"), _("derived")
SET, FOLLOWS = _("set here"), _("follows")


def _sourced(words: Words, source: Words) -> SafeString:
    """Return a tag; what the tool does not declare itself says so."""
    quiet = source and source != DECLARED
    return marks.tag(format_html("{} {}", words, marks.sub(source)) if quiet else words)


@dataclass(frozen=True)
class Declared:
    """A tool's declaration, and the subject that it is judged as."""

    tool: Tool

    @cached_property
    def document(self) -> dict[str, Any]:
        """The current declaration."""
        document: dict[str, Any] = json.loads(self.tool.current.text)
        return document

    @cached_property
    def subject(self) -> Subject | None:
        """What the tool is judged as; None when the overrides cannot be read."""
        try:
            return effective_subject(
                self.document, trusted=self.tool.family.trusted, overrides=self.tool.overrides
            )
        except Faults:
            return None

    @property
    def own_title(self) -> SafeString:
        """The title, unless it was only made from the name."""
        made = "title" in self.document["derived"]
        return SafeString("") if made else marks.sub(self.tool.title)

    def source(self, hint: Hint) -> Words:
        """Say where a hint comes from: declared, derived, or set by an admin."""
        laid = self.tool.overrides.get("hints") or {}
        if hint in laid:
            return SET
        if f"hints.{hint}" in self.document["derived"]:
            return DERIVED
        return DECLARED if hint in (self.document["subject"].get("hints") or {}) else FOLLOWS

    @property
    def permission(self) -> SafeString:
        """The level of privilege; a derived one says so."""
        level = self.subject.permission if self.subject else None
        derived = (
            "permission" in self.document["derived"] and "permission" not in self.tool.overrides
        )
        return marks.row((marks.level(level), marks.sub(DERIVED) if derived and level else ""))

    @property
    def hints(self) -> SafeString:
        """Each known hint as a tag, with where it comes from unless the tool declares it."""
        held = self.subject.hints if self.subject else ()
        tags = (
            _sourced(SAYS[hint][not value], source)
            for hint, value in held
            # A hint that follows from others says nothing of its own.
            if (source := self.source(hint)) != FOLLOWS
        )
        return marks.row(tags) or marks.sub(gettext("says nothing"))

    @property
    def labels(self) -> SafeString:
        """Tags and group, with where they come from unless the tool declares them."""
        if self.subject is None:
            return SafeString("")
        laid = self.tool.overrides
        tags = [_sourced(tag, "") for tag in self.subject.tags]
        if self.subject.group:
            tags.append(_sourced(gettext("group %(name)s") % {"name": self.subject.group}, ""))
        set_here = SET_HERE.get(("tags" in laid, "group" in laid), "")
        return marks.row((*tags, marks.sub(set_here) if set_here else ""))

    @property
    def hints_with_sources(self) -> SafeString:
        """Each hint, known or not, with where it comes from."""
        held = dict(self.subject.hints) if self.subject else {}
        lines = (
            (
                HINTS[hint],
                SAYS[hint][not held[hint]] if hint in held else gettext("unknown"),
                self.source(hint) if hint in held else "",
            )
            for hint in Hint
        )
        return format_html(
            '<dl class="tp-kv">{}</dl>',
            format_html_join("", '<dt>{}</dt><dd>{} <span class="tp-sub">{}</span></dd>', lines),
        )
