"""Freezes in the admin: made with a reason, lifted, never edited."""

from typing import Any

import pytest

from tests.admin.pages import address, decide, errors, text_of
from tests.factories import SYSTEM
from toolpolicy.models import Freeze
from toolpolicy.services import freezes

pytestmark = pytest.mark.django_db

NEW = {"kind": "agent", "value": "research", "reason": "posting loop", "_save": "1"}


def test_a_freeze_stops_the_next_call_and_lifting_it_lets_calls_pass(root, baseline):
    ask: dict[str, Any] = {"context": {"agent": "research"}}
    assert decide("read", **ask).allowed
    page = text_of(root.post(address("freeze", "add"), NEW, follow=True))
    assert "is frozen from the next decision on" in page
    assert "Lift" in page
    freeze = Freeze.objects.get()
    assert (freeze.created_by_label, freeze.reason) == ("root", "posting loop")
    assert decide("read", **ask).reason_code == "frozen"
    root.post(address("freeze"), {"action": "lift", "_selected_action": [freeze.pk]})
    assert decide("read", **ask).allowed


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"kind": "planet"}, "kind"),
        ({"value": ""}, "value"),
        ({"reason": " "}, "reason"),
        ({"until": "2000-01-01T00:00"}, "until"),
    ],
)
def test_a_fault_stands_on_its_field(root, changes, field):
    response = root.post(address("freeze", "add"), {**NEW, **changes})
    assert list(errors(response)) == [field]
    assert not Freeze.objects.exists()


def test_a_freeze_cannot_be_edited_and_its_page_can_lift_it(root):
    freeze = freezes.freeze(
        actor=SYSTEM, values={"kind": "tool", "value": "send", "reason": "a test"}
    )
    page = address("freeze", "change", freeze.pk)
    assert root.post(page, {"reason": "other", "_save": "1"}).status_code == 403
    shown = text_of(root.get(page))
    assert "Lift" in shown
    freezes.lift(actor=SYSTEM, freeze=freeze.pk)
    assert '<button class="tp-btn">Lift' not in text_of(root.get(page))
