"""Small pieces of HTML: the marks by which pages show effects, outcomes, names and moments.

An outcome is a word, a shape and a colour, in that order; the word alone says everything.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.words import Words, english
from toolpolicy.engine.faults import printable
from toolpolicy.engine.policy_grades import Direction
from toolpolicy.engine.sentence_changes import Fate, Run
from toolpolicy.engine.sentences import Part, PartKind
from toolpolicy.engine.words import Effect, Mode, Outcome, Permission

# Word: (what it says, its shape, its colours).
EFFECTS: Final[Mapping[str, tuple[Words, str, str]]] = {
    Effect.ALLOW: (_("Allow"), "allow", "allow"),
    Effect.DENY: (_("Deny"), "deny", "deny"),
    Effect.HIDE: (_("Hide"), "hide", "hide"),
    Effect.REQUIRE_APPROVAL: (_("Needs approval"), "ask", "ask"),
    Effect.AUTO_APPROVE: (_("Auto-approve"), "waive", "waive"),
    Mode.ON: (_("On"), "allow", "allow"),
    Mode.ASK: (_("Ask"), "ask", "ask"),
    Mode.OFF: (_("Off"), "deny", "deny"),
    Mode.AUTO: (_("No opinion"), "skip", "hide"),
}
OBSERVED: Final[Mapping[str, Words]] = {
    Effect.ALLOW: _("Would allow"),
    Effect.DENY: _("Would deny"),
    Effect.HIDE: _("Would hide"),
    Effect.REQUIRE_APPROVAL: _("Would ask"),
    Effect.AUTO_APPROVE: _("Would auto-approve"),
    Mode.ON: _("Would be on"),
    Mode.ASK: _("Would ask"),
    Mode.OFF: _("Would be off"),
    Mode.AUTO: _("No opinion"),
}
OUTCOMES: Final[Mapping[str, tuple[Words, str, str]]] = {
    Outcome.ALLOW: (_("Allowed"), "allow", "allow"),
    Outcome.DENY: (_("Denied"), "deny", "deny"),
    Outcome.NEEDS_APPROVAL: (_("Needs approval"), "ask", "ask"),
    Outcome.HIDE: (_("Hidden"), "hide", "hide"),
    Outcome.LIST: (_("Listed"), "allow", "allow"),
}
# Which way a change moves answers: (word, the word for many, shape, colours).
WAYS: Final[Mapping[str, tuple[Words, Words, str, str]]] = {
    Direction.LOOSENS: (_("loosens"), _("only loosens"), "warn", "ask"),
    Direction.TIGHTENS: (_("tightens"), _("only tightens"), "strict", "hide"),
}
_WORD_END: Final = re.compile(r"(?<=[_.:/-])(?![_.:/-]|$)")


def _shown(text: object) -> object:
    """Return a text with what cannot be seen in it, and what turns it around, written out."""
    return text if isinstance(text, SafeString) else printable(str(text))


def icon(name: str) -> SafeString:
    """Return an icon of the sprite. It is decoration: a word stands beside it."""
    return format_html(
        '<svg class="tp-i" aria-hidden="true"><use href="{}#{}"/></svg>',
        static("toolpolicy/icons.svg"),
        name,
    )


def pill(word: Words, shape: str, tone: str) -> SafeString:
    """Return a pill: shape and word in the colours of an outcome."""
    return format_html('<span class="tp-pill tp-{}">{}{}</span>', tone, icon(shape), word)


def effect_pill(effect: str, *, observing: bool = False) -> SafeString:
    """Return the pill of a rule's effect or mode; of an observing rule, what it would do."""
    if observing:
        return pill(OBSERVED.get(effect, effect), "observe", "observe")
    return pill(*EFFECTS.get(effect, (effect, "skip", "hide")))


def unreadable() -> SafeString:
    """Return what stands in place of the words of a rule that the engine cannot read."""
    return tag(gettext("cannot be read"), shape="unread", tone="ask")


def outcome_pill(outcome: str) -> SafeString:
    """Return the pill of a recorded outcome; nothing for records that have none."""
    if not outcome:
        return SafeString("")
    return pill(*OUTCOMES.get(outcome, (outcome, "skip", "hide")))


def tag(text: object, *, shape: str = "", tone: str = "") -> SafeString:
    """Return a neutral tag; with a tone, a state that needs a look."""
    classes = f"tp-tag is-c tp-{tone}" if tone else "tp-tag"
    inner = icon(shape) if shape else ""
    return format_html('<span class="{}">{}{}</span>', classes, inner, _shown(text))


def direction(grade: str, *, whole: bool = False) -> SafeString:
    """Say which way a change moves answers; of many, that all of them go that way."""
    word, of_many, shape, tone = WAYS[grade]
    return tag(of_many if whole else word, shape=shape, tone=tone)


def row(pieces: Iterable[object]) -> SafeString:
    """Return pieces beside each other."""
    inner = format_html_join(" ", "{}", ((piece,) for piece in pieces if piece))
    return format_html('<span class="tp-row">{}</span>', inner) if inner else SafeString("")


