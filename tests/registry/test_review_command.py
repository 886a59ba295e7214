"""`manage.py tools review`: what changed since the review, and what somebody says of it."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.registry.samples import ADMIN, imported, last_record, tool
from toolpolicy.models import Tool
from toolpolicy.services import registry

pytestmark = pytest.mark.django_db


def run(*arguments: object) -> str:
    out = StringIO()
    call_command("tools", "review", *map(str, arguments), stdout=out)
    return out.getvalue()


@pytest.fixture
def changed():
    imported({"tools": [tool("run", description="Runs.")]})
    first = Tool.objects.get().current_id
    imported({"tools": [tool("run", description="Runs\u202e it.", outputSchema={})]})
    return first, Tool.objects.get().current_id


def test_a_review_shows_each_change_before_and_after_with_nothing_unprintable(changed):
    reviewed, current = changed
    assert run("box/run").splitlines() == [
        f"box/run is changed, declared as {current}",
        f"reviewed as {reviewed}; since then:",
        "  wording: /description",
        '    - "Runs."',
        '    + "Runs\\u202e it."',
        "  other: /other/outputSchema",
        "    + {}",
    ]
    assert Tool.objects.get().state == "changed"


@pytest.mark.parametrize(
    ("flag", "state"),
    [("--accept", "active"), ("--quarantine", "quarantined"), ("--retire", "retired")],
)
def test_a_verdict_is_carried_out_and_recorded(changed, flag, state):
    out = run("box/run", flag, "--declaration", changed[1])
    assert out.splitlines()[-1] == f"it is {state} now"
    assert Tool.objects.get().state == state
    record, body = last_record()
    assert (record.actor_label, body["after"]["state"]) == ("tools review", state)


def test_a_review_as_json_is_the_services_own(changed):
    shown = registry.review_of(Tool.objects.get()).wire()
    assert json.loads(run("box/run", "--json")) == shown
    accepting = ("--accept", "--declaration", changed[1])
    assert json.loads(run("box/run", *accepting, "--json")) == {**shown, "state": "active"}


@pytest.mark.usefixtures("changed")
def test_what_may_have_come_in_since_somebody_looked_is_not_accepted():
    with pytest.raises(CommandError, match="name the declaration that was read"):
        run("box/run", "--accept")
    assert Tool.objects.get().state == "changed"


def test_only_the_declaration_that_is_named_is_accepted(changed):
    with pytest.raises(CommandError, match="declared anew meanwhile"):
        run("box/run", "--accept", "--declaration", changed[0])
    assert Tool.objects.get().state == "changed"
    run("box/run", "--accept", "--declaration", changed[1])
    assert Tool.objects.get().state == "active"


def test_a_tool_that_did_not_change_or_was_never_reviewed_says_so():
    imported({"tools": [tool("run")]})
    assert run("box/run").splitlines()[1] == "it declares what was reviewed"
    Tool.objects.update(reviewed=None)
    assert run("box/run").splitlines()[1] == "nobody ever reviewed it"


def test_a_long_value_is_cut():
    imported({"tools": [tool("run", description="x")]})
    imported({"tools": [tool("run", description="y" * 5000)]})
    assert run("box/run").splitlines()[-1].endswith("y… (5002 characters)")


def test_two_verdicts_and_an_unknown_tool_are_refused():
    with pytest.raises(CommandError, match="there is no tool `box/nope`"):
        run("box/nope")
    with pytest.raises(CommandError, match="not allowed with"):
        run("box/nope", "--accept", "--retire")


def test_a_bare_name_is_no_tool():
    registry.create_family(actor=ADMIN, values={"name": "box"})
    with pytest.raises(CommandError, match="there is no tool `run/`"):
        run("run")
