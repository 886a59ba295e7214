"""A seeded store holds what the writer of records writes: true to its hash, and replayable."""

import json

import pytest

from tests.seeding.store import Size, seed
from toolpolicy.audit.writer import ENVELOPE, leaf_hash
from toolpolicy.models import Record, RuleUsage, Tool
from toolpolicy.services import decisions, policies, usage

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(db):
    said: list[str] = []
    seed(Size(rules=20, tools=10, records=50, texts=30), say=said.append)
    return said


def test_there_is_as_much_as_was_asked_for(told):
    assert told[:2] == ["10 tools", "20 rules"]
    assert Tool.objects.count() == 10
    assert sum(len(layer["policy"]["rules"]) for layer in policies.export()["layers"]) == 20
    made = Record.objects.filter(kind="decision")
    assert made.count() == 50
    asked = RuleUsage.objects.filter(layer="", rule="")
    assert sum(asked.values_list("count", flat=True)) == 50
    assert sum(usage.tool_calls(days=40).values()) == 50


def test_a_copy_is_true_to_its_hash_says_what_its_columns_say_and_is_replayed(told):
    copies = Record.objects.filter(kind="decision", body__isnull=False).order_by("-id")
    for record in copies.select_related("body")[:10]:
        body = json.loads(record.body.text)
        assert leaf_hash(record.body.text) == record.leaf_hash
        assert body.keys() >= ENVELOPE
        assert body["id"] == str(record.uid)
        assert body["writer"] == {"id": record.writer_id, "n": record.writer_n}
        assert body["at"] == record.at.isoformat().replace("+00:00", "Z")
        assert body["context"]["session"] == record.session
        assert body["answer"]["outcome"] == record.outcome
        assert decisions.replay(record).same


def test_clocks_go_forward_with_ids_and_only_the_newest_keep_their_text(told):
    rows = list(Record.objects.filter(kind="decision").order_by("id").values_list("at", "body"))
    assert [at for at, _ in rows] == sorted(at for at, _ in rows)
    copies = [bool(text) for _, text in rows][10:]
    assert copies == sorted(copies)
    assert sum(copies) == 30
