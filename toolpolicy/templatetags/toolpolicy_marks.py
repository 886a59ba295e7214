"""The marks of `toolpolicy.admin.marks` as template tags."""

from collections.abc import Sequence
from typing import Any, Final

from django import template
from django.contrib.admin import ListFilter
from django.contrib.admin.views.main import ChangeList
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from toolpolicy.admin import finding_words, marks
from toolpolicy.admin.moves import buttons
from toolpolicy.admin.words import english
from toolpolicy.engine.faults import printable
from toolpolicy.engine.sentences import Sentence

MOST_NAMES: Final = 500

register = template.Library()
register.simple_tag(marks.icon, name="icon")
register.simple_tag(marks.pill, name="pill")
register.simple_tag(marks.effect_pill, name="effect_pill")
register.simple_tag(marks.outcome_pill, name="outcome_pill")
register.simple_tag(marks.moment, name="moment")
register.simple_tag(marks.direction, name="direction")
register.simple_tag(marks.said, name="said")
register.simple_tag(marks.clock, name="clock")
register.simple_tag(finding_words.finding, name="finding")
register.filter("findings", finding_words.counted)
register.filter("alternatives", marks.alternatives)
register.filter("breakable", marks.breakable)
register.filter("number", marks.number)
register.filter("printable", printable)
register.filter("worded", marks.worded)
register.filter("english", english)
register.simple_tag(buttons, name="move_buttons")


@register.simple_tag
def say(sentence: Sentence | None) -> SafeString:
    """Return the words of a rule after its effect."""
    if sentence is None:
        return marks.unreadable()
    return marks.said(sentence.parts)


@register.filter
def names(found: Sequence[str]) -> str:
    """Return as many names as a page holds, and how many more there are.

    >>> names(["a", "b"])
    'a, b'
    """
    shown, more = ", ".join(found[:MOST_NAMES]), len(found) - MOST_NAMES
    if more <= 0:
        return shown
    return gettext("%(names)s and %(count)s more") % {"names": shown, "count": f"{more:,}"}


@register.inclusion_tag("admin/toolpolicy/filter_menu.html")
def filter_menu(changelist: ChangeList, spec: ListFilter) -> dict[str, Any]:
    """Show one filter of a list as a menu that says what is chosen."""
    choices = list(spec.choices(changelist))
    # The first choice is all of them.
    chosen = next((choice["display"] for choice in choices[1:] if choice["selected"]), None)
    return {
        "title": spec.title,
        "choices": choices,
        "chosen": chosen or gettext("any"),
        "active": chosen is not None,
    }
