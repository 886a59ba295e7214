"""Laws of ordered layers (SPEC §4).

- one answer: catalogue and execution agree; `off` removes a tool from all three surfaces, `on` and
  `ask` from none
- one list: config layers that may waive are together captain's own policy, read in their order
- auto: a rule of mode `auto` is as good as absent
- waiving: without the right to waive, `on` and `off` are for the approval as if they were `auto`
"""

from tests.engine.changes import always, answers, never_wider, set_on, stripped, with_rules
from tests.growing import ORDERED, SURFACES, Json
from tests.strategies import law, worlds
from toolpolicy.engine.ordered import resolve_ordered
from toolpolicy.engine.ordered_wire import parse_mode
from toolpolicy.engine.values import OrderedLayer
from toolpolicy.engine.words import Approval, Mode, ReasonCode

ordered_worlds = worlds(combinings=(ORDERED,))


@law(world=ordered_worlds)
def test_catalogue_and_execution_agree(world):
    for question in world.questions:
        found = [question.judge(world.policy, surface=surface) for surface in SURFACES]
        assert len({(d.admits, d.visible, d.callable) for d in found}) == 1
        assert len({(d.verdict, d.observed) for d in found}) == 1
        off = (ReasonCode.RULE_OFF, ReasonCode.TOOL_DEFAULT_OFF)
        assert found[0].admits == (found[0].reason_code not in off)


@law(world=ordered_worlds)
def test_config_layers_are_together_one_captains_policy(world):
    policy = world.under(
        [
            with_rules(always(layer), [{**rule, "when": {}} for rule in layer["policy"]["rules"]])
            for layer in (stripped(layer, "may_waive_approval") for layer in world.layers)
        ]
    )
    layers = sorted(policy.layers, key=lambda layer: (layer.settings.position, layer.name))
    rules = [rule for layer in layers if isinstance(layer, OrderedLayer) for rule in layer.rules]
    for question in world.questions:
        decision = question.judge(policy)
        captain = resolve_ordered(rules, question.tool, question.tool.default_permission)
        assert decision.callable == (captain.effective is not Mode.OFF)
        if captain.effective is Mode.ASK:
            assert decision.approval is Approval.REQUIRED
        else:
            waived = captain.mode is Mode.ON and captain.source == "rule"
            assert decision.approval is (Approval.WAIVED if waived else Approval.DEFAULT)
        if captain.rule is not None and captain.mode is Mode.OFF:
            assert decision.blocked_by
            assert decision.blocked_by.id == rules[captain.rule].id


def is_auto(rule: Json) -> bool:
    return parse_mode(rule["mode"]) is Mode.AUTO


@law(world=worlds())
def test_a_rule_of_mode_auto_is_as_good_as_absent(world):
    silent = world.under(
        [
            with_rules(layer, [r for r in layer["policy"]["rules"] if not is_auto(r)])
            if layer["combining"] == ORDERED
            else layer
            for layer in world.layers
        ]
    )
    for question in world.questions:
        assert answers(question.judge(silent)) == answers(question.judge(world.policy))


@law(world=ordered_worlds)
def test_without_the_right_to_waive_on_and_off_say_nothing_about_approval(world):
    bound = world.under([set_on(layer, may_waive_approval=False) for layer in world.layers])
    silent = world.under(
        [
            with_rules(
                layer, [r for r in layer["policy"]["rules"] if parse_mode(r["mode"]) is Mode.ASK]
            )
            for layer in world.layers
        ]
    )
    for question in world.questions:
        decision = question.judge(bound)
        assert decision.approval is not Approval.WAIVED
        if decision.callable:
            asked = question.judge(silent).approval is Approval.REQUIRED
            assert (decision.approval is Approval.REQUIRED) == asked


@law(world=ordered_worlds)
def test_the_right_to_waive_changes_no_admission_and_only_ever_loosens(world):
    free, bound = (
        world.under([set_on(layer, may_waive_approval=may) for layer in world.layers])
        for may in (True, False)
    )
    for question in world.questions:
        loose, tight = question.judge(free), question.judge(bound)
        assert never_wider(loose, tight)
        assert never_wider(tight, loose)
        assert loose.blocked_by == tight.blocked_by
        assert tight.needs_approval >= loose.needs_approval
