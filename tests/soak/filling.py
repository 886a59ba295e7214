"""Very many records at once: copies of a genuine decision, each with an own text and number."""

import secrets
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.core.management.color import no_style
from django.db import connection, models, transaction
from django.db.models import Max
from django.utils import timezone

from tests.soak import work
from toolpolicy.audit.headers import moment
from toolpolicy.audit.writer import leaf_hash
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import ApiClient, Record, RecordBody
from toolpolicy.services import decisions
from toolpolicy.services.actors import Actor

AT_ONCE: Final = 5000
AGENTS: Final = 500
"""So many agents ask."""
EVERY: Final = timedelta(milliseconds=10)
"""Between two records."""
Row = tuple[Any, ...]


def fill(count: int) -> None:
    """Write records of one writer, the last one now, past Django's models: they are slow."""
    work.prepare()
    source, text = _genuine()
    copy = _Copy(source, text, secrets.token_hex(16), timezone.now() - count * EVERY)
    row = Record.objects.aggregate(last=Max("pk"))["last"]
    for start in range(0, count, AT_ONCE):
        numbers = range(start + 1, min(start + AT_ONCE, count) + 1)
        pairs = [copy.of(row + number, number) for number in numbers]
        with transaction.atomic():
            _insert(Record, [record for record, _ in pairs])
            _insert(RecordBody, [body for _, body in pairs])
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [Record]):
            cursor.execute(statement)


def _genuine() -> tuple[Record, str]:
    """Return a record that a decision left, and its text."""
    asker = Actor.for_client(ApiClient.objects.get())
    arguments = {"to": "ann@example.org", "subject": "hello", "text": "x" * 200}
    asked = {"surface": "call", "tool": "send_mail", "arguments": arguments}
    question = parse_question({**asked, "context": {"agent": "agent-0", "session": "s-0"}})
    answer = decisions.decide(asker=asker, question=question)
    record = Record.objects.select_related("body").get(uid=answer.decision_id)
    return record, record.body.text


class _Copy:
    """What makes another record of a genuine one."""

    def __init__(self, source: Record, text: str, writer: str, begin: datetime) -> None:
        self._names = [field.attname for field in Record._meta.concrete_fields]
        self._common = {name: getattr(source, name) for name in self._names}
        self._source, self._text = source, text
        self._writer, self._begin = writer, begin

    def of(self, row: int, number: int) -> tuple[Row, Row]:
        """Return the rows of the record with this number, and of its text."""
        source, uid, at = self._source, uuid.uuid4(), self._begin + number * EVERY
        agent = f"agent-{number % AGENTS}"
        was = f'"writer":{{"id":"{source.writer_id}","n":{source.writer_n}}}'
        text = self._text.replace(was, f'"writer":{{"id":"{self._writer}","n":{number}}}')
        text = text.replace(str(source.uid), str(uid)).replace(moment(source.at), moment(at))
        text = text.replace('"agent-0"', f'"{agent}"')
        own = {"id": row, "uid": uid, "at": at, "agent": agent, "leaf_hash": leaf_hash(text)}
        values = {**self._common, **own, "writer_id": self._writer, "writer_n": number}
        return tuple(values[name] for name in self._names), (row, text)


def _insert(model: type[models.Model], rows: Sequence[Row]) -> None:
    names = ", ".join(str(field.column) for field in model._meta.concrete_fields)
    table = f"{model._meta.db_table} ({names})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} FROM STDIN") as copied:
                for row in rows:
                    copied.write_row(row)
            return
        places = ", ".join(["%s"] * len(rows[0]))
        cursor.executemany(f"INSERT INTO {table} VALUES ({places})", list(_stored(rows)))  # noqa: S608


def _stored(rows: Sequence[Row]) -> Iterator[list[Any]]:
    """Return values as SQLite keeps them."""
    adapt = connection.ops.adapt_datetimefield_value
    for row in rows:
        values = (value.hex if isinstance(value, uuid.UUID) else value for value in row)
        yield [adapt(value) if isinstance(value, datetime) else value for value in values]
