"""The auditor's pages: reports of a period, their files, points in time, records judged again."""

import csv
import io
import json
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from tests.admin.pages import address, count_of, decide, signed_in, staff, text_of
from tests.factories import SYSTEM, make_layer, make_rule
from tests.live import make_live, strict
from tests.registry.samples import imported, named
from toolpolicy.admin.reports import moments
from toolpolicy.models import Record, RecordBody, RuleUsage
from toolpolicy.services import freezes

pytestmark = pytest.mark.django_db
START = "/admin/reports/"
MOMENT = "/admin/reports/point-in-time/"
NAMES = ("changes", "access", "oversight")
MOST_BYTES = 100_000


@pytest.fixture
def rita(db):
    """Sign an auditor in."""
    return signed_in(staff("rita", groups=("auditor",)))


@pytest.fixture
def history(db):
    imported(named("read", "write"))
    make_live([strict()])
    decide("read", context={"agent": "coder"})
    freezes.freeze(actor=SYSTEM, values={"kind": "agent", "value": "coder", "reason": "a loop"})
    decide("read", context={"agent": "coder"})
    before = timezone.now()
    make_rule(make_layer(), match={"name": "write"})
    return before


def body_of(response):
    return b"".join(response.streaming_content)


# --- reports -------------------------------------------------------------------------------------


def test_an_auditor_finds_every_report_from_the_navigation_in_two_clicks(rita, history):
    assert START in text_of(rita.get("/admin/"))
    page = text_of(rita.get(START))
    for name in NAMES:
        assert f'href="{START}{name}/?period=last_month"' in page
        assert f'formaction="{START}{name}/"' in page
    assert MOMENT in page


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "changes",
            ("What stands out", "added the layer <code>house rules</code>", "by a command"),
        ),
        ("access", ("rita", "auditor", "People and keys as they are now")),
        ("oversight", ("2 decisions: 1 allowed", "1 of those by a freeze", "agree")),
    ],
)
def test_a_report_is_a_page_with_its_period_and_its_files(rita, history, name, said):
    page = text_of(rita.get(f"{START}{name}/"))
    assert all(words in page for words in said)
    assert f"{timezone.now():, %Y-%m-01 to }" in page
    assert f"{START}{name}/csv/?period=this_month" in page
    assert count_of("h1", page) == 1
    assert "<script>" not in page
    assert len(page.encode()) <= MOST_BYTES


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_holds_the_period_of_the_page_and_its_taking_is_recorded(rita, history, name, form):
    response = rita.get(f"{START}{name}/{form}/?since=2026-01-01&until=2026-01-31")
    data = body_of(response)
    assert response.headers["Content-Length"] == str(len(data))
    assert f'filename="{name}-20260101-20260131.{form}"' in response.headers["Content-Disposition"]
    record = Record.objects.select_related("body").get(kind="export")
    assert (record.actor_label, json.loads(record.body.text)["size"]) == ("rita", len(data))
    if form == "json":
        assert json.loads(data)["period"]["from"] == "2026-01-01T00:00:00Z"
    else:
        first = next(csv.reader(io.StringIO(data.decode(), newline="")))
        assert first[2] == "2026-01-01 to 2026-01-31"


def test_one_decision_is_told_as_one(rita):
    make_live([strict()])
    decide("calc")
    assert "1 decision: 1 allowed, 0 needed" in text_of(rita.get(f"{START}oversight/"))


def test_looking_at_a_page_takes_nothing_away_and_is_not_recorded(rita, history):
    before = Record.objects.count()
    for name in NAMES:
        text_of(rita.get(f"{START}{name}/"))
    assert Record.objects.count() == before


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?since=2026-02-01&until=2026-01-01", "A period ends after it begins"),
        ("?since=soon", "Enter a valid date."),
        ("?period=some_day", "Select a valid choice."),
        ("?period=own&from=bad", "Enter a valid date."),
        ("?since=2999-01-01&until=2999-01-31", "Nobody knows yet what will have happened then"),
        ("?form=2026-01-01", "“form” is not known here. Known are: period, since, until."),
    ],
)
def test_a_wrong_period_is_said_in_the_form_and_gives_no_file(rita, history, query, said):
    for path, status in ((f"{START}changes/", 200), (f"{START}changes/csv/", 400)):
        answer = rita.get(path + query)
        page = answer.content.decode()
        assert answer.status_code == status
        assert said in page
        assert "What stands out" not in page
        assert "<title>Error: " in page
    assert not Record.objects.filter(kind="export").exists()


def test_the_names_of_the_api_ask_for_the_same_period(rita, history):
    page = text_of(rita.get(f"{START}changes/?from=2026-01-01&to=2026-01-31"))
    assert "2026-01-01 to 2026-01-31" in page
    assert f"{START}changes/csv/?since=2026-01-01&amp;until=2026-01-31" in page


@pytest.mark.parametrize("path", ["weather/", "weather/csv/", "changes/xml/"])
def test_there_is_no_other_report_or_form(rita, path):
    assert rita.get(START + path).status_code == 404


def test_a_change_leads_to_its_record(rita, history):
    record = Record.objects.filter(kind="change").latest("id")
    page = text_of(rita.get(f"{START}changes/"))
    assert f"{address('record')}?uid={record.uid}" in page


def test_texts_of_strangers_stay_texts(rita, db):
    make_layer("<script>alert(1)</script>")
    page = text_of(rita.get(f"{START}changes/"))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_permission_alone_shows_reports_without_leading_to_records(history):
    client = signed_in(staff("pat", permissions=("read_reports",)))
    page = text_of(client.get(f"{START}changes/"))
    assert "added the layer" in page
    assert address("record") not in page


