"""What is stored and cannot be seen, or turns text around, is written out wherever it is shown."""

import json
from typing import Any

import pytest
from django.urls import reverse

from tests.admin.pages import address, decide, text_of
from tests.factories import SYSTEM, make_layer, make_rule
from toolpolicy.models import ApiClient, Freeze, Rule
from toolpolicy.services import clients, freezes

pytestmark = pytest.mark.django_db

# Turns around what follows, starts a colour on a terminal, and would be markup.
HOSTILE = "safe\u202eevil\x1b[31m<i>x"
SHOWN = "safe\\u202eevil\\x1b[31m&lt;i&gt;x"


@pytest.fixture
def rows(db):
    make_rule(make_layer(HOSTILE, description=HOSTILE), match={"name": HOSTILE}, reason=HOSTILE)
    clients.create(actor=SYSTEM, values={"name": HOSTILE})
    freezes.freeze(actor=SYSTEM, values={"kind": "agent", "value": HOSTILE, "reason": HOSTILE})
    decide("read", context={"agent": HOSTILE})


def pages():
    return {
        "home": reverse("admin:index"),
        "layers": address("layer"),
        "clients": address("apiclient"),
        "client": address("apiclient", "change", ApiClient.objects.get().pk),
        "freezes": address("freeze"),
        "freeze": address("freeze", "change", Freeze.objects.get().pk),
    }


def test_a_rule_and_what_is_said_beside_it_are_escaped(root, rows):
    rule = Rule.objects.get()
    values = {"_preview": "1", "_part": "live", "shown_as": "json"}
    text: dict[str, Any] = {"effect": "deny", "match": {"name": HOSTILE}, "reason": HOSTILE}
    text |= {"when": {"agent": HOSTILE}, "examples": [{"tool": HOSTILE}]}
    live = root.post(address("rule", "change", rule.pk), values | {"json": json.dumps(text)})
    act = {"disable": rule.pk, "version": 0}
    stale = root.post(address("layer", "rule_act", rule.layer_id), act, follow=True)
    for page in (text_of(live), text_of(stale).split("Settings</h2>")[0]):
        assert SHOWN in page
        for raw in ("\u202e", "\x1b", "<i>x"):
            assert raw not in page


@pytest.mark.parametrize("name", ["home", "layers", "clients", "client", "freezes", "freeze"])
def test_stored_text_is_shown_escaped(root, rows, name):
    page = text_of(root.get(pages()[name]))
    assert SHOWN in page
    for raw in ("\u202e", "\x1b", "<i>x"):
        assert raw not in page


def test_messages_about_it_are_escaped_too(root, rows):
    freeze = Freeze.objects.get()
    lift = {"action": "lift", "_selected_action": freeze.pk}
    revoke = {"action": "revoke", "_selected_action": ApiClient.objects.get().pk, "sure": "yes"}
    for model, sent in (("freeze", lift), ("apiclient", revoke)):
        page = text_of(root.post(address(model), sent, follow=True))
        assert SHOWN in page.split("messagelist")[1].split("</ul>")[0]
        assert "\u202e" not in page
