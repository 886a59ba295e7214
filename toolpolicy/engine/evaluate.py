"""The reference evaluator: straight from SPEC §3–§6, without index or cache.

Everything else that decides (a compiled form, a listing) has to agree with this module.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from toolpolicy.engine.applying import (
    check_clock,
    in_order,
    is_live,
    needs_clock,
    unmet_when,
    why_not_applied,
)
from toolpolicy.engine.decision import Decision, Verdict
from toolpolicy.engine.matching import Case, read_condition, settle
from toolpolicy.engine.ordered import judge_list
from toolpolicy.engine.says import Says, Stop, blocked_by
from toolpolicy.engine.values import (
    ABSENT,
    BARE,
    Condition,
    Layer,
    OrderedLayer,
    Policy,
    Rule,
    StrictLayer,
    Subject,
)
from toolpolicy.engine.words import Approval, Default, Effect, Hint, ReasonCode, Surface


class Judged(NamedTuple):
    """One subject of a call with its own arguments; `floor` is the registry's least approval."""

    subject: Subject
    args: Any = ABSENT
    floor: Approval = Approval.DEFAULT


class Settled(NamedTuple):
    """One subject settled by itself: its verdict, and the rules that fired."""

    verdict: Verdict
    needs_approval: bool
    fired: tuple[tuple[int, int], ...]


def compile_policy(layers: Iterable[Layer]) -> Policy:
    """Return the policy of these layers, ready to be evaluated.

    Bare published layers, which have no place of their own, apply in the order given.
    """
    placed = (
        replace(layer, settings=replace(BARE, position=number)) if layer.settings == BARE else layer
        for number, layer in enumerate(layers)
    )
    return Policy(layers=tuple(placed))


def evaluate(
    policy: Policy,
    subject: Subject,
    context: Mapping[str, str],
    surface: Surface | str,
    args: Any = ABSENT,
    *,
    now: datetime | None = None,
) -> Decision:
    """Decide about one subject on one surface.

    `args` are the call's arguments (JSON values), ABSENT for none at all; ignored on listings.
    `now` must be given when the policy has time bounds (ValueError).
    """
    surface = Surface(surface)
    judged = Judged(subject, args if surface is Surface.CALL else ABSENT)
    return judge(policy, [judged], context, surface, now)


def evaluate_call(
    policy: Policy,
    targets: Sequence[tuple[Any, ...]],
    context: Mapping[str, str],
    *,
    now: datetime | None,
) -> Decision:
    """Decide about one call: the dispatcher (or the plain tool) first, then its targets (SPEC §7).

    Each target is a `Judged` or a plain (subject, args). All must be callable; the first refusal is
    reported, the strictest approval wins.
    """
    return judge(policy, [Judged(*target) for target in targets], context, Surface.CALL, now)


def judge(
    policy: Policy,
    targets: Sequence[Judged],
    context: Mapping[str, str],
    surface: Surface,
    now: datetime | None,
) -> Decision:
    """Decide about a list of subjects on one surface; what both public faces come to."""
    if needs_clock(policy):
        check_clock(now)
    cases = [
        Case(subject=t.subject, context=context, surface=surface, args=t.args) for t in targets
    ]
    floors = [target.floor for target in targets]
    enforced = _settle_all(policy, cases, floors, now=now, observing=False)
    told = None
    if observes(policy):
        told = _settle_all(policy, cases, floors, now=now, observing=True)
    return decision_of(surface, enforced, told)


def decision_of(
    surface: Surface, enforced: Sequence[Settled], told: Sequence[Settled] | None
) -> Decision:
    """Fold the judged subjects; `told` are they with the observing parts enforced, if any observe.

    The rules that fired are those of `told`, each once.
    """
    verdict, about = _fold(enforced)
    observed = None
    if told is None:
        told = enforced
    else:
        full, _ = _fold(told)
        observed = full if full != verdict else None
    fired = told[0].fired
    if len(told) > 1:
        fired = tuple(dict.fromkeys([rule for settled in told for rule in settled.fired]))
    needs = any(settled.needs_approval for settled in enforced)
    return Decision(surface, verdict, needs, observed, about, fired)


def observes(policy: Policy) -> bool:
    """Tell whether any layer or rule of the policy observes."""
    return any(
        layer.settings.observe or any(rule.settings.observe for rule in layer.rules)
        for layer in policy.layers
    )


def _settle_all(
    policy: Policy,
    cases: Sequence[Case],
    floors: Sequence[Approval],
    *,
    now: datetime | None,
    observing: bool,
) -> list[Settled]:
    return [
        settle_one(says(policy, case, now=now, observing=observing), case.subject, floor)
        for case, floor in zip(cases, floors, strict=True)
    ]


