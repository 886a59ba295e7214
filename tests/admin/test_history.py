"""The history: what each version changed, any two compared, and the way back."""

import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin.pages import address, count_of, decide, signed_in, staff, text_of
from tests.factories import SYSTEM, live_version, make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.admin.version_texts import AROUND, compared
from toolpolicy.admin.versions import VersionPage
from toolpolicy.models import PolicyVersion
from toolpolicy.services import policies

pytestmark = pytest.mark.django_db
COMPARE = address("policyversion", "compare")
ROLES = ("author", "publisher", "approver", "auditor", "operator")


@pytest.fixture
def history(db):
    """Make three versions: a layer, a rule of it, and the rule changed."""
    imported(named("calc", "mail_send"))
    layer = make_layer("house rules")
    rule = make_rule(layer, id="no-mail", match={"name": "mail_*"}, reason="first")
    policies.update_rule(
        actor=SYSTEM,
        rule=rule.pk,
        version=layer.version,
        values={"match": {"name": ["mail_*", "calc"]}, "when": {"agent": "clerk"}},
    )
    return layer


def page_of(number: int, page: str = "change") -> str:
    return address("policyversion", page, PolicyVersion.objects.get(number=number).pk)


def plain(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page.replace("<wbr>", "")).split())


def test_the_list_leads_to_what_changed_and_to_what_was_judged(root, history):
    page = text_of(root.get(address("policyversion")))
    assert f"{COMPARE}?before=2&amp;after=3" in page
    assert f"{address('record')}?kind=decision&amp;policy_version=3" in page
    assert "the first one" in page


def test_versions_are_paged_by_number_both_ways_and_counted_nowhere(root, history, monkeypatch):
    monkeypatch.setattr(VersionPage, "list_per_page", 2)
    for name in ("x1", "x2", "x3"):
        make_rule(history, match={"name": name})

    def shown(query):
        with CaptureQueriesContext(connection) as asked:
            listed = root.get(address("policyversion") + query).context["cl"]
        about = [one["sql"] for one in asked if 'FROM "toolpolicy_policyversion"' in one["sql"]]
        assert not any("COUNT(" in sql for sql in about)
        return [one.number for one in listed.result_list], listed

    found, first = shown("")
    assert (found, first.newer) == ([6, 5], "")
    found, second = shown(first.older)
    assert found == [4, 3]
    found, last = shown(second.older)
    assert (found, last.older) == ([2, 1], "")
    assert shown(last.newer)[0] == [4, 3]
    found, narrowed = shown("?q=added+the+rule")
    assert found == [6, 5]
    assert "q=added" in narrowed.older
    assert shown(narrowed.older)[0] == [4, 2]
    assert shown("?before=4&o=1")[0] == [3, 2]  # no other order is asked for


@pytest.mark.parametrize("place", ["before=x", "after=-1", f"before={'9' * 18}"])
def test_a_strange_place_in_the_versions_is_no_error(root, history, place):
    listed = root.get(f"{address('policyversion')}?{place}").context["cl"]
    assert [one.number for one in listed.result_list] == [3, 2, 1]


def test_the_decisions_of_a_version_are_those_that_it_judged(root, history):
    decide("calc")
    make_rule(history, match={"name": "x"})
    decide("mail_send")
    page = text_of(root.get(address("record"), {"kind": "decision", "policy_version": 3}))
    assert "calc" in page
    assert "mail_send" not in page
    wrong = text_of(root.get(address("record"), {"policy_version": "x"}))
    assert "Enter a whole number." in wrong


def test_a_version_says_who_when_and_why_and_what_it_changed(root, history):
    page = text_of(root.get(page_of(3)))
    assert count_of("h1", page) == 1
    said = plain(page)
    assert "Changed the rule no-mail of the layer house rules . This is the live policy." in said
    assert "By tests" in said
    assert "Since version 2" in said
    assert '<code>mail_*</code> or <ins class="tp-allow"><code>calc</code></ins>' in page
    assert '<ins class="tp-allow">, when <b>agent</b> is <code>clerk</code></ins>' in page
    assert "<del" not in page
    assert "Roll back" not in page  # it is live
    assert "Since version" not in text_of(root.get(page_of(1)))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (1, 2, "1 added, 0 removed, 0 changed, 0 moved only tightens"),
        (2, 1, "0 added, 1 removed, 0 changed, 0 moved only loosens"),
        (2, 2, "No difference"),
        (2, 3, "0 added, 0 removed, 1 changed, 0 moved Sentences"),
    ],
)
def test_any_two_versions_are_compared(root, history, before, after, said):
    page = plain(text_of(root.get(COMPARE, {"before": before, "after": after})))
    assert f"Version {after} against version {before}" in page
    assert said in page


