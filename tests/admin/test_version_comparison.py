"""Any two versions compared: in sentences, line by line, and by the answers that change."""

import json
import re

import pytest

from tests.admin.pages import decide, text_of
from tests.admin.versions import COMPARE, plain, three_versions
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.admin.version_texts import AROUND, compared
from toolpolicy.services import policies

pytestmark = pytest.mark.django_db


@pytest.fixture
def history(db):
    return three_versions()


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
