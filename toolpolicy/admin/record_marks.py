"""What a record is, for lists of them and the forms above: its mark, and the outcomes."""

from typing import Final

from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.words import Words
from toolpolicy.engine.words import Outcome
from toolpolicy.models import Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import refusals

ANY: Final = ("", _("Any"))


def outcomes() -> tuple[tuple[str, Words], ...]:
    """Return every outcome that a record can have, as a choice."""
    words = ((str(outcome), marks.OUTCOMES[outcome][0]) for outcome in Outcome)
    return (ANY, *words, (refusals.OUTCOME, _("Refused request")))


def what(record: Record) -> SafeString:
    """Show the outcome of a decision; of a simulation, that it is one; of anything else, its kind.

    A simulation answered nobody: without the word beside it, its outcome would say the contrary.
    """
    kind = marks.tag(RecordKind(record.kind).label)
    if record.kind == RecordKind.DECISION and record.outcome:
        return marks.outcome_pill(record.outcome)
    if record.outcome:
        return marks.row((kind, marks.outcome_pill(record.outcome)))
    return kind
