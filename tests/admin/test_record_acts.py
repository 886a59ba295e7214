"""What is done about a recorded call: asked again, opened, frozen."""

import json

import pytest

from tests.admin.pages import address, decide, errors, form_values, signed_in, staff, text_of
from tests.admin.recorded import READS, place, record_of
from tests.factories import SYSTEM, make_layer
from tests.registry.samples import imported, named
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import Freeze, Record, RecordBody, Rule
from toolpolicy.services import decisions, freezes, policies

pytestmark = pytest.mark.django_db


def simulations():
    return Record.objects.filter(kind="simulation", client=None)


# --- asked again ----------------------------------------------------------------------------------


def test_a_call_is_asked_again_by_todays_policy_and_the_difference_is_shown(root, dropped, layer):
    policies.update_rule(
        actor=SYSTEM, rule=Rule.objects.get().pk, version=layer.version, values={"enabled": False}
    )
    response = root.post(place(dropped, "today"))
    record = simulations().get()
    assert response["Location"] == place(dropped, "compare", record.uid)
    shown = root.get(response["Location"])
    page = text_of(shown)
    assert "<h1>Allowed today, denied then</h1>" in page
    assert "Changed since: The policy." in page
    rows = {row.about: (row.then, row.now, row.differs) for row in shown.context["rows"]}
    assert rows["Blocked by"] == ("no-drops in house rules", "nothing blocks", True)
    assert rows["Approval"][2] is False
    assert page.count("is-decider") == 1
    body = json.loads(record.body.text)
    assert body["context"] == {"agent": "coder", "channel": "web", "session": "s-1"}


def test_what_is_answered_as_before_is_said(root, dropped):
    page = text_of(root.post(place(dropped, "today"), follow=True))
    assert "Answered as before" in page
    assert "are the same as then" in page


def test_another_reason_for_the_same_answer_is_said(root, dropped):
    values = {"kind": "agent", "value": "coder", "reason": "a loop"}
    freezes.freeze(actor=SYSTEM, values=values)
    page = text_of(root.post(place(dropped, "today"), follow=True))
    assert "Denied as before, for another reason" in page
    assert "Changed since: The freezes." in page


def test_opening_an_address_asks_nothing(root, dropped):
    assert root.get(place(dropped, "today")).status_code == 405
    assert not simulations().exists()


def test_two_answers_are_compared_only_where_the_question_is_the_same(root, dropped):
    other = record_of(decide("read_table"))
    root.post(place(other, "today"))
    record = simulations().get()
    assert root.get(place(dropped, "compare", record.uid)).status_code == 404
    assert root.get(place(dropped, "compare", dropped.uid)).status_code == 404


def test_a_described_tool_and_an_old_bound_on_the_version_are_asked_again(root, layer):
    asked = {
        "surface": "call",
        "subject": {"name": "drop_x", "hints": {"destructive": True}},
        "min_policy_version": 99,
    }
    stale = record_of(decisions.decide(asker=SYSTEM, question=parse_question(asked)))
    assert stale.reason_code == "stale_policy"
    root.post(place(stale, "today"))
    assert simulations().get().reason_code == "rule_denied"


def test_what_is_no_call_and_what_has_no_text_cannot_be_asked_again(root, dropped):
    change = Record.objects.filter(kind="change").latest("pk")
    assert root.post(place(change, "today")).status_code == 404
    RecordBody.objects.filter(record=dropped).delete()
    assert root.post(place(dropped, "today")).status_code == 404
    assert root.get(place(dropped, "rule")).status_code == 404
    page = text_of(root.get(address("record", "change", dropped.pk)))
    assert "Replay with" not in page


def test_the_simulator_opens_with_the_question(root, dropped):
    act = root.get(address("record", "change", dropped.pk)).context["acts"].simulator
    form = root.post(act).context["form"]
    assert [form[name].value() for name in ("tool", "agent", "channel", "session")] == [
        *("drop_table", "coder", "web", "s-1")
    ]
    assert json.loads(form["arguments"].value()) == {"database": "prod"}
    assert not simulations().exists()


# --- freezes --------------------------------------------------------------------------------------