def sub(text: object) -> SafeString:
    """Return something said quietly."""
    return format_html('<span class="tp-sub">{}</span>', _shown(text))


def nothing() -> SafeString:
    """Return what stands where there is none."""
    return sub(gettext("none"))


def code(text: object) -> SafeString:
    """Return a name or pattern, as written."""
    return format_html("<code>{}</code>", _shown(text))


def worded(text: str) -> SafeString:
    """Return a sentence whose `names` in backticks are marked."""
    pieces = printable(text).split("`")
    return format_html_join(
        "", "{}", ((code(one) if number % 2 else one,) for number, one in enumerate(pieces))
    )


def said(parts: Iterable[Part]) -> SafeString:
    """Return the parts of a sentence of the engine, with keys and patterns marked."""
    forms = {PartKind.TEXT: "{}", PartKind.KEY: "<b>{}</b>", PartKind.CODE: "<code>{}</code>"}
    words = ((format_html(forms[part.kind], part.text),) for part in parts)
    return english(format_html_join("", "{}", words))


def runs(pieces: Sequence[Run]) -> SafeString:
    """Return the words of a changed sentence: removed ones struck out, elements of lists alone."""
    forms = {
        Fate.KEPT: "{}",
        Fate.REMOVED: '<del class="tp-deny">{}</del>',
        Fate.ADDED: '<ins class="tp-allow">{}</ins>',
    }
    shown: list[SafeString] = []
    for before, run, after in zip((None, *pieces), pieces, (*pieces[1:], None), strict=False):
        fate = Fate.KEPT if run.is_joint else run.fate
        if run.is_joint and run.fate is Fate.REMOVED and after and after.is_joint:
            continue  # the joint that came in its place is shown
        if fate is Fate.ADDED and before and before.fate is Fate.REMOVED:
            shown.append(SafeString(" "))
        shown.append(format_html(forms[fate], said(run.parts)))
    return format_html_join("", "{}", ((one,) for one in shown))


def alternatives(patterns: Iterable[str]) -> SafeString:
    """Return patterns joined by "or"; no pattern matches nothing, and that is said."""
    word = gettext("or")
    found = format_html_join(f" {word} ", "{}", ((code(one),) for one in patterns))
    return found or sub(gettext("nothing"))


def laid_out(value: Any, label: str) -> SafeString:
    """Return JSON laid out to be read, in a box that the keyboard reaches; nothing for none."""
    if value in (None, {}, []):
        return nothing()
    return format_html(
        '<pre class="is-wrap" tabindex="0" role="region" aria-label="{}"><code>{}</code></pre>',
        label,
        json.dumps(value, indent=2, ensure_ascii=False),
    )


def moment(at: datetime | None, *, seconds: bool = True) -> SafeString:
    """Return a time in UTC, marked up so that machines read it too."""
    if at is None:
        return SafeString("")
    shown = at.astimezone(UTC)
    return format_html(
        '<time class="tp-num" datetime="{}">{} UTC</time>',
        shown.isoformat(),
        shown.strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M"),
    )


def clock(at: datetime, *, seconds: bool = False) -> SafeString:
    """Return the time of a day, in UTC, for a chart's scale or where the day stands beside it."""
    shown = at.astimezone(UTC)
    return format_html(
        '<time class="tp-num" data-clock datetime="{}">{}</time>',
        shown.isoformat(),
        shown.strftime("%H:%M:%S" if seconds else "%H:%M"),
    )


def breakable(name: str) -> SafeString:
    """Return a tool's name that a narrow column may break where one of its words ends.

    >>> breakable("mcp__git__push<.x")
    'mcp__<wbr>git__<wbr>push&lt;.<wbr>x'
    """
    return format_html_join(
        mark_safe("<wbr>"), "{}", ((part,) for part in _WORD_END.split(printable(name)))
    )


def tool(name: str) -> SafeString:
    """Return a tool's name as the model sees it."""
    return format_html('<span class="tp-tool">{}</span>', breakable(name))


def number(count: int) -> SafeString:
    """Return a number with its thousands set apart by a narrow space that does not break.

    >>> number(1234567) == "1\u202f234\u202f567"
    True
    """
    return SafeString(f"{count:,}".replace(",", "\u202f"))


def level(permission: str | None) -> SafeString:
    """Return a permission as bars and its word. Bars are neutral: outcomes alone have colours."""
    if permission is None:
        return sub(gettext("unknown"))
    rank = Permission(permission).rank
    bars = format_html_join(
        "",
        '<rect x="{}" y="{}" width="4" height="{}"{}/>',
        (
            (5 * bar, 8 - 2 * bar, 2 + 2 * bar, "" if bar < rank else mark_safe(' class="is-no"'))
            for bar in range(4)
        ),
    )
    return format_html(
        '<span class="tp-level" translate="no"><svg viewBox="0 0 20 10" aria-hidden="true">{}</svg>'
        "{}</span>",
        bars,
        permission,
    )