def test_a_comparison_says_which_answers_change(root, history):
    decide("calc", context={"agent": "clerk"})
    decide("calc", context={"agent": "coder"})
    page = plain(text_of(root.get(COMPARE, {"before": 2, "after": 3})))
    # Of the two agents, one meets the rule for one more tool, and the other for none any more.
    assert "Of 4 calls, 1 is answered looser and 1 stricter." in page
    assert "mail_send coder Denied Allowed calc clerk Allowed Denied" in page
    none = plain(text_of(root.get(COMPARE, {"before": 3, "after": 3})))
    assert "None found in 4 calls." in none
    policies.create_rule(
        actor=SYSTEM, layer=history.pk, values={"effect": "hide", "match": {"name": "calc"}}
    )
    hidden = plain(text_of(root.get(COMPARE, {"before": 3, "after": 4})))
    assert "0 are answered looser and 0 stricter. 1 has the same outcome" in hidden


def waiting(*patterns):
    return {"name": "calc", "arg": {"pointer": "/branch", "value": list(patterns)}}


def test_a_comparison_says_on_each_side_what_depends_on_arguments(root, db):
    imported(named("calc"))
    rule = make_rule(make_layer("house rules"), match=waiting("main"))
    values = {"match": waiting("main", "next")}
    policies.update_rule(actor=SYSTEM, rule=rule.pk, version=rule.layer.version, values=values)
    page = plain(text_of(root.get(COMPARE, {"before": 2, "after": 3})))
    assert page.count("Allowed depends on arguments deny by argument /branch ( main") == 2
    assert "( main , next )" in page
    page = plain(text_of(root.get(COMPARE, {"before": 1, "after": 2})))
    assert "Allowed Allowed depends on arguments deny by argument /branch ( main )" in page
    page = plain(text_of(root.get(COMPARE, {"before": 2, "after": 1})))
    assert "Allowed depends on arguments deny by argument /branch ( main ) Allowed" in page


def test_a_comparison_says_what_is_listed_no_more(root, db):
    imported(named("calc"))
    make_rule(make_layer("house rules"), effect="hide", match={"name": "calc"})
    page = plain(text_of(root.get(COMPARE, {"before": 1, "after": 2})))
    assert "Allowed listed Allowed not listed" in page


def test_the_same_is_shown_line_by_line(root, history):
    page = text_of(root.get(COMPARE, {"before": 2, "after": 3, "as": "json"}))
    lines = re.findall(r'<tr class="tp-(\w+)"><td>.*?</td><td[^>]*>(.*?)</td>', page, re.DOTALL)
    assert ("allow", "            &quot;when&quot;: {") in lines
    assert "alike</td>" in page
    assert "Answers that change" in page
    same = text_of(root.get(COMPARE, {"before": 2, "after": 2, "as": "json"}))
    assert "No line differs." in same


def test_lines_alike_are_folded_and_nothing_is_lost():
    before = {"rules": [f"rule {number}" for number in range(40)], "end": list(range(20))}
    after = json.loads(json.dumps(before))
    after["rules"][10] = "other"
    del after["rules"][30]
    lines = compared(before, after)
    assert [line.text for line in lines if line.fate == "added"] == ['    "other",']
    removed = [line.text for line in lines if line.fate == "removed"]
    assert removed == ['    "rule 10",', '    "rule 30",']
    folded = [int(line.text.split()[0]) for line in lines if line.fate == "folded"]
    kept = sum(line.fate == "kept" for line in lines)
    whole = len(json.dumps(before, indent=2).splitlines())
    assert sum(folded) + kept + len(removed) == whole
    assert kept == 4 * AROUND
    assert compared(before, before) == []
    assert compared({"a": 1}, {"a": 2, "b": 3})[0].text == "{"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"before": "1"}, "This field is required."),
        ({"before": "1", "after": "99"}, "There is no policy version 99"),
        ({"before": "x", "after": "1"}, "Enter a whole number."),
        ({"before": "0", "after": "9" * 30}, "greater than or equal to 1"),
    ],
)
def test_what_is_wrong_with_a_comparison_stands_beside_its_field(root, history, asked, said):
    page = text_of(root.get(COMPARE, asked))
    assert said in page
    assert "Answers that change" not in page


