"""A rule in words and marks, as lists and its page show it."""

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from toolpolicy.admin import marks
from toolpolicy.admin.words import filled
from toolpolicy.models import Rule
from toolpolicy.services import wording


def observes(rule: Rule) -> bool:
    """Tell whether the rule enforces nothing, by itself or because its layer does not."""
    return rule.observe or rule.layer.observe


def words_of(rule: Rule) -> SafeString:
    """Return a rule's sentence after its effect, and its reason."""
    said = wording.sentence_of(rule)
    words = marks.said(said.parts) if said else marks.unreadable()
    reason = format_html('<br><span class="tp-sub">“{}”</span>', rule.reason) if rule.reason else ""
    return format_html('<span class="tp-say">{}</span>{}', words, reason)


def state_of(rule: Rule) -> SafeString:
    """Return tags for what keeps a rule from simply applying."""
    return marks.row(
        (
            marks.tag(gettext("switched off"), shape="skip", tone="hide")
            if not rule.enabled
            else "",
            marks.tag(gettext("layer is off"), shape="skip", tone="hide")
            if not rule.layer.enabled
            else "",
            marks.tag(
                filled(gettext("until %(when)s"), when=marks.moment(rule.expires_at)),
                shape="clock",
            )
            if rule.expires_at
            else "",
        )
    )
