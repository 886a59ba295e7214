"""Decisions, listings and dispatchers by example, beside laws and vectors (SPEC §5a, §6, §7)."""

from typing import Any

import pytest

from tests.engine.names import Names
from tests.engine.refusals import faults_of
from toolpolicy.engine import conformance
from toolpolicy.engine.catalog import CallState, call_state, list_subject
from toolpolicy.engine.documents import FORMAT, parse_layers, parse_policy
from toolpolicy.engine.evaluate import Judged, compile_policy, evaluate
from toolpolicy.engine.subjects import parse_subject
from toolpolicy.engine.targets import (
    MAX_ITEMS,
    MAX_TARGETS,
    Dispatcher,
    Refusal,
    parse_dispatcher,
    unfold,
)
from toolpolicy.engine.values import ABSENT
from toolpolicy.engine.words import Approval, Outcome, ReasonCode, Surface

TOOL = parse_subject({"name": "x"})
DENY = {"effect": "deny", "match": {}}


def placed(policy: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {
        "scope": "config",
        "position": 0,
        "combining": "deny_overrides",
        "policy": policy,
        **rest,
    }


def policy_of(*layers: dict[str, Any]):
    return parse_policy({"format": FORMAT, "layers": list(layers)})


# --- decisions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"valid_from": "2026-01-01T00:00:00Z"},
        {"valid_until": "2026-01-01T00:00:00Z"},
        {"rules": {"r": {"expires_at": "2026-01-01T00:00:00Z"}}},
    ],
)
def test_a_policy_with_a_time_bound_is_not_judged_without_a_clock(settings):
    policy = policy_of(placed({"name": "n", "rules": [{**DENY, "id": "r"}]}, settings=settings))
    with pytest.raises(ValueError, match="`now` must be given"):
        evaluate(policy, TOOL, {}, "call")
    with pytest.raises(ValueError, match="`now` must be given"):
        call_state(policy, Judged(TOOL), {}, now=None)


def test_bare_layers_apply_in_the_order_given_and_placed_ones_in_their_own():
    bare = parse_layers([{"name": "z", "rules": [DENY]}, {"name": "a", "rules": [DENY]}])
    blocked = evaluate(compile_policy(bare), TOOL, {}, "call").blocked_by
    assert (blocked and blocked.layer) == "z"
    first = policy_of(placed({"name": "p", "rules": [DENY]}, position=-1)).layers
    blocked = evaluate(compile_policy([*bare, *first]), TOOL, {}, "call").blocked_by
    assert (blocked and blocked.layer) == "p"


def test_an_unknown_surface_is_no_surface():
    with pytest.raises(ValueError, match="Call"):
        evaluate(policy_of(), TOOL, {}, "Call")


@pytest.mark.parametrize(
    ("effect", "surface", "outcome", "admits"),
    [
        ("deny", "call", Outcome.DENY, False),
        ("deny", "search", Outcome.DENY, False),
        ("hide", "catalog", Outcome.HIDE, False),
        ("hide", "call", Outcome.ALLOW, True),
        ("require_approval", "call", Outcome.NEEDS_APPROVAL, True),
        ("require_approval", "catalog", Outcome.LIST, True),
        ("allow", "call", Outcome.ALLOW, True),
    ],
)
def test_an_answer_in_one_word(effect, surface, outcome, admits):
    policy = policy_of(placed({"name": "n", "rules": [{"effect": effect, "match": {}}]}))
    decision = evaluate(policy, TOOL, {}, surface)
    assert (decision.outcome, decision.admits) == (outcome, admits)


def test_what_fired_is_told_once_each_observing_rules_too():
    rules = [
        {**DENY, "id": "a"},
        {"effect": "allow", "match": {"name": "y"}, "id": "b"},
        {"effect": "hide", "match": {}, "id": "c"},
        {**DENY, "id": "d"},
    ]
    settings = {"rules": {"a": {"observe": True}, "d": {"enabled": False}}}
    names = {
        "name": "m",
        "rules": [{"match": {"name": "x"}, "mode": mode} for mode in ("on", "auto")],
    }
    policy = policy_of(
        placed({"name": "n", "rules": rules}, settings=settings),
        placed(names, combining="last_match"),
    )
    decision = evaluate(policy, TOOL, {}, "call")
    assert decision.fired == ((0, 0), (0, 2), (1, 0))
    assert decision.callable
    assert decision.observed
    assert not decision.observed.callable


# --- listings -------------------------------------------------------------------------------------

OPEN_DENY = {"effect": "deny", "match": {"arg": {"pointer": "/p", "value": ["a", "b"]}}, "id": "o"}


def listed(policy, **options):
    return list_subject(policy, TOOL, {}, Surface.CATALOG, now=None, **options)


def test_an_open_rule_tells_its_pointers_and_patterns():
    carved = {**OPEN_DENY, "except": {"arg": {"pointer": "/q", "value": "c"}}}
    [rule] = listed(policy_of(placed({"name": "n", "rules": [carved]}))).open
    assert (rule.layer, rule.rule, rule.id, rule.effect) == ("n", 0, "o", "deny")
    assert rule.arguments == (("/p", ("a", "b")), ("/q", "c"))


def test_a_dispatcher_always_depends_on_its_arguments():
    assert listed(policy_of()).call is CallState.ALLOWED
    assert listed(policy_of(), depends=True).call is CallState.DEPENDS_ON_ARGUMENTS


def test_the_floor_of_the_registry_shows_in_a_listing():
    assert listed(policy_of(), floor=Approval.REQUIRED).call is CallState.NEEDS_APPROVAL


