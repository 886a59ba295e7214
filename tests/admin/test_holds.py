"""Legal holds in the admin: placed with a reason, lifted, never edited."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.admin.pages import address, errors, text_of
from tests.retention.worlds import hold, write
from toolpolicy.models import LegalHold

pytestmark = pytest.mark.django_db

NEW = {"name": "case 7", "reason": "a claim", "agent": "coder", "_save": "1"}


def test_a_hold_is_placed_shown_with_what_it_covers_and_lifted(root):
    write(agent="coder")
    page = text_of(root.post(address("legalhold", "add"), NEW, follow=True))
    assert "case 7" in page
    placed = LegalHold.objects.get()
    assert (placed.created_by_label, placed.filter) == ("root", {"agent": "coder"})
    shown = text_of(root.get(address("legalhold", "change", placed.pk)))
    for words in ("case 7", "agent <code>coder</code>", "1 record<", "a claim", "stands"):
        assert words in shown
    sent = {"action": "lift", "_selected_action": [placed.pk]}
    assert "Lifted: case 7." in text_of(root.post(address("legalhold"), sent, follow=True))
    assert "lifted" in text_of(root.get(address("legalhold", "change", placed.pk)))


def test_everything_that_is_filled_in_is_part_of_the_filter(root):
    asked = {
        "kind": "decision",
        "outcome": "deny",
        "client_key_id": "abcdefgh",
        "since": "2026-01-01T00:00",
        "until": "2026-02-01T00:00:00",
        "first": "3",
        "last": "9",
    }
    root.post(address("legalhold", "add"), {**NEW, **asked})
    assert LegalHold.objects.get().filter == {
        "kind": "decision",
        "outcome": "deny",
        "agent": "coder",
        "client_key_id": "abcdefgh",
        "first": 3,
        "last": 9,
        "from": "2026-01-01T00:00:00.000000Z",
        "to": "2026-02-01T00:00:00.000000Z",
    }


def test_a_hold_of_every_record_says_so(root):
    root.post(address("legalhold", "add"), {**NEW, "agent": ""})
    assert LegalHold.objects.get().filter == {}
    assert "every record" in text_of(root.get(address("legalhold")))


def test_a_hold_that_covers_nothing_is_told(root):
    placed = hold(agent="nobody")
    assert "no record" in text_of(root.get(address("legalhold", "change", placed.pk)))


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"name": ""}, ["name"]),
        ({"reason": " "}, ["reason"]),
        ({"kind": "planet"}, ["kind"]),
        ({"agent": "a" * 201}, ["agent"]),
        ({"since": "2026-02-01T00:00", "until": "2026-01-01T00:00"}, ["until"]),
        ({"since": "0001-01-01T00:00"}, ["since"]),
        ({"first": "5", "last": "4"}, ["last"]),
    ],
)
def test_a_fault_stands_on_its_field(root, changes: dict[str, Any], fields):
    response = root.post(address("legalhold", "add"), {**NEW, **changes})
    assert list(errors(response)) == fields
    assert not LegalHold.objects.exists()


def test_what_another_page_names_is_filled_in(root):
    page = root.get(address("legalhold", "add") + "?agent=coder&since=2026-01-01T00:00:00")
    form = page.context["adminform"].form
    assert form["agent"].value() == "coder"
    assert form["since"].value() == "2026-01-01T00:00:00"


def test_a_hold_cannot_be_edited_or_deleted(root):
    placed = hold(agent="coder")
    page = address("legalhold", "change", placed.pk)
    assert root.post(page, {"reason": "other", "_save": "1"}).status_code == 403
    assert root.post(address("legalhold", "delete", placed.pk), {"post": "yes"}).status_code == 403
    assert "Lift" in text_of(root.get(page))
    LegalHold.objects.update(lifted_at=datetime.now(tz=UTC), lifted_by_label="ada")
    assert '<button class="tp-btn">Lift' not in text_of(root.get(page))
