"""captain's baseline case, exactly (the end of SPEC §4), on the demo's own ordered layers."""

import pytest

from tests.demo.conftest import ACTOR
from toolpolicy.engine.questions import parse_list_question, parse_question
from toolpolicy.models import Layer
from toolpolicy.services import decisions, lint, policies

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loaded")]

READS = ("xero_invoices_list", "xero_invoices_get")


def answer(tool: str, surface: str = "call"):
    document = {"surface": surface, "tool": tool, "arguments": {}, "context": {}}
    return decisions.decide(asker=ACTOR, question=parse_question(document))


def listed(surface: str) -> list[str]:
    question = parse_list_question({"surface": surface, "context": {}})
    return decisions.list_tools(asker=ACTOR, question=question).names


def layer(name: str) -> Layer:
    return Layer.objects.get(name=name)


@pytest.mark.parametrize("tool", READS)
def test_a_baseline_off_loses_to_the_verb_default_below_it(tool):
    baseline = layer("ordered 1: group baselines").rules.get(rule_id="xero-read-off")
    assert (baseline.effect, baseline.match) == ("off", {"group": "provider.xero.read"})
    verbs = layer("ordered 2: verb defaults").rules.get(rule_id="reads-on")
    assert (verbs.effect, verbs.match) == ("on", {"verb": "list,get"})
    assert (answer(tool).outcome, answer(tool).reason_code) == ("allow", "allowed")
    for surface in ("catalog", "search"):
        assert answer(tool, surface).outcome == "list"
        assert tool in listed(surface)


def test_lint_says_that_the_baseline_is_overruled_until_the_app_rules_say_off():
    place = ("ordered 1: group baselines", "xero-read-off")
    (found,) = lint.findings().by_rule(*place)
    assert (found.code, found.severity) == ("baseline_overruled", "fault")
    assert set(READS) <= {tool.removeprefix("xero/") for tool in found.witness["tools"]}
    assert found.witness["by"][0]["rule"] == "reads-on"
    policies.create_rule(
        actor=ACTOR,
        layer=layer("ordered 4: app rules").pk,
        values={"id": "books-off", "effect": "off", "match": {"group": "provider.xero.read"}},
    )
    assert [one.code for one in lint.findings().by_rule(*place)] == ["redundant"]


@pytest.mark.parametrize("tool", READS)
def test_an_off_in_the_app_rules_holds_on_every_surface(tool):
    policies.create_rule(
        actor=ACTOR,
        layer=layer("ordered 4: app rules").pk,
        values={"id": "books-off", "effect": "off", "match": {"group": "provider.xero.read"}},
    )
    for surface in ("catalog", "search", "call"):
        refused = answer(tool, surface)
        assert (refused.outcome, refused.reason_code) == ("deny", "rule_off")
        blocked = refused.document["blocked_by"]
        assert (blocked["layer"], blocked["rule"]) == ("ordered 4: app rules", "books-off")
    for surface in ("catalog", "search"):
        assert tool not in listed(surface)


def test_the_demos_own_app_rule_holds_for_payslips():
    for tool in ("xero_payslips_list", "xero_payslips_get"):
        blocked = answer(tool).document["blocked_by"]
        assert (blocked["layer"], blocked["rule"]) == ("ordered 4: app rules", "payslips-off")


def test_a_later_ordered_layer_overrules_an_off_but_waives_no_approval():
    def voiding(**context):
        document = {
            "surface": "call",
            "tool": "xero_invoices_delete",
            "arguments": {},
            "context": context,
        }
        return decisions.decide(asker=ACTOR, question=parse_question(document))

    assert voiding().reason_code == "rule_off"
    assert voiding(agent="bookkeeper").outcome == "needs_approval"
    drafting = {
        "surface": "call",
        "tool": "xero_invoices_create",
        "arguments": {},
        "context": {"agent": "bookkeeper"},
    }
    drafted = decisions.decide(asker=ACTOR, question=parse_question(drafting))
    assert drafted.outcome == "needs_approval"


def test_a_default_off_refuses_where_no_rule_speaks():
    refused = answer("record_screen")
    assert (refused.reason_code, refused.document["blocked_by"]) == ("tool_default_off", None)
    assert "record_screen" not in listed("catalog")
