"""Laws of explanations: a trace says what the decision did, and names what decided it.

- fired: the rules that a trace shows as matching are those that the decision says fired
- decider: the one thing marked is what the decision is blocked by; else the rule that still asks,
  or still waives, when all others that do are gone; else one of those without which the tool would
  be shut, or somebody be asked; where no rule is named, none makes a difference
- plain: an explanation is JSON, and its sentences are printable
"""

from dataclasses import dataclass
from typing import Any

from tests.engine.changes import set_on_rule
from tests.growing import NOW, Json
from tests.strategies import Question, World, law, worlds
from toolpolicy.engine import canonical
from toolpolicy.engine.decision import Decision
from toolpolicy.engine.evaluate import Judged, judge
from toolpolicy.engine.explanation import explain
from toolpolicy.engine.ordered_wire import parse_mode
from toolpolicy.engine.words import Approval, Effect, Mode, Surface

ASKING = (Effect.REQUIRE_APPROVAL, Mode.ASK)
WAIVING = (Effect.AUTO_APPROVE, Mode.ON)
BLOCKING = (Effect.DENY, Effect.HIDE, Mode.OFF)
RESTRICTING, PERMITTING = (*BLOCKING, *ASKING), (*WAIVING, Effect.ALLOW)


def named(world: World) -> list[Json]:
    """Return the layers with an id for every rule, so that each can be switched off."""
    for layer in world.layers:
        for number, rule in enumerate(layer["policy"]["rules"]):
            rule.setdefault("id", f"r{number}")
    return world.layers


def judged(world: World, questions: list[Question], surface: Surface) -> tuple[Any, Any]:
    asked = [Judged(question.tool, question.args) for question in questions]
    decision = judge(world.policy, asked, questions[0].context, surface, NOW)
    return decision, explain(world.policy, asked, questions[0].context, decision, now=NOW)


@law(world=worlds())
def test_a_trace_shows_the_rules_that_fired(world):
    places = {layer["policy"]["name"]: place for place, layer in enumerate(world.layers)}
    for question in world.questions:
        decision, explanation = judged(world, [question], Surface(question.surface))
        [subject] = explanation["subjects"]
        shown = [
            (places[entry["layer"]], rule["index"])
            for entry in subject["layers"]
            for rule in entry.get("rules", [])
            if rule["result"] == "matches" and rule["effect"] != Mode.AUTO
        ]
        assert sorted(shown) == sorted(decision.fired)
        assert canonical.dumps(explanation)
        assert all(sentence.isprintable() for sentence in explanation["sentences"].values())


def effect_of(rule: Json) -> str:
    return str(rule.get("effect") or parse_mode(rule["mode"]))


def switched_off(layers: list[Json], effects: tuple[str, ...], kept: Json) -> list[Json]:
    """Switch off all rules of these effects but the one that is kept."""
    out = []
    for layer in layers:
        changed, here = layer, layer["policy"]["name"] == kept.get("layer")
        for rule in layer["policy"]["rules"]:
            if effect_of(rule) in effects and not (here and rule["id"] == kept["rule"]):
                changed = set_on_rule(changed, rule["id"], enabled=False)
        out.append(changed)
    return out


@dataclass
class Told:
    """A decision about one to three subjects of a call, or one of a listing, and what is told."""

    world: World

    def __post_init__(self) -> None:
        self.layers = named(self.world)
        self.surface = Surface(self.world.questions[0].surface)
        several = self.world.number % 3 if self.surface is Surface.CALL else 0
        self.asked = list(self.world.questions[: 1 + several])
        self.decision, self.explanation = judged(self.world, self.asked, self.surface)
        self.decider = self.explanation["decider"]

    def alone(self, effects: tuple[str, ...] = (), kept: Json | None = None) -> Decision:
        """Judge the decider's subject by itself, without the rules of these effects."""
        return self.judge([self.asked[self.decider["subject"]]], effects, kept)

    def judge(
        self, asked: list[Question], effects: tuple[str, ...], kept: Json | None = None
    ) -> Decision:
        """Judge these without the rules of these effects, but for the one that is kept."""
        policy = self.world.under(switched_off(self.layers, effects, kept or {}))
        judged = [Judged(question.tool, question.args) for question in asked]
        return judge(policy, judged, self.asked[0].context, self.surface, NOW)

    @property
    def effect(self) -> str:
        """What the rule does that is named."""
        names = [layer["policy"]["name"] for layer in self.layers]
        rules = self.layers[names.index(self.decider["layer"])]["policy"]["rules"]
        return effect_of(rules[self.decider["index"]])


@law(world=worlds())
def test_the_decider_is_what_the_decision_is_blocked_by(world):
    told = Told(world)
    by, decider = told.decision.blocked_by, told.decider
    named_as_blocking = decider["kind"] == "layer_default" or (
        decider["kind"] == "rule" and told.effect in BLOCKING
    )
    assert named_as_blocking == (by is not None)
    if by is not None:
        assert (decider["subject"], decider["layer"]) == (told.decision.about, by.layer)
        assert (decider["scope"], decider.get("rule")) == (by.scope, by.id)
        assert decider.get("index") == by.rule
        assert (decider["kind"] == "layer_default") == (by.rule is None)
    elif not told.decision.callable or told.decision.needs_approval:
        assert decider["subject"] == told.decision.about


@law(world=worlds())
def test_the_decider_is_marked_once_where_it_stands_and_nothing_else_is(world):
    told = Told(world)
    marked = [
        (number, entry["layer"], rule)
        for number, subject in enumerate(told.explanation["subjects"])
        for entry in subject["layers"]
        for rule in (
            *([None] if entry["decider"] else []),
            *(rule["index"] for rule in entry.get("rules", []) if rule["decider"]),
        )
    ]
    place = (told.decider["subject"], told.decider.get("layer"), told.decider.get("index"))
    assert marked == ([] if place[1] is None else [place])


@law(world=worlds())
def test_the_rule_named_as_the_decider_would_decide_so_by_itself(world):
    told = Told(world)
    if told.decider["kind"] != "rule" or told.decision.blocked_by is not None:
        return
    asks = told.effect in ASKING
    assert asks == told.decision.needs_approval
    waived = told.alone().approval is Approval.WAIVED
    if asks:
        assert told.alone(ASKING, kept=told.decider).approval is Approval.REQUIRED
    elif waived and told.effect in WAIVING:
        # An `on` may be needed besides, so that the list itself does not ask.
        on_needed = told.alone((Mode.ON,)).approval is Approval.REQUIRED
        effects = (told.effect,) if on_needed else WAIVING
        assert told.alone(effects, kept=told.decider).approval is Approval.WAIVED
    else:
        # It opens something: without its like the tool would be shut, or somebody be asked.
        shut = told.alone((told.effect,))
        assert shut.blocked_by or not shut.callable or shut.needs_approval


@law(world=worlds())
def test_where_no_rule_is_named_no_rule_decides(world):
    told = Told(world)
    if told.decider["kind"] in ("rule", "layer_default"):
        return
    stopped = not told.decision.admits or told.decision.needs_approval
    # What stops a call stops one subject of it; what lets it pass lets all of them.
    asked = [told.asked[told.decider["subject"]]] if stopped else told.asked
    rest = told.judge(asked, RESTRICTING if stopped else PERMITTING)
    assert (rest.outcome, rest.reason_code) == (told.decision.outcome, told.decision.reason_code)
