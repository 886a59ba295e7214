"""The fast evaluator: the same answers as `evaluate` and `catalog`, from indexes and plans.

Compiling numbers a layer's rules and indexes what they ask about; a set of rules is an integer.
The first sight of a tool on a surface folds the indexes into a *plan*: which rules fire for sure,
and which are left to the call. A decision runs what is left and looks its answer up by what of it
fired; a call that is asked again is looked up by what its answer depends on, however many rules
there are.
What fired rules *say* comes from the reference, so that only the matching is written twice; the
laws in `tests/engine` hold the two to the same answers.

Memory is bounded: plans of registered tools are kept by identity (`pin`), those of others by the
attributes that rules can read, up to a number, and so is all that was asked.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from toolpolicy.engine.applying import check_clock, in_order, needs_clock
from toolpolicy.engine.catalog import CallState, Listed
from toolpolicy.engine.compiled_layers import CompiledLayer, Context, Found
from toolpolicy.engine.compiled_plan import KEPT, Key, Outcome, Plan, State
from toolpolicy.engine.decision import Decision
from toolpolicy.engine.evaluate import Judged, decision_of, observes
from toolpolicy.engine.indexes import keep, remember
from toolpolicy.engine.values import ABSENT, Policy, Subject
from toolpolicy.engine.words import Approval, Surface


class CompiledPolicy:
    """A policy that decides fast.

    Threads may share it: what it remembers is added, or forgotten whole, and made again if missed.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._needs_clock = needs_clock(policy)
        self._observes = observes(policy)
        self.layers = [
            CompiledLayer(index, layer)
            for index, layer in in_order(policy)
            if layer.settings.enabled
        ]
        # Plans by what their subjects have in common, then the ways to find one again.
        self._alike: dict[tuple[Any, ...], Plan] = {}
        self._plans: dict[tuple[Any, ...], Plan] = {}
        self._answered: dict[tuple[Any, ...], Outcome] = {}
        self._last: tuple[Subject | None, tuple[Found, ...]] = (None, ())
        self._pinned: dict[int, Subject] = {}
        # By the identities of subject, surface and floor: an enum's hash is slow.
        self._pinned_plans: dict[tuple[int, int, int], Plan] = {}

    def pin(self, subjects: Iterable[Subject]) -> None:
        """Find the plans of these subjects by identity from now on, and keep them all."""
        self._pinned = {id(subject): subject for subject in subjects}
        self._pinned_plans = {}

    def evaluate(
        self,
        subject: Subject,
        context: Context,
        surface: Surface,
        args: Any = ABSENT,
        *,
        now: datetime | None = None,
    ) -> Decision:
        """Decide as `evaluate.evaluate` does."""
        if self._needs_clock:
            check_clock(now)
        return self._outcome(Judged(subject, args), context, surface, now).decision

    def judge(
        self, targets: Sequence[Judged], context: Context, surface: Surface, now: datetime | None
    ) -> Decision:
        """Decide as `evaluate.judge` does."""
        if self._needs_clock:
            check_clock(now)
        if len(targets) == 1:
            return self._outcome(targets[0], context, surface, now).decision
        outcomes = [self._outcome(judged, context, surface, now) for judged in targets]
        enforced = [outcome.enforced for outcome in outcomes]
        told = [outcome.told for outcome in outcomes] if self._observes else None
        return decision_of(surface, enforced, told)

    def list_subject(
        self,
        subject: Subject,
        context: Context,
        surface: Surface,
        *,
        now: datetime | None,
        depends: bool = False,
        floor: Approval = Approval.DEFAULT,
    ) -> Listed:
        """List as `catalog.list_subject` does."""
        if self._needs_clock:
            check_clock(now)
        judged = Judged(subject, floor=floor)
        decision = self._outcome(judged, context, surface, now).decision
        if not decision.admits:
            return Listed(None, withheld=decision.reason_code)
        state, opened = self.call_state(judged, context, now=now)
        return Listed(CallState.DEPENDS_ON_ARGUMENTS if depends else state, open=opened)

    def call_state(self, judged: Judged, context: Context, *, now: datetime | None) -> State:
        """Say what a call meets as `catalog.call_state` does."""
        plan = self._plan(judged, Surface.CALL)
        key = tuple([part.standing(context, now) for part in plan.varying])
        found = plan.states.get(key)
        if found is None:
            found = keep(plan.states, key, plan.state(judged, key), most=KEPT)
        return found

    def standing(self, context: Context, now: datetime | None) -> Key:
        """Return what context and clock settle: two calls alike in it differ by arguments alone."""
        if self._needs_clock:
            check_clock(now)
        return tuple([layer.standing(context, now) for layer in self.layers])

    def _outcome(
        self, judged: Judged, context: Context, surface: Surface, now: datetime | None
    ) -> Outcome:
        plan = self._plan(judged, surface)
        if not plan.varying:
            return plan.outcomes.get(()) or self._settle(plan, judged, ())
        # What was asked once is looked up by rules; what is asked again is remembered as it stands.
        asked = plan.asked(context, judged.args) if plan.outcomes else None
        found = None if asked is None else self._answered.get(asked)
        if found is None:
            key = tuple([part.firing(context, judged.args, now) for part in plan.varying])
            found = plan.outcomes.get(key) or self._settle(plan, judged, key)
            if asked is not None:
                remember(self._answered, asked, found)
        return found

    def _settle(self, plan: Plan, judged: Judged, key: Key) -> Outcome:
        outcome = plan.settle(judged, key, observes=self._observes)
        return keep(plan.outcomes, key, outcome, most=KEPT)

    def _plan(self, judged: Judged, surface: Surface) -> Plan:
        subject, floor = judged.subject, judged.floor
        by_identity = (id(subject), id(surface), id(floor))
        plan = self._pinned_plans.get(by_identity)
        if plan is not None:
            return plan
        if id(subject) in self._pinned:
            plan = self._pinned_plans[by_identity] = self._new_plan(judged, surface)
            return plan
        key = (surface, floor, *readable(subject))
        return self._plans.get(key) or remember(self._plans, key, self._new_plan(judged, surface))

    def _new_plan(self, judged: Judged, surface: Surface) -> Plan:
        subject = judged.subject
        found = self._find(subject)
        key = (surface, judged.floor, subject.default_permission, subject.hints, found)
        plan = self._alike.get(key)
        if plan is None:
            pairs = zip(self.layers, found, strict=True)
            plan = Plan(surface, tuple([layer.part(some, surface) for layer, some in pairs]))
            keep(self._alike, key, plan)
        return plan

    def _find(self, subject: Subject) -> tuple[Found, ...]:
        """Look a subject up; a listing asks for its plans on two surfaces, one after the other."""
        last = self._last
        if last[0] is subject:
            return last[1]
        found = tuple([layer.find(subject) for layer in self.layers])
        self._last = subject, found
        return found


def readable(subject: Subject) -> tuple[Any, ...]:
    """Return the attributes that rules, and the fold of approvals, can read."""
    return (
        *(subject.name, subject.family, subject.tags, subject.category, subject.exposure),
        *(subject.permission, subject.side_effects, subject.group, subject.parent, subject.verb),
        *(subject.method, subject.scope, subject.hints, subject.default_permission),
    )