def test_rolling_back_shows_what_changes_and_does_it_with_its_reason(root, history):
    page = text_of(root.get(page_of(2, "roll_back")))
    assert "Version 3 is live" in page
    assert ' or <del class="tp-deny"><code>calc</code></del>' in page
    assert "Answers that change" in page
    assert live_version().number == 3
    sent = {"seen": "3", "why": "too wide"}
    answer = root.post(page_of(2, "roll_back"), sent, follow=True)
    assert "Rolled back to version 2: version 4 is live." in text_of(answer)
    assert live_version().comment == "rolled back to version 2: too wide"
    assert live_version().published_by_label == "root"
    assert policies.diff(before=2, after=4) == []


def test_nothing_is_rolled_back_when_somebody_published_meanwhile(root, history):
    make_layer("another")
    answer = root.post(page_of(2, "roll_back"), {"seen": "3", "why": "too wide"}, follow=True)
    page = text_of(answer)
    assert "Version 4 was published meanwhile. Nothing was rolled back" in page
    assert 'value="too wide"' in page
    assert 'name="seen" value="4"' in page
    assert live_version().number == 4


def test_the_live_policy_is_not_rolled_back_to_and_a_slip_is_told(root, history):
    for send in (root.get, root.post):
        page = text_of(send(page_of(3, "roll_back"), follow=True))
        assert "This is the live policy already" in page
    answer = root.post(page_of(2, "roll_back"), {"seen": "x", "why": "y" * 501})
    assert "at most 500 characters" in text_of(answer)
    assert live_version().number == 3
    assert root.get(address("policyversion", "roll_back", 9999)).status_code == 404
    assert root.get(address("policyversion", "change", 9999)).status_code == 404


def test_the_baseline_stays_protected(history):
    policies.install_baseline(actor=SYSTEM)
    client = signed_in(staff("pat", groups=("publisher",)))
    before = live_version().number
    answer = client.post(page_of(3, "roll_back"), {"seen": before}, follow=True)
    assert "baseline layers can be changed only with the permission" in text_of(answer)
    assert live_version().number == before


@pytest.mark.parametrize("role", ROLES)
def test_only_publishers_roll_back(role, history):
    client = signed_in(staff(role, groups=(role,)))
    sees, publishes = role != "operator", role == "publisher"
    for page in (page_of(2), f"{COMPARE}?before=1&after=2", address("policyversion")):
        assert client.get(page).status_code == (200 if sees else 403)
    if sees:
        page = text_of(client.get(page_of(2)))
        assert (page_of(2, "roll_back") in page) == publishes
    assert client.get(page_of(2, "roll_back")).status_code == (200 if publishes else 403)
    answer = client.post(page_of(2, "roll_back"), {"seen": "3"})
    assert answer.status_code == (302 if publishes else 403)
    assert live_version().number == (4 if publishes else 3)


@pytest.mark.parametrize("reads", [True, False])
def test_only_who_reads_records_is_led_to_them(reads, history):
    held = ("view_policyversion", *(["view_record"] if reads else []))
    client = signed_in(staff("pat", permissions=held))
    for page in (address("policyversion"), page_of(2)):
        assert ("policy_version=2" in text_of(client.get(page))) == reads


def test_nobody_without_a_login_compares_or_rolls_back(client, history):
    for page in (COMPARE, page_of(2, "roll_back")):
        assert client.get(page)["Location"].startswith("/admin/login/")
    assert client.post(page_of(2, "roll_back"), {"seen": "3"}).status_code == 302
    assert live_version().number == 3


@pytest.mark.parametrize("page", ["version", "compare", "roll_back"])
def test_a_page_asks_the_same_for_one_rule_and_for_many(root, history, page):
    def queries() -> int:
        last = live_version().number
        where = {
            "version": page_of(last),
            "compare": f"{COMPARE}?before=1&after={last}",
            "roll_back": page_of(1, "roll_back"),
        }[page]
        text_of(root.get(where))
        with CaptureQueriesContext(connection) as found:
            text_of(root.get(where))
        return len(found)

    few = queries()
    imported(named(*[f"tool_{number}" for number in range(20)]), family="other")
    for number in range(20):
        make_rule(history, match={"name": f"tool_{number}"})
    assert queries() == few


def test_stored_text_is_escaped(root, history):
    history.refresh_from_db()
    make_rule(history, match={"name": "<i>\u202ename"}, reason="<u>\u202ewhy")
    last = live_version().number
    for page in (page_of(last), f"{COMPARE}?before={last - 1}&after={last}&as=json"):
        shown = text_of(root.get(page))
        assert "\u202e" not in shown
        for tag in ("<i>", "<u>"):
            assert tag not in shown
