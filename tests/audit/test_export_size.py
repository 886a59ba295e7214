"""An export holds little of the log in memory, however much it takes away."""

import tracemalloc
import uuid

import pytest
from django.db import transaction
from django.utils import timezone

from tests.audit.taking import asked
from tests.factories import SYSTEM
from toolpolicy.audit import sealer
from toolpolicy.audit.headers import moment
from toolpolicy.audit.writer import leaf_hash
from toolpolicy.engine.canonical import dumps
from toolpolicy.models import Record, RecordBody
from toolpolicy.services.evidence.exports import begin

MANY, FEW = 50_000, 10_000
AT_ONCE = 1_000
MOST_BYTES = 6 * 1024 * 1024
MORE_BYTES = 512 * 1024


def fill(count: int) -> None:
    """Write records as the writer does, many at once, each with a text of about 1 KB."""
    now = timezone.now()
    for start in range(0, count, AT_ONCE):
        rows, texts = [], []
        for number in range(start + 1, start + AT_ONCE + 1):
            uid, place = uuid.uuid4(), {"id": "w", "n": number}
            said = {"id": str(uid), "kind": "decision", "at": moment(now), "writer": place}
            texts.append(dumps({**said, "v": 1, "arguments": "x" * 900}))
            tool = "mail_send" if number % 2 else "file_read"
            written = {"uid": uid, "at": now, "writer_id": "w", "writer_n": number}
            digest = leaf_hash(texts[-1])
            rows.append(Record(kind="decision", tool=tool, leaf_hash=digest, **written))
        with transaction.atomic():
            made = Record.objects.bulk_create(rows)
            pairs = zip(made, texts, strict=True)
            RecordBody.objects.bulk_create(RecordBody(record=one, text=text) for one, text in pairs)


def most_held(last: int) -> tuple[int, int]:
    """Return the bytes held at most while a bundle is read, and its size."""
    export = begin(actor=SYSTEM, asked=asked(last=last))
    tracemalloc.start()
    try:
        for _ in export:
            pass
        return tracemalloc.get_traced_memory()[1], export.size
    finally:
        tracemalloc.stop()


@pytest.mark.django_db
def test_memory_does_not_grow_with_what_is_taken_away():
    fill(MANY)
    sealer.seal_all()
    few, size_of_few = most_held(FEW)
    many, size = most_held(MANY)
    assert size > 4 * size_of_few
    assert max(few, many) < MOST_BYTES
    assert many - few < MORE_BYTES