def test_each_thing_of_the_call_can_be_frozen_and_lifted_from_its_record(root, dropped):
    page = address("record", "change", dropped.pk)
    stops = root.get(page).context["acts"].stops
    assert [(stop.kind, stop.value) for stop in stops] == [
        ("agent", "coder"),
        ("channel", "web"),
        ("tool", "drop_table"),
        ("family", "db"),
    ]
    shown = root.get(stops[0].address)
    sent = {**form_values(shown), "reason": "a loop", "until": "2090-01-01T00:00"}
    response = root.post(stops[0].address, sent, follow=True)
    assert response.redirect_chain[-1][0] == page
    assert "The agent <code>coder</code> is frozen" in text_of(response)
    frozen = Freeze.objects.get()
    assert (frozen.kind, frozen.value) == ("agent", "coder")
    assert str(frozen.until).startswith("2090-01-01 00:00:00")
    assert decide("read_table", context={"agent": "coder"}).reason_code == "frozen"
    sent = {"action": "lift", "_selected_action": [frozen.pk]}
    root.post(address("freeze"), sent)
    assert "is frozen" not in text_of(root.get(page))
    assert decide("read_table", context={"agent": "coder"}).allowed


def test_a_freeze_without_a_reason_stays_on_the_form(root, dropped):
    stop = root.get(address("record", "change", dropped.pk)).context["acts"].stops[0]
    response = root.post(stop.address, form_values(root.get(stop.address)))
    assert "reason" in errors(response)
    assert not Freeze.objects.exists()


def test_a_freeze_says_how_much_it_would_have_stopped_where_that_is_counted(root, dropped):
    decide("read_table")
    page = address("record", "change", dropped.pk)
    said = {
        stop.kind: text_of(root.get(stop.address)) for stop in root.get(page).context["acts"].stops
    }
    assert "In the last 7 days 1 decision was about it" in said["tool"]
    assert "In the last 7 days 2 decisions were about it" in said["family"]
    assert "In the last 7 days" not in said["agent"] + said["channel"]
    assert "In the last 7 days" not in text_of(root.get(address("freeze", "add")))


def test_a_freeze_of_something_else_is_not_shown(root, dropped):
    for kind, value in (("agent", "other"), ("tool", "coder"), ("channel", "drop_table")):
        values = {"kind": kind, "value": value, "reason": "x"}
        freezes.freeze(actor=SYSTEM, values=values)
    assert not root.get(address("record", "change", dropped.pk)).context["acts"].standing


# --- who may --------------------------------------------------------------------------------------

ACTS = {
    "Replay with": "simulate",
    "Open in the simulator": "simulate",
    "Make a rule from this call": "add_rule",
    "Freeze…": "add_freeze",
}


@pytest.mark.parametrize("held", ["", "simulate", "add_rule", "add_freeze"])
def test_each_act_is_a_right_of_its_own(held, dropped):
    client = signed_in(staff("sam", permissions=(*READS, held)))
    page = text_of(client.get(address("record", "change", dropped.pk)))
    assert {words for words in ACTS if words in page} == {w for w, p in ACTS.items() if p == held}
    assert ("Do something about it" in page) == bool(held)
    asked = client.post(place(dropped, "today")).status_code
    assert asked == (302 if held == "simulate" else 403)
    assert client.get(place(dropped, "rule")).status_code == (200 if held == "add_rule" else 403)


def test_who_may_not_read_texts_cannot_ask_again_or_make_a_rule(dropped):
    client = signed_in(staff("rita", permissions=("view_record", "simulate", "add_rule")))
    page = text_of(client.get(address("record", "change", dropped.pk)))
    assert "Do something about it" not in page
    for name in ("today", "rule", "simulator", "payload"):
        assert client.post(place(dropped, name)).status_code == 403
    uid = dropped.uid
    assert client.get(place(dropped, "compare", uid)).status_code == 403


# A rule is made from what was sent: that look is recorded, in four queries.
@pytest.mark.parametrize(("name", "most"), [("change", 7), ("rule", 11)])
def test_the_number_of_queries_is_fixed(root, dropped, django_assert_num_queries, name, most):
    page = place(dropped, name)
    text_of(root.get(page))
    counted = []
    for number in range(2):
        with django_assert_num_queries(most) as found:
            text_of(root.get(page))
        counted.append(len(found))
        imported(named(f"t{number}"), family=f"f{number}")
        decide(f"t{number}", context={"agent": "coder"})
        make_layer(f"l{number}")
        text_of(root.get(page))
    assert counted == [most, most]
