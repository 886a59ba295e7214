"""What saving a rule would do: its tools, its calls, the answers that change, and for whom."""

from itertools import product
from typing import Any

import pytest
from django.utils import timezone

from tests.admin.pages import decide
from tests.factories import make_layer, make_rule
from tests.preview.previewed import previewed, saw
from tests.registry.samples import imported, named, tool
from toolpolicy.engine.catalog import CallState, call_state
from toolpolicy.engine.evaluate import Judged, judge
from toolpolicy.engine.words import Surface
from toolpolicy.models import Rule, Tool
from toolpolicy.services import live, policies, registry_store
from toolpolicy.services._preview_changes import Answer, Wider, wider
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.preview import Effect, Preview

pytestmark = pytest.mark.django_db

ALLOWED, ASK = CallState.ALLOWED, CallState.NEEDS_APPROVAL
LISTINGS = (Surface.CATALOG, Surface.SEARCH)
REFUSED, DEPENDS = CallState.REFUSED, CallState.DEPENDS_ON_ARGUMENTS


def told(found: Preview) -> list[tuple[str, str, list[str]]]:
    return [
        (str(one.before.call), str(one.after.call), [entry.name for entry in one.tools])
        for one in found.changes
    ]


def test_a_new_rule_changes_what_it_matches_and_nothing_is_stored(layer):
    found = previewed(layer, effect="deny", match={"name": ["send", "r*"]})
    assert str(found.sentence) == "Deny tools named `send` or `r*`"
    assert [entry.name for entry in found.tools] == ["read", "send"]
    assert told(found) == [("allowed", "refused", ["read", "send"])]
    assert found.effect is Effect.NARROWS
    assert not Rule.objects.exists()


def test_the_decisions_of_its_tools_are_counted(layer):
    for _ in range(3):
        decide("send")
    decide("read")
    assert previewed(layer, effect="deny", match={"name": "send"}).calls == 3


def test_only_for_those_who_ask_as_the_rule_says(layer):
    saw(agent=["coder", "support"], channel=["slack"])
    found = previewed(layer, effect="deny", match={"name": "send"}, when={"agent": "c*"})
    askers = [(one.agent, one.channel, one.made_up) for one in found.changes[0].askers]
    assert askers == [("coder", "slack", False), ("coder", None, False)]


def test_who_never_asked_is_made_up_and_told_apart(layer):
    saw(agent=["coder"])
    when = {"agent": "future-*", "shift": ["night?"]}
    found = previewed(layer, effect="deny", match={"name": "send"}, when=when)
    assert [(one.agent, one.made_up) for one in found.changes[0].askers] == [("future-", True)]


def test_a_layer_for_some_agents_changes_nothing_for_others(layer):
    saw(agent=["coder", "support"])
    own = make_layer("own", scope="agent", target=["sup*"])
    found = previewed(own, effect="deny", match={"name": "send"})
    assert {one.agent for one in found.changes[0].askers} == {"support"}


def test_what_is_already_refused_does_not_change(layer):
    make_rule(layer, match={"name": "send"})
    found = previewed(layer, effect="deny", match={"name": ["send", "read"]})
    assert told(found) == [("allowed", "refused", ["read"])]


def test_an_edit_that_lets_something_pass_widens(layer):
    rule = make_rule(layer, match={"name": ["send", "read"]})
    found = previewed(layer, rule, match={"name": "send"})
    assert told(found) == [("refused", "allowed", ["read"])]
    assert found.effect is Effect.WIDENS


def test_an_edit_of_which_nothing_is_known_is_not_proven(layer):
    rule = make_rule(layer, match={"name": "send"})
    found = previewed(layer, rule, match={"name": "sen?"})
    assert (found.effect, found.changes) == (Effect.UNPROVEN, ())


@pytest.mark.parametrize("values", [{"observe": True}, {"enabled": False}, {"effect": "allow"}])
def test_what_enforces_nothing_changes_nothing(layer, values):
    found = previewed(layer, **{"effect": "deny", "match": {"name": "send"}, **values})
    assert (found.effect, found.changes) == (Effect.NOTHING, ())
    assert len(found.tools) == 1


def test_an_exception_of_everything_leaves_nothing(layer):
    found = previewed(layer, effect="deny", match={"name": "send"}, except_={})
    assert (found.effect, found.changes, found.tools) == (Effect.NOTHING, (), ())


def test_a_hidden_tool_is_no_longer_listed_but_still_called(layer):
    found = previewed(layer, effect="hide", match={"name": "send"})
    (change,) = found.changes
    assert (change.before, change.after) == (Answer(ALLOWED, LISTINGS), Answer(ALLOWED, ()))


def test_what_arguments_decide_is_said_to_depend_on_them(layer):
    match = {"name": "send", "arg": {"pointer": "/to", "value": "boss"}}
    found = previewed(layer, effect="deny", match=match)
    assert told(found) == [("allowed", "depends_on_arguments", ["send"])]
    rule = make_rule(layer, match=match)
    other = {"name": "send", "arg": {"pointer": "/to", "value": "ceo"}}
    found = previewed(layer, rule, match=other)
    assert told(found) == [("depends_on_arguments", "depends_on_arguments", ["send"])]
    assert found.effect is Effect.UNPROVEN


def test_arguments_that_no_schema_names_are_told(layer):
    schema = {"type": "object", "properties": {"to": {"type": "object", "properties": {"a/b": {}}}}}
    imported({"tools": [tool("mail", inputSchema=schema), tool("send")]}, family="post")
    match = {"name": ["mail", "send"], "family": "post"}
    arg = {"pointer": "/to/a~1b", "value": "*"}
    found = previewed(layer, effect="deny", match={**match, "arg": arg})
    ((pointer, lacking),) = found.lacking
    assert (pointer, [entry.name for entry in lacking]) == ("/to/a~1b", ["send"])


