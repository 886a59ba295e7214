"""The history: its list, what each version changed, the way back, and who may see and go it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin.pages import address, count_of, decide, signed_in, staff, text_of
from tests.admin.versions import COMPARE, page_of, plain, three_versions
from tests.factories import SYSTEM, live_version, make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.admin.versions import VersionPage
from toolpolicy.services import policies

pytestmark = pytest.mark.django_db
ROLES = ("author", "publisher", "approver", "auditor", "operator")


@pytest.fixture
def history(db):
    return three_versions()


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
