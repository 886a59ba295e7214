"""Every kind of record is listed under its name, found by it, and has a page with a title."""

import pytest
from django.db import transaction

from tests.admin.pages import address, text_of
from tests.factories import SYSTEM
from toolpolicy.audit import writer
from toolpolicy.models.choices import RecordKind

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", RecordKind)
def test_each_kind_has_a_name_a_filter_and_a_title(root, kind):
    with transaction.atomic():
        body = {"summary": "did something", "actor": SYSTEM.wire()}
        index = writer.RecordIndex(actor_label="ada")
        record = writer.write(kind=kind, body=body, index=index)
    shown = root.get(address("record"), {"kind": kind.value})
    assert list(shown.context["cl"].result_list) == [record]
    assert f'<span class="tp-tag">{kind.label}</span>' in shown.content.decode()
    page = text_of(root.get(address("record", "change", record.pk)))
    assert "ada did something" in page
