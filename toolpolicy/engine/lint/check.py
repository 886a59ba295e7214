"""Every check of lint over one question."""

from collections.abc import Callable, Iterator
from typing import Final

from toolpolicy.engine.lint.asked import check_asked
from toolpolicy.engine.lint.departures import check_baseline
from toolpolicy.engine.lint.dialects import check_dialects
from toolpolicy.engine.lint.expiry import check_expiry
from toolpolicy.engine.lint.findings import Finding
from toolpolicy.engine.lint.grants import check_grants
from toolpolicy.engine.lint.known import Known, Question
from toolpolicy.engine.lint.overlaps import check_overlaps
from toolpolicy.engine.lint.overruled import check_overruled
from toolpolicy.engine.lint.reach import check_reach
from toolpolicy.engine.lint.tools import check_tools
from toolpolicy.engine.lint.unknown import check_unknown

CHECKS: Final[tuple[Callable[[Known], Iterator[Finding]], ...]] = (
    check_reach,
    check_overlaps,
    check_overruled,
    check_asked,
    check_unknown,
    check_grants,
    check_dialects,
    check_expiry,
    check_baseline,
    check_tools,
)


def lint(question: Question) -> tuple[Finding, ...]:
    """Return all findings: by layer as they apply, in it by rule, the gravest first."""
    known = Known(question)
    places = {compiled.layer.name: place for place, compiled in enumerate(known.policy.layers)}
    found = [finding for check in CHECKS for finding in check(known)]

    def place(finding: Finding) -> tuple[int, int, int, str]:
        at = places.get(finding.layer, len(places))
        number = -1 if finding.number is None else finding.number
        return at, number, finding.severity.rank, finding.code

    return tuple(sorted(found, key=place))
