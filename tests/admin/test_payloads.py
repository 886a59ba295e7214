"""What callers sent is shown only to who may read it, and each look is a record."""

import json

import pytest
from django.urls import reverse
from django.utils.http import urlencode

from tests.admin.pages import address, decide, signed_in, staff, text_of
from tests.factories import make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.models import MaskedValue, Record, Tool
from toolpolicy.services import registry
from toolpolicy.services.actors import Actor

pytestmark = pytest.mark.django_db

SENT = {"database": "prod-1", "password": "hunter2 and more"}
VIEWS = ("view_record",)
READS = (*VIEWS, "view_recordbody")


@pytest.fixture
def call(db) -> Record:
    make_rule(make_layer(), id="no", match={"arg": {"pointer": "/database", "value": "prod*"}})
    imported(named("drop"), family="db")
    answer = decide("drop", arguments=SENT, context={"agent": "coder", "api_key": "k-1"})
    return Record.objects.get(uid=answer.decision_id)


def page_of(record: Record) -> str:
    return address("record", "change", record.pk)


def looks():
    found = Record.objects.filter(kind="payload_read").order_by("pk").select_related("body")
    return [json.loads(record.body.text) for record in found]


def hides_values(page: str) -> bool:
    return not any(text in page for text in ("prod-1", "hunter2", "k-1"))


def test_who_may_view_records_sees_all_but_what_was_sent(call):
    page = text_of(signed_in(staff("vera", permissions=VIEWS)).get(page_of(call)))
    assert hides_values(page)
    assert "coder asked about drop" in page
    assert "<b>arg /database</b> is <code>(not shown)</code>" in page
    assert "/asked/arguments/password" in page  # that it is masked, and by which rule
    assert "key password" in page
    assert "Show what was sent" not in page
    assert "a permission of its own" in page
    assert looks() == []


def test_who_may_read_payloads_is_shown_one_when_asking_for_it(call):
    client = signed_in(staff("rita", permissions=READS))
    page = text_of(client.get(page_of(call)))
    assert hides_values(page)
    assert "Show what was sent" in page
    assert looks() == []
    page = text_of(client.post(address("record", "payload", call.pk)))
    assert "hunter2 and more" in page
    assert "<b>arg /database</b> is <code>prod-1</code>" in page
    assert "api_key <b>k-1</b>" in page
    assert "That you looked is recorded." in page
    [look] = looks()
    assert (look["actor"]["label"], look["object"]) == ("rita", {"record": str(call.uid)})
    assert look["why"] == "shown on the page of the record"


def test_opening_the_address_of_a_look_is_none(call):
    client = signed_in(staff("rita", permissions=READS))
    for name in ("payload", "simulator"):
        asked = address("record", name, call.pk)
        assert client.get(asked).status_code == (405 if name == "payload" else 403)
    assert looks() == []


def test_who_only_views_records_cannot_look(call):
    client = signed_in(staff("vera", permissions=VIEWS))
    assert client.post(address("record", "payload", call.pk)).status_code == 403
    assert looks() == []


def test_lists_never_show_what_was_sent(root, call):
    for query in ("", "?tool=drop"):
        assert hides_values(text_of(root.get(address("record") + query)))


def test_a_change_has_nothing_that_was_sent(root, call):
    record = Record.objects.filter(kind="change").first()
    assert record is not None
    assert "What was sent" not in text_of(root.get(page_of(record)))


def test_what_is_gone_is_said_by_name_and_nothing_breaks(root, call):
    MaskedValue.objects.filter(pointer__endswith="password").delete()
    page = text_of(root.get(page_of(call)))
    assert "It cannot be judged again: something is missing." in page
    assert "/asked/arguments/password (was erased)" in page
    page = text_of(root.post(address("record", "payload", call.pk)))
    assert "was erased" in page
    response = root.post(address("record", "today", call.pk), follow=True)
    assert "The value at /asked/arguments/password was erased" in text_of(response)


def test_a_digest_only_call_says_so_everywhere(root, db):
    imported(named("drop"), family="db")
    tool = Tool.objects.get()
    laid = {"masking": {"mode": "digest"}}
    who = Actor.system("tests")
    registry.update_tool(actor=who, family="db", name="drop", version=tool.version, laid=laid)
    make_layer()
    record = Record.objects.get(uid=decide("drop", arguments=SENT).decision_id)
    page = text_of(root.get(page_of(record)))
    assert "digest only" in page
    assert "was never kept, only a digest of it" in page
    made = text_of(root.get(address("record", "rule", record.pk)))
    assert "This value of" not in made


def test_the_simulator_opens_with_the_masked_values_and_that_is_a_look(root, call):
    response = root.post(address("record", "simulator", call.pk))
    form = response.context["form"]
    assert json.loads(form["arguments"].value()) == SENT
    assert [look["why"] for look in looks()] == ["opened in the simulator"]


def test_a_rule_is_made_from_what_was_sent_but_never_of_a_masked_value(root, call):
    page = text_of(root.get(address("record", "rule", call.pk)))
    assert "This value of /database" in page
    assert "This value of /password" not in page
    assert "hunter2" not in page
    assert "masked:sha256" not in page
    assert [look["why"] for look in looks()] == ["to make a rule from the call"]


def test_a_call_is_asked_again_with_its_masked_values(root, call):
    page = text_of(root.post(address("record", "today", call.pk), follow=True))
    assert "Answered as before" in page
    assert hides_values(page)
    again = Record.objects.get(kind="simulation")
    assert "hunter2" not in again.body.text
    assert MaskedValue.objects.filter(record=again, value__contains="hunter2").exists()


# --- the simulator -------------------------------------------------------------------------------


def simulate(client) -> str:
    sent = {"act": "simulate", "surface": "call", "tool": "drop", "arguments": json.dumps(SENT)}
    response = client.post(reverse("admin:toolpolicy_simulator"), {**sent, "as": "json"})
    return str(response["Location"].partition("#")[0])


def test_no_address_holds_what_is_masked_and_who_asked_is_shown_it_again(root, call):
    link = simulate(root)
    assert "hunter2" not in link
    page = text_of(root.get(link))
    assert "<b>arg /database</b> is <code>prod-1</code>" in page
    assert "hunter2" not in Record.objects.get(kind="simulation").body.text


def test_an_answer_to_a_question_with_another_secret_is_not_shown(root, call):
    query = urlencode({"tool": "drop", "surface": "call", "arguments": json.dumps(SENT)})
    link = f"{simulate(root)}&{query}"
    assert "an answer to another question" not in text_of(root.get(link))
    other = link.replace("hunter2", "hunter3")
    assert "an answer to another question" in text_of(root.get(other))


def test_an_answer_without_its_question_is_a_look_for_all_but_who_asked(root, call):
    simulate(root)
    record = Record.objects.get(kind="simulation")
    link = f"{reverse('admin:toolpolicy_simulator')}?answer={record.uid}"
    assert "prod-1" in text_of(root.get(link))
    assert looks() == []
    other = signed_in(staff("otto", permissions=(*READS, "simulate")))
    assert "prod-1" in text_of(other.get(link))
    assert [look["why"] for look in looks()] == ["opened in the simulator by its id"]
    MaskedValue.objects.filter(record=record).delete()
    page = text_of(other.get(link))
    assert "was erased" in page
    assert "<b>arg /database</b> is <code>(not shown)</code>" in page
