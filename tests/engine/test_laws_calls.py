"""Laws of calls that judge several subjects (SPEC §6, §7).

- apart: each subject is settled by itself, over all layers; the call folds them: all must be
  callable, the first refusal is reported, a person is asked when any subject needs it
- monotone: one more target never widens a call and never drops an approval
- floor: the registry's least approval is laid under that of the layers
- unfolding: a dispatcher's targets are followed depth first, each registered one by its own
  declaration; no path is longer than eight hops or meets a tool twice
- stricter: a declaration that asks for more finds the same targets, or refuses
"""

from collections.abc import Sequence
from typing import Any

from tests.engine.changes import never_wider
from tests.engine.names import Names
from tests.growing import NOW
from tests.strategies import Question, indirects, law, worlds
from toolpolicy.engine.decision import Decision
from toolpolicy.engine.evaluate import Judged, evaluate_call
from toolpolicy.engine.targets import MAX_HOPS, Refusal, Target, unfold
from toolpolicy.engine.values import Policy
from toolpolicy.engine.words import Approval, ReasonCode


def call(policy: Policy, questions: list[Question], floor: Approval = Approval.DEFAULT) -> Decision:
    """Put the tools of these questions as one call, in the context of the first."""
    judged = [Judged(question.tool, question.args, floor) for question in questions]
    return evaluate_call(policy, judged, questions[0].context, now=NOW)


@law(world=worlds())
def test_each_subject_of_a_call_is_settled_by_itself_and_then_folded(world):
    questions = list(world.questions)[: 1 + world.number % len(world.questions)]
    together = call(world.policy, questions)
    shared = questions[0].context
    alone = [q.judge(world.policy, surface="call", context=shared) for q in questions]
    assert together.visible == all(one.visible for one in alone)
    assert together.callable == all(one.callable for one in alone)
    assert together.needs_approval == any(one.needs_approval for one in alone)
    assert together.approval == max((one.approval for one in alone), key=lambda a: a.rank)
    refused = next((one for one in alone if not one.callable), None)
    if refused:
        assert together.reason_code == refused.reason_code
        assert together.blocked_by == refused.blocked_by
        assert alone[together.about] is refused
    else:
        needed = ReasonCode.NEEDS_APPROVAL if together.needs_approval else ReasonCode.ALLOWED
        assert (together.reason_code, together.blocked_by) == (needed, None)
        assert alone[together.about].needs_approval == together.needs_approval


@law(world=worlds())
def test_one_more_target_never_widens_a_call(world):
    first, *others, last = world.questions
    fewer = call(world.policy, [first, *others])
    more = call(world.policy, [first, *others, last])
    assert never_wider(more, fewer)
    assert more.approval.rank >= fewer.approval.rank
    assert more.needs_approval >= fewer.needs_approval
    if not fewer.callable:
        assert more.verdict.blocked_by == fewer.verdict.blocked_by


@law(world=worlds())
def test_the_floor_of_the_registry_lies_under_every_approval(world):
    for question in world.questions:
        plain = call(world.policy, [question])
        for floor in Approval:
            raised = call(world.policy, [question], floor)
            assert raised.approval is max(plain.approval, floor, key=lambda a: a.rank)
            assert (raised.callable, raised.visible) == (plain.callable, plain.visible)
            if floor is Approval.REQUIRED:
                assert raised.needs_approval


# --- dispatchers ----------------------------------------------------------------------------------


def targets_of(names: Names, args: Any) -> tuple[Target, ...] | Refusal:
    return unfold(names, names.tools[None, "d"], args)


def identities(targets: Sequence[Target]) -> list[tuple[str | None, str]]:
    return [(target.family, target.name) for target in targets]


@law(case=indirects())
def test_targets_are_followed_depth_first_and_never_in_a_circle(case):
    names = Names(case.declarations)
    for args in case.calls:
        found = targets_of(names, args)
        if isinstance(found, Refusal):
            assert found.reason_code in (
                *(ReasonCode.DISPATCHER_BAD_TARGET, ReasonCode.DISPATCHER_UNKNOWN_TARGET),
                *(ReasonCode.DISPATCHER_CYCLE, ReasonCode.DISPATCHER_TOO_DEEP),
                ReasonCode.TOOL_AMBIGUOUS,
            )
            continue
        path: list[tuple[str | None, str]] = [(None, "d")]
        for target, identity in zip(found, identities(found), strict=True):
            assert 1 <= target.hops <= min(len(path), MAX_HOPS)
            path[target.hops :] = [identity]
            assert path.count(identity) == 1 or not names.exact(*identity)


@law(case=indirects())
def test_each_target_is_followed_at_once_by_its_own_targets(case):
    names = Names(case.declarations)
    for args in case.calls:
        found = targets_of(names, args)
        if isinstance(found, Refusal):
            continue
        for place, target in enumerate(found):
            known = names.exact(target.family, target.name)
            own = unfold(names, known, target.args) if known else ()
            after = found[place + 1 :]
            ended = (number for number, other in enumerate(after) if other.hops <= target.hops)
            below = after[: next(ended, len(after))]
            assert not isinstance(own, Refusal)
            assert [other.args for other in below] == [other.args for other in own]
            assert identities(below) == identities(own)


@law(case=indirects())
def test_a_declaration_that_asks_for_more_finds_the_same_targets_or_refuses(case):
    lenient = Names(case.declarations, target_required=False, known_targets_only=False)
    demanding = Names(case.declarations, target_required=True, known_targets_only=False)
    careful = Names(case.declarations, target_required=False, known_targets_only=True)
    for args in case.calls:
        found = targets_of(lenient, args)
        assert isinstance(same := targets_of(demanding, args), Refusal) or same == found
        known = targets_of(careful, args)
        if not isinstance(known, Refusal):
            assert known == found
            assert all(careful.exact(*identity) for identity in identities(known))
