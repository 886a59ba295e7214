"""Records whose texts are gone: what reads records says so in words, and decides no less."""

import json
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from tests.admin.pages import address, decide, signed_in, superuser, text_of
from tests.factories import SYSTEM, make_layer
from tests.retention.worlds import TESTS
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import ApiClient, Record
from toolpolicy.services import clients, decisions, erasure
from toolpolicy.services.actors import Actor
from toolpolicy.services.decisions import Idempotency
from toolpolicy.services.erasure import Person
from toolpolicy.services.record_filters import parse

pytestmark = pytest.mark.django_db


def forget(**filters: str) -> None:
    """Delete the texts of what matches, as somebody may ask."""
    person = Person(filter=parse(filters))
    erasure.erase(actor=TESTS, person=person, reason="asked to", bodies=True)


@pytest.fixture
def root():
    make_layer()
    return signed_in(superuser())


def test_the_page_of_a_record_says_that_its_text_was_deleted(root):
    decide("read", context={"agent": "coder"})
    forget(agent="coder")
    record = Record.objects.get(kind="decision")
    page = text_of(root.get(address("record", "change", record.pk)))
    assert "The text was deleted" in page
    for words in ("Replay with", "Make a rule", "Open in the simulator"):
        assert words not in page
    assert root.post(address("record", "today", record.pk)).status_code == 404
    assert root.get(address("record", "rule", record.pk)).status_code == 404
    assert root.get(address("record")).status_code == 200


def test_a_simulation_whose_text_was_deleted_has_no_answer_any_more(root):
    who = Actor.for_user(User.objects.get(username="root"))
    asked = parse_question({"surface": "call", "tool": "read", "context": {"agent": "coder"}})
    answer = decisions.simulate(asker=who, question=asked)
    forget(agent="coder")
    assert decisions.simulated(UUID(answer.decision_id)) is None
    page = root.get(f"{reverse('admin:toolpolicy_simulator')}?answer={answer.decision_id}")
    assert page.status_code == 200


def test_a_repeat_of_a_request_whose_answer_was_deleted_is_decided_anew():
    make_layer()
    client, _ = clients.create(actor=SYSTEM, values={"name": "helpdesk"})
    first, other = (_ask(client, "k-1") for _ in "ab")
    assert first == other
    forget(client_key_id=client.key_id)
    again = _ask(client, "k-1")
    assert again != first
    assert _ask(client, "k-1") == again


def _ask(client: ApiClient, key: str) -> str:
    answer = decisions.decide(
        asker=Actor.for_client(client),
        question=parse_question({"surface": "call", "tool": "read", "context": {}}),
        idempotency=Idempotency(key, "sha256:0"),
    )
    return json.dumps(answer.document, sort_keys=True)
