"""A layer in words and marks: its kind, its reach, and what holds when no rule decides."""

from collections.abc import Mapping
from typing import Final

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.words import Words, filled
from toolpolicy.models import Layer
from toolpolicy.models.choices import Combining, Default, Scope

# Scopes as they stand among the facts of a layer.
SCOPES: Final[Mapping[str, Words]] = {
    Scope.CONFIG: _("config"),
    Scope.AGENT: _("agent"),
    Scope.CHANNEL: _("channel"),
    Scope.SESSION: _("session"),
}


def kind_of(layer: Layer) -> SafeString:
    """Return tags: the combining, then whatever keeps the layer from simply applying."""
    strict = layer.combining == Combining.DENY_OVERRIDES
    return marks.row(
        (
            marks.tag(gettext("strict"), shape="strict")
            if strict
            else marks.tag(gettext("ordered"), shape="list"),
            marks.pill(gettext("Observing"), "observe", "observe") if layer.observe else "",
            marks.tag(gettext("switched off"), shape="skip", tone="hide")
            if not layer.enabled
            else "",
            marks.tag(gettext("not fail-safe"), shape="warn", tone="ask")
            if strict and not layer.fail_safe
            else "",
            _time_of(layer),
        )
    )


def applies_now(layer: Layer) -> bool:
    """Tell whether the layer counts at this moment: switched on, begun and not ended."""
    now = timezone.now()
    begun = layer.valid_from is None or layer.valid_from <= now
    return layer.enabled and begun and (layer.valid_until is None or now < layer.valid_until)


def _time_of(layer: Layer) -> SafeString:
    """Return a tag for a layer with a first or last moment: what that means now."""
    now, start, end = timezone.now(), layer.valid_from, layer.valid_until
    if end is not None and end <= now:
        return marks.tag(
            filled(gettext("ended %(when)s"), when=marks.moment(end)), shape="clock", tone="hide"
        )
    if start is not None and now < start:
        return marks.tag(
            filled(gettext("from %(when)s"), when=marks.moment(start)), shape="clock", tone="hide"
        )
    if end is None:
        return SafeString("")
    return marks.tag(
        filled(gettext("until %(when)s"), when=marks.moment(end)), shape="clock", tone="ask"
    )


def reach_of(layer: Layer) -> str:
    """Say whom the layer applies to."""
    if layer.scope == Scope.CONFIG:
        return gettext("every call")
    patterns = layer.target if isinstance(layer.target, list) else [layer.target]
    key = format_html("<b>{}</b>", layer.scope)
    said = gettext("when %(key)s is %(patterns)s")
    return filled(said, key=key, patterns=marks.alternatives(patterns))


def otherwise_of(layer: Layer) -> SafeString:
    """Say what the layer says when no rule of it decides."""
    if layer.combining == Combining.LAST_MATCH:
        return marks.tag(
            gettext("Otherwise the tool’s own")
            if layer.scope == Scope.CONFIG
            else gettext("Otherwise no opinion")
        )
    if layer.default == Default.DENY:
        return marks.pill(gettext("Otherwise deny"), "deny", "deny")
    return marks.pill(gettext("Otherwise allow"), "allow", "allow")
