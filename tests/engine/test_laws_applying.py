"""Laws of what applies (SPEC §5).

- observe: the decision is that of the policy without its observing parts; `observed` is that of the
  policy with all of them enforced, said where it differs
- absent: a layer or rule that is disabled, over, not yet valid or aimed elsewhere is as good as
  absent; a bound that does not bind is as good as none
- order: layers apply by scope, position and name, whatever their order in the document
- context: an attribute that nobody asks about changes nothing
"""

from tests.engine.changes import (
    answers,
    replaced,
    set_on,
    set_on_rule,
    shuffled,
    stripped,
    with_rules,
    without,
)
from tests.growing import FUTURE, PAST, Json
from tests.strategies import law, worlds


def switched_off_where_observing(layer: Json) -> Json:
    out = layer
    if layer["settings"].get("observe"):
        out = set_on(out, enabled=False)
    for rule_id, settings in layer["settings"].get("rules", {}).items():
        if settings.get("observe"):
            out = set_on_rule(out, rule_id, enabled=False)
    return out


@law(world=worlds())
def test_observing_parts_decide_nothing_and_are_told_beside(world):
    enforced = world.under([switched_off_where_observing(layer) for layer in world.layers])
    everything = world.under([stripped(layer, "observe") for layer in world.layers])
    for question in world.questions:
        decision = question.judge(world.policy)
        assert decision.verdict == question.judge(enforced).verdict
        assert decision.needs_approval == question.judge(enforced).needs_approval
        told = question.judge(everything).verdict
        assert decision.observed == (None if told == decision.verdict else told)


def ways_of_not_applying(layer: Json) -> list[Json]:
    unbounded = stripped(stripped(layer, "valid_from"), "valid_until")
    return [
        set_on(layer, enabled=False),
        *(set_on(unbounded, valid_until=over) for over in PAST),
        *(set_on(unbounded, valid_from=later) for later in FUTURE),
        {**layer, "scope": "channel", "target": []},
        {**layer, "scope": "session", "target": ["no such session", "B?"]},
    ]


@law(world=worlds())
def test_a_layer_that_does_not_apply_is_as_good_as_absent(world):
    place = world.number % len(world.layers)
    ways = ways_of_not_applying(world.layers[place])
    away = replaced(world.layers, place, ways[world.number % len(ways)])
    here, gone = world.under(away), world.under(without(world.layers, place))
    for question in world.questions:
        assert answers(question.judge(here)) == answers(question.judge(gone))


@law(world=worlds())
def test_a_rule_that_is_off_or_over_is_as_good_as_absent(world):
    place = world.number % len(world.layers)
    layer = world.layers[place]
    rules = layer["policy"]["rules"]
    if not rules:
        return
    at = world.number % len(rules)
    named = {**rules[at], "id": rules[at].get("id", "this")}
    over = ({"enabled": False}, *({"expires_at": moment} for moment in PAST))
    switched = set_on_rule(
        with_rules(layer, replaced(rules, at, named)), named["id"], **over[world.number % 4]
    )
    here = world.under(replaced(world.layers, place, switched))
    gone = world.under(replaced(world.layers, place, with_rules(layer, without(rules, at))))
    for question in world.questions:
        assert answers(question.judge(here)) == answers(question.judge(gone))


@law(world=worlds())
def test_a_bound_that_does_not_bind_is_as_good_as_none(world):
    def unbounded(layer: Json) -> Json:
        return stripped(stripped(stripped(layer, "valid_from"), "valid_until"), "expires_at")

    def bounded(layer: Json) -> Json:
        began, ends = PAST[world.number % 3], FUTURE[world.number % 3]
        out = set_on(unbounded(layer), valid_from=began, valid_until=ends)
        for rule in layer["policy"]["rules"]:
            out = set_on_rule(out, rule["id"], expires_at=ends) if "id" in rule else out
        return out

    free, held = (
        world.under([change(layer) for layer in world.layers]) for change in (unbounded, bounded)
    )
    for question in world.questions:
        assert question.judge(free) == question.judge(held)


@law(world=worlds())
def test_layers_apply_by_scope_position_and_name_whatever_the_order_of_the_document(world):
    other = world.under(shuffled(world.layers, world.number))
    for question in world.questions:
        assert answers(question.judge(other)) == answers(question.judge(world.policy))


@law(world=worlds())
def test_an_attribute_of_the_context_that_nobody_asks_about_changes_nothing(world):
    for question in world.questions:
        more = {**question.context, "unasked": "a"}
        assert question.judge(world.policy, context=more) == question.judge(world.policy)