def test_what_is_not_listed_says_nothing_of_calls():
    entry = listed(policy_of(placed({"name": "n", "rules": [{"effect": "hide", "match": {}}]})))
    assert (entry.listed, entry.call, entry.open) == (False, None, ())


# --- dispatchers ----------------------------------------------------------------------------------

DISPATCHERS: list[tuple[Any, list[tuple[str, str]]]] = [
    (None, [("", "invalid")]),
    ([], [("", "invalid")]),
    ({}, [("", "missing")]),
    ({"target": []}, [("/target", "missing")]),
    ({"target": None}, [("/target", "invalid")]),
    ({"target": ["/a", 1]}, [("/target/1", "invalid")]),
    ({"target": "/a", "items": 1, "family": []}, [("/family", "invalid"), ("/items", "invalid")]),
    ({"target": "/a", "target_required": None}, [("/target_required", "invalid")]),
    ({"target": "/a", "known_targets_only": 1}, [("/known_targets_only", "invalid")]),
    ({"targets": "/a"}, [("/targets", "unknown_member"), ("", "missing")]),
]


@pytest.mark.parametrize(("wire", "expected"), DISPATCHERS)
def test_what_is_wrong_with_a_declaration_is_named(wire, expected):
    assert faults_of(parse_dispatcher, wire) == expected


def test_pointers_that_are_null_are_absent():
    wire = {"target": "/a", "arguments": None, "family": None, "items": None}
    assert parse_dispatcher(wire) == Dispatcher(target=("/a",))


def chain(length: int) -> dict[str, Any]:
    """Declare a row of dispatchers, each of which names the next under its own key."""
    row = {f"/t{n}": {"target": f"/{n}"} for n in range(length)}
    return {**row, f"/t{length}": None}


@pytest.mark.parametrize(("hops", "refused"), [(8, False), (9, True), (30, True)])
def test_eight_hops_are_followed_and_no_more(hops, refused):
    names = Names(chain(hops))
    found = unfold(names, names.tools[None, "t0"], {str(n): f"t{n + 1}" for n in range(hops)})
    too_deep = Refusal(ReasonCode.DISPATCHER_TOO_DEEP, "t8")
    assert found == too_deep if refused else len(found) == hops  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [MAX_TARGETS, MAX_TARGETS + 1])
def test_a_thousand_targets_are_judged_and_no_more(count):
    names = Names({"/d": {"target": "/t", "items": ""}, "/x": None})
    found = unfold(names, names.tools[None, "d"], [{"t": "x"}] * count)
    if count > MAX_TARGETS:
        assert found == Refusal(ReasonCode.DISPATCHER_TOO_DEEP, "d")
    else:
        assert not isinstance(found, Refusal)
        assert len(found) == count


@pytest.mark.parametrize(
    ("named", "nameless", "refused"),
    [
        (0, MAX_ITEMS, False),
        (0, MAX_ITEMS + 1, True),
        (MAX_TARGETS, MAX_ITEMS - MAX_TARGETS, False),
        (1, MAX_ITEMS, True),
    ],
)
def test_items_that_name_no_target_add_none_but_only_so_many_are_looked_at(
    named, nameless, refused
):
    names = Names({"/d": {"target": "/t", "items": ""}, "/x": None})
    found = unfold(names, names.tools[None, "d"], [{}] * nameless + [{"t": "x"}] * named)
    if refused:
        assert found == Refusal(ReasonCode.DISPATCHER_TOO_DEEP, "d")
    else:
        assert not isinstance(found, Refusal)
        assert len(found) == named


def test_targets_that_look_through_one_list_again_and_again_are_stopped():
    class Watched(dict[str, str]):
        looked = 0

        def __contains__(self, name: object) -> bool:
            type(self).looked += 1
            return False

    names = Names({"/d": {"target": "/t", "items": "/a"}, "/e": {"target": "/t", "items": "/b"}})
    args = {"a": [{"t": "e"}] * MAX_TARGETS, "b": [Watched()] * 5_000}
    assert unfold(names, names.tools[None, "d"], args) == Refusal(
        ReasonCode.DISPATCHER_TOO_DEEP, "d"
    )
    assert Watched.looked <= MAX_ITEMS


def test_an_unregistered_tool_and_a_plain_one_have_no_targets():
    case = {"declarations": {"/x": None}, "args": {"t": "x"}}
    assert conformance.unfold({**case, "subject": {"name": "y"}}) == {"targets": []}
    assert conformance.unfold({**case, "subject": {"name": "x"}}) == {"targets": []}


def test_a_bare_name_of_two_families_is_ambiguous_and_a_stated_family_settles_it():
    dispatcher = {"target": "/t"}
    declared = {"f/d": dispatcher, "g/d": dispatcher}
    case = {"declarations": declared, "args": {"t": "x"}}
    bare = conformance.unfold({**case, "subject": {"name": "d"}})
    assert bare == {"reason_code": "tool_ambiguous"}
    stated = conformance.unfold({**case, "subject": {"name": "d", "family": "g"}})
    assert stated == {"targets": [[None, "x", {"t": "x"}]]}
    through = {"declarations": {**declared, "/e": dispatcher}, "args": {"t": "d"}}
    found = conformance.unfold({**through, "subject": {"name": "e"}})
    assert found == {"reason_code": "tool_ambiguous"}


def test_no_arguments_at_all_name_no_target():
    names = Names(
        {"/d": {"target": "/t", "family": "/f"}, "/r": {"target": "/t", "target_required": True}}
    )
    assert unfold(names, names.tools[None, "d"], ABSENT) == ()
    bad = Refusal(ReasonCode.DISPATCHER_BAD_TARGET, "r")
    assert unfold(names, names.tools[None, "r"], ABSENT) == bad
