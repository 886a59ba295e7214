"""What differs in a rule or layer is told whole and alike: in a report, a command and a page."""

import io
import re
from typing import Any

import pytest
from django.core.management import call_command

from tests.admin.pages import address, signed_in, staff, text_of
from tests.evidence.asked import changes
from tests.factories import SYSTEM, make_layer, make_rule
from toolpolicy.services import policies

pytestmark = pytest.mark.django_db
END = "2099-01-01T00:00:00Z"
MANY = [f"n{number}" for number in range(12)]


@pytest.fixture
def rule(db):
    return make_rule(make_layer("house rules"), id="r", match={"name": "a"}, reason="it is old")


def changed(rule: Any, **values: Any) -> int:
    """Change the rule, and return the version that it was before."""
    rule.layer.refresh_from_db()
    version = rule.layer.version
    policies.update_rule(actor=SYSTEM, rule=rule.pk, version=version, values=values)
    number = policies.version_or_live().number
    assert number
    return number - 1


def told(before: int) -> tuple[str, str, str]:
    """Return what the report, the command and the page say, without their marks."""
    [sentence] = changes()[0]["sentences"]
    out = io.StringIO()
    call_command("policy", "diff", str(before), str(before + 1), stdout=out)
    asked = {"before": before, "after": before + 1}
    client = signed_in(staff("reader", permissions=("view_policyversion",)))
    page = text_of(client.get(address("policyversion", "compare"), asked))
    return sentence, out.getvalue(), re.sub(r"<[^>]+>", "", page)


@pytest.mark.parametrize(
    ("values", "line", "in_page"),
    [
        ({"enabled": False}, "enabled: true → false", None),
        ({"observe": True}, "", None),
        ({"expires_at": END}, f"expires_at: nothing → {END}", f"nothing → &quot;{END}&quot;"),
        ({"reason": "it is new"}, 'reason: "it is old" → "it is new"', None),
        (
            {"examples": [{"tool": "a", "expect": "deny"}]},
            'examples: added {"expect":"deny","tool":"a"}',
            None,
        ),
    ],
)
def test_every_setting_that_changes_is_told_everywhere(rule, values, line, in_page):
    sentence, command, page = told(changed(rule, **values))
    words = "Would deny tools named `a`" if "observe" in values else "Deny tools named `a`"
    assert words in sentence
    assert words in command
    assert line in sentence
    assert line in command
    assert (in_page or line.replace('"', "&quot;")) in page


def test_an_element_of_a_list_that_stays_is_never_told_to_have_gone(rule):
    before, after = ["main", "release/*"], ["main", "release/*", "hotfix/*", "unfinished"]
    changed(rule, match={"arg": {"pointer": "/branch", "value": before}})
    sentence, command, page = told(
        changed(rule, match={"arg": {"pointer": "/branch", "value": after}})
    )
    line = "match.arg.value: added `hotfix/*`, `unfinished`"
    assert sentence.endswith(f"; {line}")
    assert f"      {line}\n" in command
    assert "is main, release/*, hotfix/* or unfinished" in page
    for text in (sentence, command):
        assert not re.search(r"\[-|-\]|\{\+|\+\}|removed", text)


def test_where_more_differs_than_a_list_both_sentences_are_told(rule):
    sentence, command, _page = told(changed(rule, match={"name": "b"}, when={"agent": "x"}))
    both = "Deny tools named `a` → Deny tools named `b`, when agent is `x`"
    assert sentence.endswith(f": {both}")
    assert f"      {both}\n" in command


def test_what_a_long_list_does_not_say_is_told_beside_it(rule):
    changed(rule, match={"name": MANY})
    sentence, command, page = told(changed(rule, match={"name": [*MANY, "extra"]}, on=["call"]))
    assert "match.name: added `extra`" in sentence
    assert "match.name: added `extra`" in command
    assert "match.name: added &quot;extra&quot;" in page


def test_what_was_added_switched_off_is_not_told_to_act(rule):
    rule.layer.refresh_from_db()
    make_rule(rule.layer, id="later", match={"name": "x"}, enabled=False)
    sentence, command, page = told(policies.version_or_live().number - 1)
    for text in (sentence, command, page):
        assert "enabled: false" in text


def test_a_layer_is_told_like_a_rule(rule):
    rule.layer.refresh_from_db()
    layer = rule.layer
    policies.update_layer(
        actor=SYSTEM, layer=layer.pk, version=layer.version, values={"enabled": False}
    )
    sentence, command, page = told(policies.version_or_live().number - 1)
    for text in (sentence, command, page):
        assert "enabled: true → false" in text
