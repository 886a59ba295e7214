"""Records of the tests of their pages."""

from typing import Any

from django.urls import reverse

from tests.admin.pages import address
from toolpolicy.models import Record

READS = ("view_record", "view_recordbody")


def record_of(answer: Any) -> Record:
    return Record.objects.get(uid=answer.decision_id)


def page_of(record: Record) -> str:
    return address("record", "change", record.pk)


def place(record: Record, name: str, *more: Any) -> str:
    return reverse(f"admin:toolpolicy_record_{name}", args=(record.pk, *more))
