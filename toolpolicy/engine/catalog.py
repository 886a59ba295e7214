"""What a listing says of a tool: whether it stands there, and what a call would meet (SPEC §5a)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from typing import NamedTuple

from toolpolicy.engine.applying import in_order, is_live, unmet_when, why_not_applied
from toolpolicy.engine.evaluate import Judged, asks_person, judge
from toolpolicy.engine.matching import Case, read_condition, settle
from toolpolicy.engine.ordered import judge_list
from toolpolicy.engine.says import Says
from toolpolicy.engine.strict_wire import write_patterns
from toolpolicy.engine.values import (
    ArgumentIs,
    OrderedLayer,
    Policy,
    Rule,
    StrictLayer,
    Subject,
)
from toolpolicy.engine.words import Approval, Default, Effect, ReasonCode, Surface


class CallState(StrEnum):
    """What a call of a listed tool would meet."""

    ALLOWED = "allowed"
    NEEDS_APPROVAL = "needs_approval"
    REFUSED = "refused"
    DEPENDS_ON_ARGUMENTS = "depends_on_arguments"


@dataclass(frozen=True, slots=True)
class OpenRule:
    """A rule whose arguments decide: flipping it alone can change the answer."""

    layer: str
    rule: int
    id: str | None
    effect: Effect
    arguments: tuple[tuple[str, str | tuple[str, ...]], ...]
    """(pointer, pattern or patterns) of each argument condition, in `match` and `except`."""


class Listed(NamedTuple):
    """One tool in a listing: what a call of it meets, or why it is `withheld`."""

    call: CallState | None
    withheld: ReasonCode | None = None
    open: tuple[OpenRule, ...] = ()

    @property
    def listed(self) -> bool:
        """Whether the tool stands in the listing."""
        return self.withheld is None


class _Fires(Enum):
    NEVER = "never"
    ALWAYS = "always"
    OPEN = "open"


@dataclass(slots=True)
class Survey:
    """What a strict layer's rules may do on a call: which effects fire for sure, which openly."""

    layer: StrictLayer
    sure: set[Effect] = field(default_factory=set)
    open: dict[Effect, list[int]] = field(default_factory=dict)

    def note(self, number: int, *, waits: bool) -> None:
        """Note that a rule fires: for sure, or as its arguments say."""
        effect = self.layer.rules[number].effect
        if waits:
            self.open.setdefault(effect, []).append(number)
        else:
            self.sure.add(effect)

    def opens(self, effect: Effect) -> list[int]:
        """Return the open rules of an effect."""
        return self.open.get(effect, [])

    @property
    def waits_for_allow(self) -> bool:
        """Whether only an open allow can admit."""
        return self.layer.default is Default.DENY and Effect.ALLOW not in self.sure

    @property
    def refuses(self) -> bool:
        """Refused whatever the arguments are."""
        return Effect.DENY in self.sure or (self.waits_for_allow and not self.opens(Effect.ALLOW))

    @property
    def waives(self) -> bool:
        """Whether its auto_approve counts."""
        return self.layer.settings.may_waive_approval


def list_subject(  # noqa: PLR0913  (as `evaluate`, with the registry's floor)
    policy: Policy,
    subject: Subject,
    context: Mapping[str, str],
    surface: Surface,
    *,
    now: datetime | None,
    depends: bool = False,
    floor: Approval = Approval.DEFAULT,
) -> Listed:
    """Judge one subject on a listing surface, and say what a call would meet.

    `depends` is set for a dispatcher, or where the privilege depends on the arguments: such a tool
    always says depends_on_arguments. `floor` is the least approval that the registry asks for.
    """
    judged = Judged(subject, floor=floor)
    decision = judge(policy, [judged], context, surface, now)
    if not decision.admits:
        return Listed(None, withheld=decision.reason_code)
    state, opened = call_state(policy, judged, context, now=now)
    return Listed(CallState.DEPENDS_ON_ARGUMENTS if depends else state, open=opened)


def call_state(
    policy: Policy, judged: Judged, context: Mapping[str, str], *, now: datetime | None
) -> tuple[CallState, tuple[OpenRule, ...]]:
    """Say what a call meets with its arguments unknown, and which rules wait for them.

    Each open rule is taken as independent; one is named iff flipping it alone changes the answer
    for some settling of the others. Every effect only pushes one way, so that no enumeration is
    needed.
    """
    case = Case(subject=judged.subject, context=context, surface=Surface.CALL)
    applicable = [
        (index, layer)
        for index, layer in in_order(policy)
        if not layer.settings.observe and why_not_applied(layer, context, now) is None
    ]
    ordered = [(i, layer) for i, layer in applicable if isinstance(layer, OrderedLayer)]
    said = judge_list(ordered, case, now=now, observing=False)
    surveys = [_survey(x, case, now) for _, x in applicable if isinstance(x, StrictLayer)]
    return state_of(surveys, said, judged)


