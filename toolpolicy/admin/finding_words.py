"""What lint found, in words and marks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import ngettext_lazy

from toolpolicy.admin import marks
from toolpolicy.admin.words import english
from toolpolicy.engine.faults import printable
from toolpolicy.services.lint import Finding, Severity

TONES: Final[Mapping[Severity, str]] = {
    Severity.FAULT: "deny",
    Severity.WARNING: "ask",
    Severity.NOTICE: "hide",
}
COUNTS: Final = {
    Severity.FAULT: ngettext_lazy("%(count)s fault", "%(count)s faults", "count"),
    Severity.WARNING: ngettext_lazy("%(count)s warning", "%(count)s warnings", "count"),
    Severity.NOTICE: ngettext_lazy("%(count)s notice", "%(count)s notices", "count"),
}


def finding(found: Finding) -> SafeString:
    """Return one finding: which rule or layer, what is the matter with it, and what to do."""
    about = found.rule or found.layer
    return format_html(
        '<span class="tp-find tp-{}">{}<span>{}{}{} <a href="{}">{}</a></span></span>',
        TONES[found.severity],
        marks.icon("warn"),
        format_html("<b>{}</b>: ", printable(about)) if about else "",
        english(marks.worded(found.message)),
        "" if found.message.endswith("?") else ".",
        reverse("code", args=("lint", found.code)),
        english(marks.worded(found.remedy)),
    )


def summary(found: Sequence[Finding]) -> SafeString:
    """Return how many findings there are of each kind, in the tone of the gravest; "" for none."""
    if not found:
        return SafeString("")
    counts = Counter([one.severity for one in found])
    return format_html(
        '<span class="tp-find tp-{}">{}<span>{}</span></span>',
        TONES[min(counts, key=lambda severity: severity.rank)],
        marks.icon("warn"),
        counted({str(severity): count for severity, count in counts.items()}),
    )


def counted(counts: Mapping[str, int]) -> str:
    """Say how many there are of each kind, the gravest first.

    >>> counted({"fault": 1, "warning": 0, "notice": 2})
    '1 fault, 2 notices'
    """
    said = (
        COUNTS[severity] % {"count": count}
        for severity in Severity
        if (count := counts.get(severity, 0))
    )
    return ", ".join(said)
