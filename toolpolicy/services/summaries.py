"""What was done, in the words of whoever did it: a line for each record of a list."""

import json
from collections.abc import Iterable, Sequence

from toolpolicy.models import PolicyVersion, Record, RecordBody
from toolpolicy.services.timeline import DONE


def summaries(found: Sequence[Record]) -> dict[int, str]:
    """Return by id what was done; nothing for what callers asked or is no longer kept. Two queries.

    What changed the policy is told by the version that it made: its text holds whole policies.
    """
    done = [record for record in found if record.kind in DONE]
    numbers = {record.pk: record.policy_version for record in done if record.policy_version}
    versions = PolicyVersion.objects.filter(number__in=set(numbers.values())).order_by()
    comments = dict(versions.values_list("number", "comment"))
    of_policy = {key: comments.get(number, "") for key, number in numbers.items()}
    told = of_policy | _of_texts(record.pk for record in done if record.pk not in numbers)
    return {key: summary for key, summary in told.items() if summary}


def _of_texts(keys: Iterable[int]) -> dict[int, str]:
    bodies = RecordBody.objects.filter(pk__in=list(keys)).order_by()
    return {key: str(json.loads(text).get("summary", "")) for key, text in bodies.values_list()}