def state_of(
    surveys: Sequence[Survey], said: Says, judged: Judged
) -> tuple[CallState, tuple[OpenRule, ...]]:
    """Say what a call meets, from what the strict layers may do and what the ordered list says."""
    if said.refusal or any(survey.refuses for survey in surveys):
        return CallState.REFUSED, ()
    fixed = max(said.approval, judged.floor, key=lambda value: value.rank)
    named = list(_deciding(surveys, fixed, judged.subject))
    if named:
        return CallState.DEPENDS_ON_ARGUMENTS, tuple(named)
    needs = asks_person(_settled_approval(surveys, fixed), judged.subject)
    return (CallState.NEEDS_APPROVAL if needs else CallState.ALLOWED), ()


def _survey(layer: StrictLayer, case: Case, now: datetime | None) -> Survey:
    survey = Survey(layer)
    for number, rule in enumerate(layer.rules):
        if rule.settings.observe or not is_live(rule.settings, now):
            continue
        fires = _fires_on_call(rule, case, fail_safe=layer.settings.fail_safe)
        if fires is not _Fires.NEVER:
            survey.note(number, waits=fires is _Fires.OPEN)
    return survey


def _fires_on_call(rule: Rule, case: Case, *, fail_safe: bool) -> _Fires:
    """Tell whether a rule fires on a call: for sure, never, or as its arguments say."""
    if (rule.on and Surface.CALL not in rule.on) or unmet_when(rule, case.context) is not None:
        return _Fires.NEVER

    def static(conditions: Iterable[object], *, inside_except: bool) -> bool:
        truths = (
            read_condition(c, case).truth  # type: ignore[arg-type]
            for c in conditions
            if not isinstance(c, ArgumentIs)
        )
        return all(
            settle(t, rule.effect, inside_except=inside_except, fail_safe=fail_safe) for t in truths
        )

    if not static(rule.match, inside_except=False):
        return _Fires.NEVER
    waits = any(isinstance(condition, ArgumentIs) for condition in rule.match)
    if rule.exception is not None and static(rule.exception, inside_except=True):
        if not any(isinstance(condition, ArgumentIs) for condition in rule.exception):
            return _Fires.NEVER
        waits = True
    return _Fires.OPEN if waits else _Fires.ALWAYS


def _settled_approval(layers: Sequence[Survey], fixed: Approval) -> Approval:
    """Fold the approvals that fire for sure."""
    found = [fixed]
    for layer in layers:
        if Effect.REQUIRE_APPROVAL in layer.sure:
            found.append(Approval.REQUIRED)
        elif Effect.AUTO_APPROVE in layer.sure and layer.waives:
            found.append(Approval.WAIVED)
    return max(found, key=lambda value: value.rank)


def _deciding(layers: Sequence[Survey], fixed: Approval, subject: Subject) -> Iterable[OpenRule]:
    """Yield the open rules that can change the answer of a call that can be admitted."""
    settled = _settled_approval(layers, fixed)
    asks_by_default = asks_person(Approval.DEFAULT, subject)
    may_waive = any(layer.waives and layer.opens(Effect.AUTO_APPROVE) for layer in layers)
    # Without an open require the answer can be `allowed`: then such a rule matters.
    can_be_allowed = settled is Approval.WAIVED or may_waive or not asks_by_default
    require_matters = settled is not Approval.REQUIRED and can_be_allowed
    waive_matters = settled is Approval.DEFAULT and asks_by_default
    for layer in layers:
        matters = {
            Effect.DENY: True,
            Effect.ALLOW: layer.waits_for_allow,
            Effect.REQUIRE_APPROVAL: require_matters,
            Effect.AUTO_APPROVE: waive_matters and layer.waives,
        }
        for effect, numbers in layer.open.items():
            if matters.get(effect):
                yield from (_open_rule(layer.layer, number) for number in numbers)


def _open_rule(layer: StrictLayer, number: int) -> OpenRule:
    rule = layer.rules[number]
    arguments = tuple(
        (
            condition.pointer,
            tuple(p) if isinstance(p := write_patterns(condition.patterns), list) else p,
        )
        for condition in (*rule.match, *(rule.exception or ()))
        if isinstance(condition, ArgumentIs)
    )
    return OpenRule(layer.name or "", number, rule.id, rule.effect, arguments)
