"""Small changes of layers in wire form, and answers in a form that can be compared across them."""

import copy
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.growing import STRICT, Json
from toolpolicy.engine.decision import Decision, Verdict


def without(layers: Sequence[Json], index: int) -> list[Json]:
    return [*layers[:index], *layers[index + 1 :]]


def replaced(layers: Sequence[Json], index: int, layer: Json) -> list[Json]:
    return [*layers[:index], layer, *layers[index + 1 :]]


def set_on(layer: Json, **settings: Any) -> Json:
    """Return the layer with other settings."""
    return {**layer, "settings": {**layer["settings"], **settings}}


def set_on_rule(layer: Json, rule_id: str, **settings: Any) -> Json:
    """Return the layer with other settings of one rule."""
    rules = layer["settings"].get("rules", {})
    changed = {**rules.get(rule_id, {}), **settings}
    return set_on(layer, rules={**rules, rule_id: changed})


def with_rules(layer: Json, rules: Sequence[Json]) -> Json:
    """Return the layer with these rules, which may be fewer: settings of others are dropped."""
    ids = {rule.get("id") for rule in rules}
    settings = copy.deepcopy(layer["settings"])
    if "rules" in settings:
        settings["rules"] = {key: kept for key, kept in settings["rules"].items() if key in ids}
    policy = {**layer["policy"], "rules": list(rules)}
    return {**layer, "settings": settings, "policy": policy}


def always(layer: Json) -> Json:
    """Return the layer without what could keep it, or a rule of it, from being enforced."""
    kept = ("fail_safe", "may_waive_approval")
    settings = {name: layer["settings"][name] for name in kept if name in layer["settings"]}
    placed = {name: part for name, part in layer.items() if name != "target"}
    return {**placed, "scope": "config", "settings": settings}


def stripped(layer: Json, setting: str) -> Json:
    """Return the layer with one setting gone, its own and that of each rule."""

    def without_it(settings: Json) -> Json:
        return {name: kept for name, kept in settings.items() if name != setting}

    settings = without_it(layer["settings"])
    if "rules" in settings:
        settings["rules"] = {key: without_it(kept) for key, kept in settings["rules"].items()}
    return {**layer, "settings": settings}


def shuffled(items: Sequence[Any], number: int) -> list[Any]:
    mixed = list(items)
    random.Random(number).shuffle(mixed)  # noqa: S311  (test data, no secret)
    return mixed


def strict_places(layers: Sequence[Json]) -> list[int]:
    return [index for index, layer in enumerate(layers) if layer["combining"] == STRICT]


class Answer(NamedTuple):
    """A verdict without the numbers of layer and rule, which a change of the document moves."""

    visible: bool
    callable: bool
    approval: str
    reason_code: str
    layer: str | None
    by_default: bool
    rule: str | None
    reason: str | None


def answer(verdict: Verdict) -> Answer:
    by = verdict.blocked_by
    return Answer(
        verdict.visible,
        verdict.callable,
        str(verdict.approval),
        str(verdict.reason_code),
        by.layer if by else None,
        by is not None and by.rule is None,
        by.id if by else None,
        by.reason if by else None,
    )


def answers(decision: Decision) -> tuple[Answer, bool, Answer | None]:
    """Return the whole decision: its verdict, whether a person is asked, the observed verdict."""
    observed = decision.observed
    told = None if observed is None else answer(observed)
    return answer(decision.verdict), decision.needs_approval, told


def never_wider(narrow: Decision, wide: Decision) -> bool:
    """Tell whether the first decision shows and admits no more than the second."""
    return narrow.visible <= wide.visible and narrow.callable <= wide.callable
