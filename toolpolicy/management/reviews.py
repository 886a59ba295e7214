"""A review as lines for a terminal."""

from toolpolicy.engine import canonical
from toolpolicy.engine.faults import printable
from toolpolicy.engine.grades import IN_WORDS
from toolpolicy.engine.values import ABSENT
from toolpolicy.services.registry import Review

LONGEST = 400


def review_text(review: Review) -> str:
    """Return a review as lines for a terminal: each change with its values before and after."""
    tool = review.tool
    lines = [f"{tool.family.name}/{tool.name} is {tool.state}, declared as {tool.current_id}"]
    if tool.reviewed_id is None:
        lines.append("nobody ever reviewed it")
    elif not review.changes:
        lines.append("it declares what was reviewed")
    else:
        lines.append(f"reviewed as {tool.reviewed_id}; since then:")
    for change in review.changes:
        lines.append(f"  {IN_WORDS[change.grade]}: {change.pointer or '/'}")
        lines += [
            f"    {sign} {_shown(value)}" for sign, value in _sides(change.before, change.after)
        ]
    # Escaped, because tools wrote some of it.
    return "\n".join(map(printable, lines))


def _sides(before: object, after: object) -> list[tuple[str, object]]:
    return [(sign, value) for sign, value in (("-", before), ("+", after)) if value is not ABSENT]


def _shown(value: object) -> str:
    text = canonical.dumps(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"
