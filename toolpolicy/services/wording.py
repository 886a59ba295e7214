"""Stored rules in words, and those that would be stored, for pages and reports."""

from typing import Any

from toolpolicy.engine.documents import parse_policy
from toolpolicy.engine.faults import Faults
from toolpolicy.engine.sentences import Sentence, sentence
from toolpolicy.models import Layer, Rule
from toolpolicy.models.choices import Combining, Scope
from toolpolicy.services import _policy_rows as rows


def sentence_of(rule: Rule) -> Sentence | None:
    """Say a stored rule; its layer is fetched unless it is loaded.

    None for a row that the engine cannot read. No service stores one, and a page that shows it
    is how somebody finds it.
    """
    try:
        policy = parse_policy(rows.document([rows.entry_of(rule.layer, [rule])]))
    except Faults:
        return None
    return sentence(policy.layers[0].rules[0])


def as_rows(entry: dict[str, Any]) -> tuple[Layer, list[tuple[Rule, Sentence]]]:
    """Return an entry of a policy document as the rows it would be, none stored, each rule said."""
    said = map(sentence, parse_policy(rows.document([entry])).layers[0].rules)
    stored = (Rule(**values) for values in rows.rule_values(entry))
    return Layer(**rows.layer_values(entry)), list(zip(stored, said, strict=True))


def as_row(wire: dict[str, Any]) -> tuple[Rule, Sentence]:
    """Return a rule of a difference, its settings beside it, as the row it would be, and said."""
    rule = {member: value for member, value in wire.items() if member != "settings"}
    ordered = "mode" in rule
    entry = {
        "scope": Scope.CONFIG.value,
        "position": 0,
        "combining": (Combining.LAST_MATCH if ordered else Combining.DENY_OVERRIDES).value,
        "settings": {"rules": {rule["id"]: wire["settings"]} if "settings" in wire else {}},
        "policy": {"name": "the layer of a rule", "rules": [rule]},
    }
    return as_rows(entry)[1][0]
