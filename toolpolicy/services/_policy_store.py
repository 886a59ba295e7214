"""Writes the rows of a settled draft: only what differs, positions without a collision."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import F

from toolpolicy.engine.canonical import dumps
from toolpolicy.models import Layer, Rule
from toolpolicy.models.policy import MAX_POSITION
from toolpolicy.services import _policy_rows as rows
from toolpolicy.services._policy_draft import Draft, Place
from toolpolicy.services.errors import InvalidInput, model_faults

# Above any position: rows on the move wait there until their new place is free.
_ASIDE: Final = MAX_POSITION + 1


def store(draft: Draft) -> None:
    """Write what changed; a changed layer counts one version up, its rules included.

    A number of statements that depends on how many layers and rules changed, never on how many
    there are.
    """
    kept = [place.layer.pk for place in draft.places if place.layer is not None]
    if len(kept) < len(draft.before["layers"]):
        Layer.objects.exclude(pk__in=kept).delete()
    changed = [place for place in draft.places if not _same(place.entry, place.was)]
    moved = [
        p.layer.pk for p in changed if p.layer is not None and p.was and _moves(p.entry, p.was)
    ]
    if moved:
        Layer.objects.filter(pk__in=moved).update(position=F("position") + _ASIDE)
    for place in changed:
        _store_layer(place)


def _moves(entry: rows.Wire, was: rows.Wire) -> bool:
    return (entry["scope"], entry["position"]) != (was["scope"], was["position"])


def _store_layer(place: Place) -> None:
    layer = place.layer or Layer(version=0)
    for name, value in rows.layer_values(place.entry).items():
        setattr(layer, name, value)
    layer.version += 1
    clean(layer, {})
    layer.save()
    place.layer = layer
    _store_rules(layer, place)


def _store_rules(layer: Layer, place: Place) -> None:
    _delete_others(layer, place)
    added: list[Rule] = []
    changed: list[Rule] = []
    moved: list[Rule] = []
    for index, values in enumerate(rows.rule_values(place.entry)):
        stored = place.rules[index]
        row = place.rules[index] = stored or Rule(layer=layer)
        differs = _lay(values, row, everything=stored is None)
        if differs - {"position"}:
            clean(row, rows.RULE_MEMBERS)
            (added if stored is None else changed).append(row)
        if stored is not None and "position" in differs:
            moved.append(row)
    _move(moved)
    for row in changed:
        row.save()
    Rule.objects.bulk_create(added)


def _delete_others(layer: Layer, place: Place) -> None:
    kept = [rule.pk for rule in place.rules if rule is not None]
    if place.was is not None and len(kept) < len(place.was["policy"]["rules"]):
        Rule.objects.filter(layer=layer).exclude(pk__in=kept).delete()


def _lay(values: Mapping[str, Any], row: Rule, *, everything: bool) -> set[str]:
    """Set the columns that differ and return their names."""
    differs = {n for n, value in values.items() if everything or not _same(getattr(row, n), value)}
    for name in differs:
        setattr(row, name, values[name])
    return differs


def _move(rules: Sequence[Rule]) -> None:
    """Give rules that are stored already the positions that they now have."""
    if not rules:
        return
    Rule.objects.filter(pk__in=[rule.pk for rule in rules]).update(position=F("position") + _ASIDE)
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE toolpolicy_rule SET position = %s WHERE id = %s",
            [(rule.position, rule.pk) for rule in rules],
        )


def _same(old: Any, new: Any) -> bool:
    """Tell whether two columns or entries are equal; in JSON, 1, 1.0 and true are not."""
    return bool(old == new and (not isinstance(new, dict | list) or dumps(old) == dumps(new)))


def clean(row: Layer | Rule, wire_names: Mapping[str, str]) -> None:
    """Check columns. What spans rows was checked in the document, and constraints stand behind."""
    try:
        row.full_clean(exclude={"layer"}, validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        raise InvalidInput(model_faults(error, wire_names)) from None
