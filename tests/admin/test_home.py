"""The home page: what is live, what was answered today, or how to begin."""

import html
import re
from datetime import timedelta
from unittest import mock

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from tests.admin.pages import address, decide, signed_in, staff, text_of
from tests.admin.test_pages import fill
from tests.audit.logs import sealed_log, write_records
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.models import Layer, PolicyVersion, RuleUsage, ToolFamily
from toolpolicy.services import freezes, health
from toolpolicy.services.starters import STARTERS

pytestmark = pytest.mark.django_db
HOME = "admin:index"


def test_without_a_policy_it_says_that_every_call_is_refused(root):
    page = text_of(root.get(reverse(HOME)))
    assert "every call is refused" in page


def test_until_the_first_decision_it_shows_how_to_ask_and_waits(root, baseline):
    page = text_of(root.get(reverse(HOME)))
    assert "curl -s http://testserver/api/v1/decisions/" in page
    assert "Waiting for the first call" in page
    assert "waits for its first question" in page
    assert "Version 1" in page
    decide("read")
    page = text_of(root.get(reverse(HOME)))
    assert "curl" not in page
    assert "Waiting" not in page
    assert "Nothing stands out: <b>0 of 1 call</b>" in page


def test_it_charts_the_answers_of_24_hours_by_outcome_with_the_same_in_words(root, baseline):
    make_rule(make_layer(), match={"name": "drop"})
    for name in ("read", "read", "drop"):
        decide(name)
    response = root.get(reverse(HOME))
    strips = response.context["overview"]["strips"]
    assert [(strip.word, strip.total, len(strip.hours)) for strip in strips] == [
        ("Allowed", 2, 24),
        ("Needs approval", 0, 24),
        ("Denied", 1, 24),
    ]
    page = text_of(response)
    assert page.count('role="img" aria-label="') == 3
    assert "UTC: 0 to 2 an hour." in page
    assert "The same as numbers" in page
    assert response.context["overview"]["top"] == [("", "drop", 1, 1)]


def test_an_hour_that_stands_out_is_the_first_sentence(root, baseline):
    decide("read")
    at = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
    RuleUsage.objects.create(hour=at, tool="post", outcome="deny", count=61)
    lead = text_of(root.get(reverse(HOME))).split('class="tp-lead">')[1].split("</p>")[0]
    assert "<b>61 denials between" in lead
    assert f">{at:%H:%M}</time> and" in lead
    assert "post</a>" in lead


@pytest.mark.parametrize("name", list(STARTERS))
def test_a_first_policy_is_read_as_sentences_and_is_live_at_a_click(root, baseline, name):
    page = root.get(reverse(HOME))
    assert STARTERS[name].says in html.unescape(text_of(page))
    assert len(page.context["overview"]["starters"]) == 3
    assert not Layer.objects.filter(name=STARTERS[name].title).exists()
    done = root.post(reverse("admin:toolpolicy_start", args=(name,)), follow=True)
    assert f"“{STARTERS[name].title}” is live" in text_of(done)
    assert Layer.objects.get(name=STARTERS[name].title).rules.count() == 1
    assert done.context["overview"]["starters"] == []


@pytest.mark.parametrize(
    ("name", "read", "unknown", "write"),
    [
        ("observe", "allow", "allow", "allow"),
        ("ask", "allow", "needs_approval", "needs_approval"),
        ("read-only", "allow", "deny", "deny"),
    ],
)
def test_a_first_policy_does_what_it_says(root, baseline, name, read, unknown, write):
    imported(
        {
            "tools": [
                {"name": "look", "annotations": {"readOnlyHint": True}},
                {"name": "change", "annotations": {"readOnlyHint": False}},
            ]
        },
        family="box",
    )
    ToolFamily.objects.update(trusted=True)
    root.post(reverse("admin:toolpolicy_start", args=(name,)))
    found = [str(decide(tool).outcome) for tool in ("look", "nobody_knows", "change")]
    assert found == [read, unknown, write]


def test_a_first_policy_is_made_once_and_only_one_that_there_is(root, baseline):
    page = reverse("admin:toolpolicy_start", args=("ask",))
    root.post(page)
    again = root.post(page, follow=True)
    assert "was there already" in text_of(again)
    assert PolicyVersion.objects.count() == 2
    assert root.get(page).status_code == 405
    assert root.post(reverse("admin:toolpolicy_start", args=("x",))).status_code == 404


def test_it_names_what_is_frozen_and_lifts_it(root):
    freeze = freezes.freeze(
        actor=SYSTEM, values={"kind": "agent", "value": "<i>bot", "reason": "<b>loop"}
    )
    page = text_of(root.get(reverse(HOME)))
    assert "Frozen now" in page
    assert "&lt;i&gt;bot" in page
    assert "“&lt;b&gt;loop”" in page
    root.post(address("freeze"), {"action": "lift", "_selected_action": freeze.pk})
    page = text_of(root.get(reverse(HOME)))
    assert "Frozen now" not in page
    assert ", lifted " in page


def test_it_says_what_changed_what_lint_found_and_which_tools_wait(root, baseline):
    imported(named("read"), family="box")
    imported({"tools": [{"name": "read", "description": "other"}]})
    make_rule(make_layer("house rules"), id="typo", match={"name": "raed"})
    decide("read")
    page = text_of(root.get(reverse(HOME)))
    assert "added the rule <code>typo</code> of the layer <code>house rules</code>" in page
    assert "changed since its review" in page
    assert "tool import" in page
    assert "<b>typo</b>: " in page
    assert re.search(r"<dd>\d fault|<dd>\d+ warning", page)


def test_what_is_wrong_with_the_server_is_said_first(root, baseline, monkeypatch):
    said = {"database": "ok", "policy": "ok", "triggers": "2 triggers do not stand"}
    monkeypatch.setattr(health, "readiness", lambda: said)
    page = text_of(root.get(reverse(HOME)))
    assert "Something is wrong with this server:</b> 2 triggers do not stand." in page


def test_it_asks_the_same_number_of_queries_at_one_row_and_at_many(root, baseline):
    fill(1)
    root.get(reverse(HOME))
    with CaptureQueriesContext(connection) as few:
        text_of(root.get(reverse(HOME)))
    for number in range(2, 12):
        fill(number)
    root.get(reverse(HOME))  # lints once and remembers
    with CaptureQueriesContext(connection) as many:
        page = text_of(root.get(reverse(HOME)))
    assert len(many) == len(few) == 32
    assert len(page) < 100_000


def test_it_shows_a_person_only_what_they_may_see(baseline):
    decide("read")
    operator = signed_in(staff("olga", groups=("operator",)))
    page = text_of(operator.get(reverse(HOME)))
    assert "API clients" in page
    for hidden in ("Live policy", "Decisions per hour", "Most denied", "Findings", "Choose how to"):
        assert hidden not in page
    nobody = signed_in(staff("nora"))
    assert "in no group" in text_of(nobody.get(reverse(HOME)))
    assert "The database answers" not in text_of(nobody.get(reverse(HOME)))


def test_it_says_how_far_the_records_are_sealed(root, baseline):
    sealed_log(1)
    assert "block 1, nothing waits" in text_of(root.get(reverse(HOME)))
    write_records(1)
    later = timezone.now() + timedelta(seconds=30)
    with mock.patch.object(timezone, "now", return_value=later):
        assert "block 1, 30 s behind" in text_of(root.get(reverse(HOME)))