@pytest.mark.parametrize(("name", "count"), [("changes", 17), ("access", 11), ("oversight", 17)])
def test_the_number_of_queries_is_fixed(rita, history, name, count):
    counts = []
    for number in range(2):
        make_layer(f"layer {number}")
        imported(named(f"t{number}"), family=f"f{number}")
        decide(f"t{number}", context={"agent": f"a{number}"})
        text_of(rita.get(f"{START}{name}/"))
        with CaptureQueriesContext(connection) as asked:
            text_of(rita.get(f"{START}{name}/"))
        counts.append(len(asked))
    assert counts == [count, count]


# --- point in time -------------------------------------------------------------------------------


def asked(client, **query):
    """Return the page, without the places where long names may break."""
    return text_of(client.get(MOMENT, query)).replace("<wbr>", "")


def test_an_empty_form_asks_nothing(rita, history):
    page = text_of(rita.get(MOMENT))
    assert '<option value="coder">' in page
    assert "How many tools" not in page


def test_what_an_agent_could_do_stands_tool_by_tool(rita, history):
    page = asked(rita, agent="coder")
    assert page.count("Denied") == 3
    assert "agent</span> <code>coder</code>" in page
    page = asked(rita, agent="clerk")
    assert (page.count("Allowed"), page.count("Denied")) == (2, 2)
    version = reverse("admin:toolpolicy_policyversion_changelist")
    assert version in page


def test_two_moments_show_what_differs_and_through_what(rita, history):
    page = asked(rita, agent="clerk", against=f"{history:%Y-%m-%dT%H:%M:%S.%f}")
    assert "Answers that differ" in page
    assert "box/write" in page
    assert "version 3, added the rule" in page
    assert "box/read" not in page.split("Answers that differ")[1].split("changes between")[0]


def test_tools_are_narrowed_by_name_and_never_too_many(rita, history, monkeypatch):
    assert "box/read" not in asked(rita, agent="clerk", q="WRITE")
    assert "None was registered then, or none is as you asked." in asked(rita, q="nothing like it")
    monkeypatch.setattr(moments, "MOST_TOOLS", 1)
    assert "and 1 more tool: narrow them by a name." in asked(rita, agent="clerk")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"on": "2999-01-01T00:00"}, "Nobody knows yet what will be in force then"),
        ({"on": "noon"}, "Enter a valid date/time."),
        ({"against": "2999-01-01T00:00"}, "Nobody knows yet"),
        ({"at": "2026-01-01T00:00"}, "“at” is not known here."),
    ],
)
def test_a_wrong_moment_is_said_beside_its_field(rita, history, query, said):
    page = asked(rita, **query)
    assert said in page
    assert "How many tools" not in page


def test_what_the_history_does_not_tell_is_said(rita, history):
    page = asked(rita, on="2020-01-01T00:00")
    assert "no version was published yet, so every call was refused" in page
    assert "none: every call was refused" in page


# --- a record judged again -----------------------------------------------------------------------


def test_the_page_of_an_answer_says_that_it_follows_from_its_inputs(rita, history):
    record = Record.objects.filter(kind="decision").earliest("id")
    page = text_of(rita.get(address("record", "change", record.pk)))
    assert "The same inputs give the same answer, member by member." in page


def test_it_says_what_is_missing_and_what_differs(rita, history, monkeypatch):
    record = Record.objects.filter(kind="decision").earliest("id")
    page = address("record", "change", record.pk)
    monkeypatch.setattr("toolpolicy.services.decisions.proving.ENGINE", "2")
    assert "engine 1 then, 2 now" in text_of(rita.get(page))
    monkeypatch.undo()
    monkeypatch.setattr(
        "toolpolicy.services.decisions.proving._decision",
        lambda body: (body["answer"], {**body["answer"], "outcome": "deny"}),
    )
    shown = text_of(rita.get(page))
    assert "The same inputs give another answer." in shown
    assert "<code>allow</code> → <code>deny</code>" in shown


def test_who_may_not_read_what_was_sent_sees_the_proof_without_it(history):
    decide("read", context={"agent": "clerk"}, arguments={"to": "someone@example.com"})
    record = Record.objects.filter(kind="decision").latest("id")
    client = signed_in(staff("otto", groups=("operator",)))
    page = text_of(client.get(address("record", "change", record.pk)))
    assert "The same inputs give the same answer, member by member." in page
    assert "someone@example.com" not in page


def test_a_record_whose_text_is_gone_has_no_proof(rita, history):
    record = Record.objects.filter(kind="decision").earliest("id")
    RecordBody.objects.filter(pk=record.pk).delete()
    assert "Judged again" not in text_of(rita.get(address("record", "change", record.pk)))


def test_thousands_are_set_apart_on_the_page_and_plain_in_files(rita, history):
    hour = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
    RuleUsage.objects.create(hour=hour, tool="calc", outcome="allow", count=33_127)
    period = {"since": f"{hour - timedelta(days=1):%Y-%m-%d}", "until": f"{hour:%Y-%m-%d}"}
    page = text_of(rita.get(f"{START}oversight/", period))
    assert len(re.findall("33\u202f12[7-9]", page)) >= 4  # the sentence, the day, the tool
    assert not re.search("3312[7-9]", page)
    assert "33127" in body_of(rita.get(f"{START}oversight/csv/", period)).decode()