def says(policy: Policy, case: Case, *, now: datetime | None, observing: bool) -> list[Says]:
    """Return what each applicable strict layer says, in order, and last the ordered list."""
    applicable = [
        (index, layer)
        for index, layer in in_order(policy)
        if (observing or not layer.settings.observe)
        and why_not_applied(layer, case.context, now) is None
    ]
    strict = [
        judge_strict(index, layer, case, now=now, observing=observing)
        for index, layer in applicable
        if isinstance(layer, StrictLayer)
    ]
    ordered = [(i, layer) for i, layer in applicable if isinstance(layer, OrderedLayer)]
    return [*strict, judge_list(ordered, case, now=now, observing=observing)]


def judge_strict(
    index: int, layer: StrictLayer, case: Case, *, now: datetime | None, observing: bool
) -> Says:
    """Say what one strict layer says of a case."""
    fired = [
        number
        for number, rule in enumerate(layer.rules)
        if (observing or not rule.settings.observe)
        and is_live(rule.settings, now)
        and fires(rule, case, fail_safe=layer.settings.fail_safe)
    ]
    return strict_says(index, layer, fired, case.surface)


def strict_says(index: int, layer: StrictLayer, fired: Sequence[int], surface: Surface) -> Says:
    """Say what a strict layer says once it is known which rules fired, in order (SPEC §3).

    Their order changes nothing but which one is named.
    """
    first: dict[Effect, int] = {}
    for number in fired:
        first.setdefault(layer.rules[number].effect, number)
    refusal = hide = None
    if Effect.DENY in first:
        refusal = Stop(ReasonCode.RULE_DENIED, blocked_by(index, layer, first[Effect.DENY]))
    elif layer.default is Default.DENY and Effect.ALLOW not in first:
        refusal = Stop(ReasonCode.LAYER_DEFAULT, blocked_by(index, layer, None))
    if Effect.HIDE in first and surface is not Surface.CALL:
        hide = Stop(ReasonCode.HIDDEN, blocked_by(index, layer, first[Effect.HIDE]))
    approval = Approval.DEFAULT
    if Effect.REQUIRE_APPROVAL in first:
        approval = Approval.REQUIRED
    elif Effect.AUTO_APPROVE in first and layer.settings.may_waive_approval:
        approval = Approval.WAIVED
    return Says(refusal, hide, approval, tuple([(index, number) for number in fired]))


def fires(rule: Rule, case: Case, *, fail_safe: bool) -> bool:
    """Tell whether a strict rule matches this case (its switches and end aside)."""
    if rule.on and case.surface not in rule.on:
        return False
    if unmet_when(rule, case.context) is not None:
        return False

    def holds(condition: Condition, *, inside_except: bool) -> bool:
        truth = read_condition(condition, case).truth
        return settle(truth, rule.effect, inside_except=inside_except, fail_safe=fail_safe)

    if not all(holds(condition, inside_except=False) for condition in rule.match):
        return False
    carved = rule.exception is not None and all(
        holds(condition, inside_except=True) for condition in rule.exception
    )
    return not carved


def settle_one(said: Sequence[Says], subject: Subject, floor: Approval) -> Settled:
    """Fold the layers for one subject: first refusal, else first hide; the strictest approval."""
    refusal = hide = None
    approval = floor
    fired: tuple[tuple[int, int], ...] = ()
    for say in said:
        refusal = refusal or say.refusal
        hide = hide or say.hide
        fired += say.fired
        if say.approval is not approval:
            approval = max(approval, say.approval, key=lambda value: value.rank)
    needs = asks_person(approval, subject)
    code = ReasonCode.NEEDS_APPROVAL if needs else ReasonCode.ALLOWED
    stopped_by = refusal or hide
    told, cause = stopped_by or (code, None)
    verdict = Verdict(stopped_by is None, refusal is None, approval, told, cause)
    return Settled(verdict, needs, fired)


def asks_person(approval: Approval, subject: Subject) -> bool:
    """Tell whether a call needs approval: `default` asks when the tool declares it (SPEC §6)."""
    if approval is Approval.DEFAULT:
        return subject.hint(Hint.NEEDS_APPROVAL) is True
    return approval is Approval.REQUIRED


def _fold(settled: Sequence[Settled]) -> tuple[Verdict, int]:
    """Fold the judged subjects; the index is that of the subject which is reported."""
    if len(settled) == 1:
        return settled[0].verdict, 0
    refused = next((i for i, one in enumerate(settled) if not one.verdict.callable), None)
    asking = next((i for i, one in enumerate(settled) if one.needs_approval), 0)
    # What is reported of the call is what is reported of this subject by itself.
    about = asking if refused is None else refused
    told = settled[about].verdict
    verdict = Verdict(
        visible=all(one.verdict.visible for one in settled),
        callable=refused is None,
        approval=max((one.verdict.approval for one in settled), key=lambda value: value.rank),
        reason_code=told.reason_code,
        blocked_by=told.blocked_by,
    )
    return verdict, about
