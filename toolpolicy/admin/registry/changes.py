"""What changed of a tool since it was reviewed, shown on its page."""

from collections.abc import Iterable

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from toolpolicy.admin import marks
from toolpolicy.admin.words import english
from toolpolicy.engine import canonical
from toolpolicy.engine.faults import printable
from toolpolicy.engine.grades import IN_WORDS, Grade, GradedChange
from toolpolicy.engine.values import ABSENT
from toolpolicy.models import Tool
from toolpolicy.services import registry

LONGEST = 400


def shown_changes(tool: Tool) -> SafeString:
    """Return the graded changes since the review, each with its values before and after."""
    if tool.reviewed_id is None:
        return marks.sub(gettext("Nobody ever reviewed it."))
    changes = registry.review_of(tool).changes
    if not changes:
        return marks.sub(gettext("It declares what was reviewed."))
    return shown_each(changes)


def shown_each(changes: Iterable[GradedChange]) -> SafeString:
    """Return graded changes, each with its values before and after."""
    return format_html_join("", "<p>{}{}</p>", map(_shown, changes))


def _shown(change: GradedChange) -> tuple[SafeString, SafeString]:
    tone = "deny" if change.grade is Grade.LOOSENED_HINT else "ask"
    head = (
        marks.tag(english(IN_WORDS[change.grade]), tone=tone),
        marks.code(printable(change.pointer)),
    )
    return marks.row(head), format_html("{} → {}", _value(change.before), _value(change.after))


def _value(value: object) -> SafeString:
    if value is ABSENT:
        return marks.sub(gettext("nothing"))
    text = printable(canonical.dumps(value))
    return marks.code(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")
