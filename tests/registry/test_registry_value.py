"""The registry as a value: what a name stands for (SPEC §8)."""

import json

import pytest

from tests.registry.samples import tool
from toolpolicy.engine.mcp import read_tools
from toolpolicy.engine.registry import Registry, ToolState, read_registry
from toolpolicy.engine.targets import Known, Refusal, unfold
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Approval, Hint, Permission, ReasonCode


def registry_of(*tools: tuple[str, str], **members) -> Registry:
    """Build a registry of (family, name) pairs; `members` are laid over every entry."""
    listed, texts = [], {}
    for family, name in tools:
        published = tool(name, annotations={"readOnlyHint": True})
        (declaration,) = read_tools([published], family=family)
        texts[declaration.digest] = json.loads(declaration.text)
        entry = {"family": family, "name": name, "state": "active", "trusted": True}
        listed.append({**entry, "declaration": declaration.digest, **members})
    return read_registry({"tools": listed}, texts)


BOTH = (("github", "get_issue"), ("github", "search"), ("sentry", "search"))


def test_a_name_of_one_family_is_found_bare_and_with_its_family():
    registry = registry_of(*BOTH)
    bare = registry.resolve("get_issue")
    assert bare.entry is not None
    assert (bare.entry.family, bare.entry.name, bare.refusal) == ("github", "get_issue", None)
    assert registry.resolve("get_issue", "github") == bare


def test_a_bare_name_of_several_families_is_ambiguous_and_each_family_settles_it():
    registry = registry_of(*BOTH)
    found = registry.resolve("search")
    assert (found.entry, found.refusal) == (None, ReasonCode.TOOL_AMBIGUOUS)
    assert found.families == ("github", "sentry")
    for family in found.families:
        entry = registry.resolve("search", family).entry
        assert entry is not None
        assert entry.family == family


@pytest.mark.parametrize("family", ["slack", "GitHub", "", "github "])
def test_a_registered_name_under_another_family_is_refused(family):
    for name in ("get_issue", "search"):
        found = registry_of(*BOTH).resolve(name, family)
        assert (found.entry, found.refusal) == (None, ReasonCode.NAME_REFUSED)


@pytest.mark.parametrize("family", [None, "github", "slack"])
@pytest.mark.parametrize("name", ["Get_issue", "GET_ISSUE", "get_issuE", "SEARCH"])
def test_a_name_that_differs_by_ascii_case_only_is_refused(name, family):
    found = registry_of(*BOTH).resolve(name, family)
    assert (found.entry, found.refusal) == (None, ReasonCode.NAME_REFUSED)


@pytest.mark.parametrize("name", ["get_issues", "get-issue", "", "\u212aey", "ge\u0442_issue"])
def test_any_other_name_is_unregistered(name):
    for family in (None, "github", "slack"):
        found = registry_of(*BOTH).resolve(name, family)
        assert (found.entry, found.refusal) == (None, ReasonCode.TOOL_UNREGISTERED)


def test_the_empty_registry_knows_no_tool():
    assert Registry().resolve("run").refusal is ReasonCode.TOOL_UNREGISTERED
    assert len(Registry()) == 0


@pytest.mark.parametrize(
    ("state", "refusal", "floor"),
    [
        ("active", None, Approval.DEFAULT),
        ("changed", None, Approval.REQUIRED),
        ("quarantined", ReasonCode.TOOL_QUARANTINED, Approval.DEFAULT),
        ("retired", ReasonCode.TOOL_RETIRED, Approval.DEFAULT),
    ],
)
def test_a_state_refuses_or_asks_for_approval(state, refusal, floor):
    found = registry_of(("box", "run"), state=state).resolve("run")
    assert found.entry is not None
    assert (found.refusal, found.entry.refusal) == (refusal, refusal)
    assert found.entry.floor is floor
    assert found.entry.state is ToolState(state)


def test_an_entry_is_judged_as_trust_and_overrides_say():
    entry = registry_of(("box", "run"), trusted=False, overrides={"verb": "get"}).entries[0]
    assert entry.subject.verb == "get"
    assert entry.subject.hint(Hint.READ_ONLY) is None
    assert registry_of(("box", "run")).entries[0].subject.hint(Hint.READ_ONLY) is True


def test_entries_stand_in_the_order_of_family_and_name():
    names = [
        (e.family, e.name) for e in registry_of(("b", "x"), ("a", "z"), ("b", "a"), ("a", "B"))
    ]
    assert names == [("a", "B"), ("a", "z"), ("b", "a"), ("b", "x")]


def test_the_permission_of_a_call_follows_its_arguments_and_that_of_a_listing_does_not():
    privilege = [{"pointer": "/op", "patterns": "rm", "level": "Dangerous"}]
    entry = registry_of(("box", "run"), privilege=privilege).entries[0]
    assert entry.depends_on_arguments
    assert entry.subject.permission is Permission.READ_ONLY
    assert entry.subject_of_call({"op": "ls"}).permission is Permission.READ_ONLY
    assert entry.subject_of_call({"op": "rm"}).permission is Permission.DANGEROUS
    assert entry.subject_of_call(ABSENT).permission is Permission.DANGEROUS


def test_a_plain_tool_is_the_same_whatever_its_arguments():
    entry = registry_of(("box", "run")).entries[0]
    assert not entry.depends_on_arguments
    assert entry.subject_of_call({"op": "rm"}) is entry.subject


def test_a_dispatcher_is_unfolded_through_the_registry():
    dispatching = registry_of(("hub", "run"), dispatcher={"target": "/tool", "family": "/from"})
    registry = Registry([*registry_of(*BOTH), *dispatching])
    hub = registry.exact("hub", "run")
    assert hub is not None
    assert dispatching.entries[0].depends_on_arguments
    targets = unfold(registry, hub, {"tool": "search", "from": "sentry"})
    assert not isinstance(targets, Refusal)
    assert [(target.family, target.name) for target in targets] == [("sentry", "search")]
    refused = unfold(registry, hub, {"tool": "search"})
    assert refused == Refusal(ReasonCode.TOOL_AMBIGUOUS, "search")


def test_a_look_up_finds_refused_states_too_and_says_what_is_unclear():
    registry = registry_of(*BOTH, state="retired")
    assert registry.bare("get_issue") == Known("github", "get_issue")
    assert registry.bare("Get_issue") == Refusal(ReasonCode.NAME_REFUSED, "Get_issue")
    assert registry.bare("other") is None
    assert registry.exact("github", "search") == Known("github", "search")
    assert registry.exact("slack", "search") is None
    assert registry.exact(None, "search") is None
