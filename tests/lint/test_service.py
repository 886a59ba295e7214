"""Lint as a service: over what is live, sorted by what it is about, remembered while it holds."""

import copy
import io
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from tests.live import make_live, register, strict
from toolpolicy.engine.lint.check import lint as run_lint
from toolpolicy.engine.lint.findings import FindingCode
from toolpolicy.engine.lint.known import Question
from toolpolicy.engine.registry import Entry, Registry, ToolState
from toolpolicy.engine.values import Policy, Subject
from toolpolicy.models import SeenContext
from toolpolicy.services import lint, seen
from toolpolicy.services.baseline import BASELINE_LAYERS

pytestmark = pytest.mark.django_db


TARGET, KEY = FindingCode.TARGET_UNSEEN, FindingCode.WHEN_KEY_UNSEEN


def run_command():
    out = io.StringIO()
    call_command("policy", "lint", stdout=out)
    return out.getvalue()


def deny(rule_id, name):
    return {"id": rule_id, "effect": "deny", "match": {"name": name}}


@pytest.fixture
def _one_misspelt():
    register("kit", {"name": "kit_search"})
    make_live([strict(deny("good", "kit_*"), deny("typo", "kit_serch"))])


@pytest.mark.usefixtures("_one_misspelt")
def test_a_finding_is_looked_up_by_its_rule_and_its_layer():
    found = lint.findings()
    assert [one.code for one in found.by_rule("base", "typo")] == ["never_matches"]
    assert found.by_rule("base", "typo")[0].witness["nearest"] == "kit_search"
    assert found.by_layer("base") == found.by_rule("base", "typo")
    assert (
        found.by_rule("base", "good")
        == found.by_layer("none")
        == found.by_tool("kit", "kit_search")
        == ()
    )


@pytest.mark.usefixtures("_one_misspelt")
def test_lint_is_remembered_and_takes_four_queries_then(django_assert_num_queries):
    first = lint.findings()
    with django_assert_num_queries(4):
        assert lint.findings() is first


@pytest.mark.usefixtures("_one_misspelt")
def test_the_command_says_each_finding_with_its_remedy_and_how_many_there_are():
    said = run_command()
    assert (
        "warning: base / typo: it does not match the one registered tool; did you mean"
        " `kit_search`?  [never_matches]\n    Correct the pattern, or delete the rule.\n"
    ) in said
    assert "warning: baseline: untrusted content: the baseline is not as it was" in said
    assert said.endswith("\n4 warnings\n")


def test_a_policy_without_findings_is_said_to_be_so():
    make_live(changed(0))
    assert run_command() == "nothing found\n"


def test_a_tool_is_named_by_the_command_where_no_layer_is():
    register("kit", {"name": "get-file"}, {"name": "get_file"})
    make_live(changed(0))
    assert "notice: `kit/get-file` looks like `kit/get_file`" in run_command()


@pytest.mark.parametrize(("bound", "left"), [("MOST_KEYS", {TARGET}), ("MOST_VALUES", {KEY})])
def test_of_what_is_not_kept_whole_nothing_is_said_to_be_missing(monkeypatch, bound, left):
    register("kit", {"name": "a"})
    unseen = {**deny("r", "a"), "when": {"tennant": "x"}}
    make_live([strict(unseen), strict(name="agents", scope="agent", target="nobody", position=1)])
    SeenContext.objects.bulk_create(
        SeenContext(key=key, value=value)
        for key, value in (("agent", "coder"), ("channel", "slack"), ("tenant", "acme"))
    )
    assert {TARGET, KEY} <= {one.code for one in lint.findings().found}
    monkeypatch.setattr(seen, bound, 1)
    found = {one.code for one in lint.findings().found} & {TARGET, KEY}
    assert found == left


def test_what_was_found_is_found_anew_once_the_time_changes_it():
    end = timezone.now() + timedelta(days=20)
    settings = {"rules": {"r": {"expires_at": end.isoformat()}}}
    register("kit", {"name": "a"})
    make_live([strict(deny("r", "a"), settings=settings)])
    codes = {}
    for days in (0, 5, 7, 21, 0):
        found = lint.findings(timezone.now() + timedelta(days=days))
        codes[days] = [one.code for one in found.by_layer("base")]
    assert codes == {0: [], 5: [], 7: ["expires_soon"], 21: ["expired"]}


def test_a_registry_of_old_may_hold_names_that_differ_by_case_alone():
    entries = [
        Entry(subject=Subject(name=name), family=family, state=ToolState.ACTIVE, declaration="")
        for family, name in (("kit", "send_mail"), ("other", "Send_Mail"), ("third", "send_mail"))
    ]
    question = Question(policy=Policy(), registry=Registry(entries), now=timezone.now())
    (twins,) = run_lint(question)
    assert (twins.code, twins.layer) == ("case_twins", None)
    assert twins.witness["names"] == ["kit/send_mail", "other/Send_Mail"]
    assert lint.Findings.of([twins]).by_tool("third", "send_mail") == (twins,)


def changed(place, **settings):
    """Return the baseline layers, one with other settings."""
    entries = [{**entry, "position": n} for n, entry in enumerate(copy.deepcopy(BASELINE_LAYERS))]
    entries[place]["settings"].update(settings)
    return entries


def baseline_findings():
    found = lint.findings().found
    return {one.layer: one.witness["changes"] for one in found if one.code == "baseline_changed"}


def test_the_baseline_as_it_was_installed_is_no_departure():
    make_live([{**entry, "position": entry["position"] + 7} for entry in changed(0)])
    assert baseline_findings() == {}


def test_a_rule_of_the_baseline_is_kept_even_where_it_adds_nothing():
    register("kit", {"name": "a", "hints": {"destructive": True}})
    make_live(changed(0))
    assert {one.code for one in lint.findings().found} == {"value_unknown"}


def test_every_departure_from_the_baseline_is_told():
    entries = changed(1, fail_safe=False)
    entries[0]["policy"]["default"] = "deny"
    rules = entries[1]["policy"]["rules"]
    rules[0]["reason"] = "another"
    rules[1]["id"] = "renamed"
    make_live(entries[:2])
    assert baseline_findings() == {
        "baseline: declared approval": ["its default is `deny`"],
        "baseline: read-only sandbox": [
            "`fail_safe` is off",
            "the rule `destructive-hint` was changed",
            "the rule `destructive-side-effect` is missing",
            "the rule `renamed` was added",
        ],
        "baseline: untrusted content": ["the layer is missing"],
    }


def test_a_baseline_layer_of_another_kind_is_told():
    entries = changed(2, observe=False, valid_until="2099-01-01T00:00:00Z")
    entries[1] |= {"scope": "agent", "target": ["coder", "writer"]}
    policy = {"name": "baseline: declared approval", "rules": []}
    entries[0] |= {"combining": "last_match", "settings": {}, "policy": policy}
    make_live(entries)
    assert baseline_findings() == {
        "baseline: declared approval": ["its rules combine in another way"],
        "baseline: read-only sandbox": [
            "`scope` is `agent`",
            "`target` is `coder`, `writer`",
            "`may_waive_approval` is off",
        ],
        "baseline: untrusted content": [
            "`observe` is off",
            "`valid_until` is 2099-01-01T00:00:00Z",
        ],
    }
