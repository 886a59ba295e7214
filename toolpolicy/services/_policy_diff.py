"""What differs between two policy documents, layer by layer and rule by rule."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from toolpolicy.engine.documents import FORMAT, parse_policy
from toolpolicy.engine.policy_grades import Direction, grade_layer, grade_rule
from toolpolicy.engine.schema_changes import same
from toolpolicy.engine.values import Layer, OrderedRule, Rule

Wire = dict[str, Any]


def diff(before: Wire, after: Wire) -> list[Wire]:
    """Return the differences in the order of `after`, removals last.

    Each is `{change, layer, rule?, before?, after?, grade?}`; `change` is added, removed, changed
    or moved. Layers are the same by name and rules by id; an added or removed layer stands for its
    rules. `grade` says that answers can only tighten, or only loosen, where that is proven.
    """
    old, new = _by_name(before), _by_name(after)
    found = [change for name in new for change in _layer_changes(name, old.get(name), new[name])]
    return found + [
        {
            "change": "removed",
            "layer": name,
            "before": old[name],
            **_graded(grade_layer(_parsed(old[name]), None)),
        }
        for name in old
        if name not in new
    ]


def direction_of(changes: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the one way in which all of the changes move answers; None where it is not known."""
    ways = {change.get("grade") for change in changes if change["change"] != "moved"}
    ordered = any(change["change"] == "moved" and "rule" in change for change in changes)
    return ways.pop() if len(ways) == 1 and not ordered else None


def _parsed(entry: Wire) -> Layer:
    return parse_policy({"format": FORMAT, "layers": [entry]}).layers[0]


def _graded(grade: Direction | None) -> Wire:
    return {"grade": str(grade)} if grade else {}


def _by_name(document: Wire) -> dict[str, Wire]:
    return {entry["policy"]["name"]: entry for entry in document["layers"]}


def _layer_changes(name: str, old: Wire | None, new: Wire) -> Iterator[Wire]:
    if old is None:
        grade = grade_layer(None, _parsed(new))
        yield {"change": "added", "layer": name, "after": new, **_graded(grade)}
        return
    if same(old, new):
        return
    was, now = _parsed(old), _parsed(new)
    head, new_head = _head(old), _head(new)
    place, new_place = head.pop("position"), new_head.pop("position")
    if not same(head, new_head):
        both = {"before": head, "after": new_head, **_graded(grade_layer(was, now))}
        yield {"change": "changed", "layer": name, **both}
    if place != new_place:
        yield {"change": "moved", "layer": name, "before": place, "after": new_place}
    known, read = _read(was), _read(now)
    for change in _rule_changes(name, _rules(old), _rules(new)):
        rule = change["rule"]
        moved = change["change"] == "moved"
        grade = None if moved else grade_rule(now, known.get(rule), read.get(rule))
        yield {**change, **_graded(grade)}


def _head(entry: Wire) -> Wire:
    """Return an entry without its rules."""
    settings = {k: v for k, v in entry.get("settings", {}).items() if k != "rules"}
    policy = {k: v for k, v in entry["policy"].items() if k != "rules"}
    return {**entry, "settings": settings, "policy": policy}


def _rules(entry: Wire) -> dict[str, Wire]:
    """Return each rule with what is set beside it, by id."""
    beside = entry.get("settings", {}).get("rules", {})
    return {
        rule["id"]: {**rule, **({"settings": beside[rule["id"]]} if rule["id"] in beside else {})}
        for rule in entry["policy"]["rules"]
    }


def _read(layer: Layer) -> dict[str | None, Rule | OrderedRule]:
    return {rule.id: rule for rule in layer.rules}


def _rule_changes(layer: str, old: Mapping[str, Wire], new: Mapping[str, Wire]) -> Iterator[Wire]:
    moved = _moved([name for name in old if name in new], [name for name in new if name in old])
    for index, (name, rule) in enumerate(new.items()):
        if name not in old:
            yield {"change": "added", "layer": layer, "rule": name, "after": rule}
        elif not same(old[name], rule):
            yield {
                "change": "changed",
                "layer": layer,
                "rule": name,
                "before": old[name],
                "after": rule,
            }
        if name in moved:
            place = list(old).index(name)
            yield {"change": "moved", "layer": layer, "rule": name, "before": place, "after": index}
    for name, rule in old.items():
        if name not in new:
            yield {"change": "removed", "layer": layer, "rule": name, "before": rule}


def _moved(old: Sequence[str], new: Sequence[str]) -> set[str]:
    """Return the fewest names whose moving turns one order into the other, as difflib sees it."""
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    stayed = {name for block in blocks for name in new[block.b : block.b + block.size]}
    return set(new) - stayed
