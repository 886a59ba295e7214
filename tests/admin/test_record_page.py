"""The page of one record: what was asked, answered and why, and what stands beside it."""

import html
import json
import re
from urllib.parse import urlencode

import pytest

from tests.admin.pages import address, decide, signed_in, staff, text_of
from tests.admin.recorded import page_of, record_of
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported
from tests.registry.samples import named as named_tools
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import Record, RecordBody
from toolpolicy.services import clients, decisions, policies
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import NotFound

pytestmark = pytest.mark.django_db


def test_a_record_leads_to_those_beside_it_in_the_list_that_one_came_from(root, house):
    first, *_, last = [
        record_of(decide(name, context={"agent": agent}))
        for name, agent in (("read", "coder"), ("drop", "clerk"), ("write", "coder"))
    ]
    asked = "agent=coder&within=week&kind=decision"
    page = f"{page_of(last)}?{urlencode({'_changelist_filters': asked})}"
    shown = root.get(page)
    assert shown.context["beside"] == (None, first.pk)
    [older] = re.findall(
        r'<a class="tp-btn is-quiet" href="([^"]+)"><svg[^>]+><use[^>]+#down', text_of(shown)
    )
    beyond = root.get(html.unescape(older))
    assert beyond.context["beside"] == (last.pk, None)
    assert html.unescape(older) == page.replace(page_of(last), page_of(first))


def test_without_filters_every_record_is_beside_the_next(root, house):
    pair = [record_of(decide(name)) for name in ("one", "two")]
    found = [root.get(page_of(record)).context["beside"] for record in pair]
    assert (found[0].newer, found[1].older) == (pair[1].pk, pair[0].pk)


@pytest.mark.parametrize("filters", ["uid=x", "within=year", "agent=a%00b", "%", "before=x"])
def test_filters_that_cannot_be_read_break_no_page(root, house, filters):
    record = record_of(decide("one"))
    text_of(root.get(page_of(record), {"_changelist_filters": filters}))


def test_the_page_of_a_denied_call_says_what_was_asked_answered_and_why(root, house):
    answer = decide(
        "drop_table", arguments={"database": "prod-1"}, context={"agent": "coder", "team": "x"}
    )
    page = text_of(root.post(address("record", "payload", record_of(answer).pk)))
    assert "coder asked about drop_table" in page
    assert "production data is kept" in page
    assert "rule_denied" in page
    assert "&quot;database&quot;: &quot;prod-1&quot;" in page
    assert "team <b>x</b>" in page
    assert re.search(r'is-decider tp-deny">.*<b>Matches, decides</b>', page)
    words = "tools named <code>drop_*</code> where argument <b>/database</b> is <code>prod*</code>"
    assert words in page
    assert "<b>name</b> is <code>drop_table</code>" in page  # why the other rule did not match
    assert "The text is the one that was hashed." in page


def test_the_why_is_that_of_the_policy_of_that_time(root, house):
    answer = decide("drop_table", arguments={"database": "prod-1"})

    policies.delete_layer(actor=SYSTEM, layer=house.pk, version=house.version)
    page = text_of(root.get(page_of(record_of(answer))))
    assert "no-drops" in page
    assert "tools named <code>drop_*</code>" in page


def test_a_stored_explanation_is_shown_as_it_was_given(root, house):
    answer = decide("drop_table", arguments={"database": "prod-1"}, explain=True)
    assert "explanation" in json.loads(record_of(answer).body.text)["answer"]
    assert "Matches, decides" in text_of(root.get(page_of(record_of(answer))))


def test_a_layer_that_does_not_apply_says_which_value_differs(root, house):
    make_layer("for coders", scope="agent", target=["coder*"])
    answer = decide("read_mail", context={"agent": "support"})
    page = text_of(root.get(page_of(record_of(answer))))
    assert "<b>agent</b> is <code>support</code>, the layer wants <code>coder*</code>" in page


def test_a_default_that_decides_is_said(root):
    make_layer("only what is named", default="deny")
    answer = decide("read_mail")
    page = text_of(root.get(page_of(record_of(answer))))
    assert "No rule of only what is named allows it" in page
    assert re.search(r"is-decider.*<b>Decides</b>\s*<div><b>Otherwise deny</b>", page)


def test_what_could_not_be_read_is_named(root, house):
    answer = decide("drop_table")  # no arguments document at all
    page = text_of(root.get(page_of(record_of(answer))))
    assert "could not be read, and counted against the call" in page


def test_a_change_names_the_person_and_what_they_did(root):
    layer = make_layer(actor=Actor.system("anna"))
    record = Record.objects.get(object_label=layer.name)
    page = text_of(root.get(page_of(record)))
    assert "anna added the layer `house rules`" in page


def test_a_refused_name_has_no_layers_to_show(root, baseline):
    imported(named_tools("read"))
    answer = decide("READ")
    page = text_of(root.get(page_of(record_of(answer))))
    assert "name_refused" in page
    assert page.count("is-decider") == 1
    assert "No rule was read" in page
    assert "config, strict" not in page


def test_a_record_without_its_text_says_so(root, house):
    record = record_of(decide("read_mail"))
    RecordBody.objects.filter(record=record).delete()
    page = text_of(root.get(page_of(record)))
    assert "The text was deleted: its time was over" in page


def test_a_record_that_cannot_be_replayed_is_shown_without_its_why(root, house, monkeypatch):
    def replay(record: Record) -> None:
        raise NotFound("registry `sha256:gone`")

    monkeypatch.setattr(decisions, "replay", replay)
    page = text_of(root.get(page_of(record_of(decide("read_mail")))))
    assert "Allowed" in page
    assert 'id="h-why"' not in page


def test_values_of_every_kind_are_shown_as_they_were_met(root):
    layer = make_layer()
    for match in ({"tags": "x"}, {"hints": {"destructive": True}}, {"family": "crm"}):
        make_rule(layer, match=match)
    subject = {"name": "wipe", "tags": ["a", "b"], "hints": {"destructive": False}}
    question = {"surface": "call", "subject": subject}
    answer = decisions.decide(asker=SYSTEM, question=parse_question(question))
    page = text_of(root.get(page_of(record_of(answer))))
    assert "<b>tags</b> is <code>a, b</code>" in page
    assert "<b>hints.destructive</b> is <code>false</code>" in page
    assert "<b>family</b> is not said" in page


def test_a_simulation_says_that_nothing_ran(root, house):
    decide("read_mail", dry_run=True)
    record = Record.objects.get(kind="simulation")
    assert "A simulation: nothing ran" in text_of(root.get(page_of(record)))
    assert "simulation" in text_of(root.get(address("record"), {"kind": "simulation"}))


def test_a_record_that_is_not_there_is_not_found(root):
    assert root.get(address("record", "change", 99)).status_code == 404
    assert root.get(address("record", "change", "x")).status_code == 404
    nobody = signed_in(staff("nora"))
    assert nobody.get(address("record", "change", 99)).status_code == 403


def test_what_callers_send_is_never_markup(root, baseline):
    client, _ = clients.create(actor=SYSTEM, values={"name": "<b>x</b>"})
    hostile = "<script>alert(1)</script>"
    answer = decide(
        "read_mail",
        asker=Actor.for_client(client),
        arguments={"a": hostile},
        context={"agent": hostile, hostile: hostile},
    )
    for page in (address("record"), page_of(record_of(answer)), address("apiclient")):
        shown = text_of(root.get(page))
        assert "<script>alert" not in shown
        assert "<b>x</b>" not in shown