def test_an_ordered_rule_is_previewed_too(layer):
    lists = make_layer("list", combining="last_match")
    rule = make_rule(lists, effect="off", match={"name": "send,read"})
    found = previewed(lists, rule, effect="on")
    assert told(found) == [("refused", "allowed", ["read", "send"])]
    found = previewed(lists, effect="auto", match={"name": "*"})
    assert (len(found.tools), found.effect) == (3, Effect.NOTHING)


def test_examples_are_tried_on_the_rule(layer):
    examples = [
        {"tool": "send"},
        {"tool": "read"},
        {"tool": "unregistered"},
        {"tool": "send", "context": {"channel": "web"}},
        {"name": "send"},
        "send",
    ]
    match = {"name": ["send", "unreg*"]}
    found = previewed(
        layer, effect="deny", match=match, when={"channel": "slack"}, examples=examples
    )
    assert [one.matches for one in found.examples] == [True, False, True, False, None, None]


def test_what_lint_finds_of_the_rule_is_told(layer):
    found = previewed(layer, effect="deny", match={"name": "sned"})
    assert found.findings
    assert "never_matches" in [one.code for one in found.findings]


def test_retired_tools_change_no_answer(layer):
    Tool.objects.filter(name="send").update(state="retired")
    imported(named("another"), family="x")  # writes the registry anew
    found = previewed(layer, effect="deny", match={"name": "send"})
    assert (len(found.tools), found.changes) == (1, ())


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"effect": "perhaps"}, "/effect"),
        ({"effect": "deny", "match": {"nmae": "x"}}, "/match/nmae"),
        ({"effect": "deny", "id": "taken"}, "/id"),
        ({"effect": "deny", "id": "with blanks"}, "/id"),
        ({"effect": "deny", "wehn": {}}, "/wehn"),
    ],
)
def test_what_saving_refuses_a_preview_refuses_at_the_same_place(layer, values, pointer):
    make_rule(layer, id="taken")
    with pytest.raises(InvalidInput) as refused:
        previewed(layer, **values)
    with pytest.raises(InvalidInput) as saving:
        policies.create_rule(actor=Actor.system("tests"), layer=layer.pk, values=values)
    assert refused.value.faults == saving.value.faults
    assert refused.value.faults[0].pointer == pointer


STATES = (ALLOWED, ASK, REFUSED, DEPENDS)


@pytest.mark.parametrize(("before", "after"), list(product(STATES, STATES)))
def test_wider_is_what_admits_more(before, after):
    order = [ALLOWED, ASK, REFUSED]
    found = wider(Answer(before, LISTINGS), Answer(after, LISTINGS))
    if DEPENDS not in (before, after):
        assert found is (Wider.YES if order.index(after) < order.index(before) else Wider.NO)
    elif before is REFUSED or after is ALLOWED:
        assert found is Wider.YES
    elif before is ALLOWED or after is REFUSED:
        assert found is Wider.NO
    else:
        assert found is Wider.UNKNOWN
    assert wider(Answer(before, LISTINGS[:1]), Answer(after, LISTINGS)) is Wider.YES


EDITS: list[dict[str, Any]] = [
    {"effect": "deny", "match": {"name": "tool_*"}, "when": {"agent": ["a1", "a2"]}},
    {"effect": "require_approval", "match": {"family": "f1"}, "except": {"name": "*_3"}},
    {"effect": "require_approval", "match": {"arg": {"pointer": "/p", "value": "*"}}},
    {"effect": "hide", "match": {"name": "*1"}, "on": ["catalog"]},
]


@pytest.mark.parametrize("values", EDITS)
def test_the_changes_are_all_that_judging_everything_finds(values):
    for family in ("f0", "f1"):
        imported(named(*[f"tool_{n}" for n in range(5)], f"own_{family}"), family=family)
    saw(agent=["a1", "a2", "a3"], channel=["c1"])
    base, own = make_layer(), make_layer("own", scope="agent", target=["a2", "a3"])
    make_rule(base, match={"name": "tool_1"}, when={"channel": "c1"})
    make_rule(base, effect="require_approval", match={"name": "tool_2"})
    make_rule(own, match={"name": "own_*"})
    found = previewed(base, **values)
    told = {
        (asker.agent, asker.channel, entry.family, entry.name): (change.before, change.after)
        for change in found.changes
        for asker in change.askers
        for entry in change.tools
    }
    before = live.policy_of(live.read_live(timezone.now()).policy)
    policies.create_rule(actor=Actor.system("tests"), layer=base.pk, values=values)
    standing = live.read_live(timezone.now())
    after = live.policy_of(standing.policy)
    expected = {}
    for agent, channel in product(["a1", "a2", "a3", None], ["c1", None]):
        context = {k: v for k, v in (("agent", agent), ("channel", channel)) if v is not None}
        for entry in registry_store.load(standing.registry):
            answers = tuple(answer(policy, entry, context) for policy in (before, after))
            if answers[0] != answers[1]:
                expected[agent, channel, entry.family, entry.name] = answers
    assert told == expected
    assert expected


def answer(policy: Any, entry: Any, context: dict[str, str]) -> Answer:
    judged, now = Judged(entry.subject, floor=entry.floor), timezone.now()
    state, _ = call_state(policy, judged, context, now=now)
    listed = [one for one in LISTINGS if judge(policy, [judged], context, one, now).visible]
    return Answer(state, tuple(listed))
