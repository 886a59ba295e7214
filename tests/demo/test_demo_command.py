"""`manage.py demo`: loads once, says what to ask, and leaves what is somebody's own alone."""

import json
import shlex
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.demo.conftest import ACTOR
from tests.registry.samples import needs_published, published
from toolpolicy.engine.mcp import HINTS
from toolpolicy.models import Layer, PolicyVersion, Record, Tool, ToolFamily
from toolpolicy.services import demo, demo_traffic, policies, registry

pytestmark = pytest.mark.django_db


def run(name: str, *arguments: str) -> str:
    out = StringIO()
    call_command(name, *arguments, stdout=out)
    return out.getvalue()


def everything():
    tables = (Layer, ToolFamily, Tool, PolicyVersion, Record)
    return [list(table.objects.order_by("pk").values()) for table in tables]


def test_the_first_run_adds_everything_as_one_version_and_says_so():
    policies.install_baseline(actor=ACTOR)
    before = PolicyVersion.objects.count()
    assert demo.others() == ()
    lines = run("demo").splitlines()
    assert PolicyVersion.objects.count() == before + 1
    assert lines[0].startswith("demo: added 11 families with 121 tools and 10 layers")
    assert "  family github: 26 tools" in lines
    assert "  layer house rules" in lines
    assert Tool.objects.count() == 121
    assert set(Tool.objects.values_list("state", flat=True)) == {"active"}


def test_a_second_run_changes_nothing_at_all(loaded):
    before = everything()
    assert run("demo").startswith("demo: already here")
    assert everything() == before


def test_what_somebody_removed_stays_removed_until_it_is_asked_for(loaded):
    layer = Layer.objects.get(name="channel: public")
    policies.delete_layer(actor=ACTOR, layer=layer.pk, version=layer.version)
    run("demo")
    assert not Layer.objects.filter(name="channel: public").exists()
    lines = run("demo", "--restore").splitlines()
    assert lines[0].startswith("demo: added 0 families with 0 tools and 1 layers")
    assert Layer.objects.filter(name="channel: public").exists()


@pytest.mark.parametrize("own", ["a layer", "a family"])
def test_somebodys_own_policy_is_left_alone(own):
    if own == "a layer":
        policies.create_layer(actor=ACTOR, values={"name": "ours"})
    else:
        registry.create_family(actor=ACTOR, values={"name": "ours"})
    before = everything()
    assert run("demo") == "demo: not loaded, this policy is somebody's own (`ours`)\n"
    assert everything() == before


def test_what_stands_in_the_way_of_a_restored_demo_is_said_and_nothing_is_added():
    house_rules = demo._data("policy")["layers"][:1]
    policies.add_layers(actor=ACTOR, layers=house_rules, summary="a part of the demo")
    registry.create_family(actor=ACTOR, values={"name": "XERO"})
    before = everything()
    with pytest.raises(CommandError, match="differs from `XERO` by case only"):
        run("demo", "--restore")
    assert everything() == before


def test_the_examples_are_answered_as_promised_and_recorded(loaded):
    run("demo", "--restore")
    examples = demo_traffic.examples()
    # What the demo asks itself is no traffic: it is recorded as simulated.
    assert Record.objects.filter(kind="simulation").count() == len(examples) >= 5
    assert not Record.objects.filter(kind="decision").exists()
    for example in examples:
        answer = demo_traffic.ask(example.ask, asker=ACTOR)
        found = {"outcome": answer.outcome, "reason_code": answer.reason_code}
        blocked = answer.document["blocked_by"]
        if blocked is not None:
            found |= {"layer": blocked["layer"], "rule": blocked["rule"]}
        assert found == example.answer, example.about


def test_each_printed_command_gives_the_printed_answer(loaded):
    lines = run("demo", "--restore").splitlines()
    commands = [n for n, line in enumerate(lines) if " manage.py decide " in line]
    assert len(commands) == len(demo_traffic.examples())
    for number in commands:
        python, _, name, *arguments = shlex.split(lines[number])
        assert Path(python).resolve() == Path(sys.executable).resolve()
        outcome = run(name, *arguments).splitlines()[0]
        assert lines[number + 1].startswith(f"-> {outcome}: ")


def test_the_printed_curl_asks_the_first_example(loaded):
    printed = run("demo", "--restore")
    words = shlex.split(printed[printed.rindex("curl ") :].replace("\\\n", ""))
    assert words[0] == "curl"
    body = json.loads(words[words.index("-d") + 1])
    assert body == {"surface": "call", **demo_traffic.examples()[0].ask}


def test_traffic_is_decided_and_recorded_and_repeats_itself(loaded):
    before = Record.objects.filter(kind="decision").count()
    out = run("demo", "--traffic", "60")
    assert out.splitlines()[-1].startswith("demo: 60 calls decided and recorded: ")
    assert Record.objects.filter(kind="decision").count() == before + 60
    outcomes = demo_traffic.make_traffic(60, asker=ACTOR)
    assert set(outcomes) == {"allow", "deny", "needs_approval"}
    assert outcomes == demo_traffic.make_traffic(60, asker=ACTOR)


@pytest.mark.parametrize("count", ["0", "-1", "many", "100001", "1e3", "9" * 30])
def test_a_strange_amount_of_traffic_is_refused(count):
    with pytest.raises(CommandError):
        run("demo", f"--traffic={count}")
    assert not Record.objects.exists()


def test_traffic_names_tools_that_are_there_but_for_one_slip_of_case(loaded):
    live = registry.live()
    tools = [kind["ask"]["tool"] for kind in demo_traffic._read("traffic")]
    missing = [tool["name"] for tool in tools if live.resolve(**tool).entry is None]
    assert missing == ["MCP__GITHUB__MERGE_PULL_REQUEST"]


@needs_published
@pytest.mark.parametrize("name", ["github", "slack", "filesystem", "sentry", "mongodb", "memory"])
def test_names_and_hints_are_the_published_ones_and_the_words_are_our_own(name):
    theirs = {tool["name"]: tool for tool in published(name)["tools"]}
    for tool in demo._data(name)["tools"]:
        same = theirs[tool["name"]]
        annotations = same.get("annotations") or {}
        expected = {key: annotations[key] for key in HINTS if key in annotations}
        assert tool.get("annotations", {}) == expected
        assert tool["description"] != same["description"]
        known = same["inputSchema"].get("properties", {})
        assert set(tool["inputSchema"].get("properties", {})) <= set(known)
