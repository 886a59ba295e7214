"""What a record is, in a list of them: the mark that every list shows alike."""

from django.utils.safestring import SafeString

from toolpolicy.admin import marks
from toolpolicy.models import Record
from toolpolicy.models.choices import RecordKind


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
