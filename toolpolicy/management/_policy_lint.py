"""Findings as lines for a terminal."""

from collections.abc import Iterator

from toolpolicy.engine.lint.findings import Finding
from toolpolicy.services.lint import Findings


def finding_lines(found: Findings) -> Iterator[str]:
    """Return each finding with its remedy, and last how many there are."""
    for one in found.found:
        yield f"{one.severity}: {_place(one)}{one.message}  [{one.code}]"
        yield f"    {one.remedy}"
    counts = found.counts()
    said = ", ".join(f"{n} {word}{'' if n == 1 else 's'}" for word, n in counts.items() if n)
    yield said or "nothing found"


def _place(one: Finding) -> str:
    if one.layer is None:
        return ""
    return f"{one.layer}: " if one.number is None else f"{one.layer} / {one.rule}: "
