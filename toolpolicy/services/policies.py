"""The policy: reading it, and every way to change it. The only write path of layers and rules.

Each write locks the policy, checks the whole document that would result, stores the rows, makes a
new version live and records it, in one transaction. A write that changes nothing does nothing.
Writes raise `InvalidInput` (in terms of what was sent), `NotFound`, `Stale` (somebody changed the
layer since `version`) and `Refused` (`baseline_protected`). Faces check who may write at all.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from toolpolicy.engine.faults import Fault, shown
from toolpolicy.models import PolicyState, PolicyVersion
from toolpolicy.models.choices import Combining, RecordKind, Scope
from toolpolicy.services import _policy_diff, _policy_edits, _publishing
from toolpolicy.services import _policy_rows as rows
from toolpolicy.services._policy_diff import direction_of
from toolpolicy.services._policy_draft import Draft, Place, Sent
from toolpolicy.services._policy_import import (
    Imported,
    ImportMode,
    ImportOptions,
    import_document,
)
from toolpolicy.services._policy_rows import Wire
from toolpolicy.services._publishing import Author, Change
from toolpolicy.services._publishing import publish as _publish
from toolpolicy.services.actors import NOWHERE, Actor, Origin
from toolpolicy.services.baseline import BASELINE_LAYERS
from toolpolicy.services.errors import InvalidInput, NotFound

Values = Mapping[str, Any]
Saved = _publishing.Saved
__all__ = ("ImportMode", "ImportOptions", "Imported", "direction_of", "import_document")

# --- reading -------------------------------------------------------------------------------------


def live() -> PolicyVersion | None:
    """Return the version that decisions are judged by, with its document: one query."""
    state = PolicyState.objects.select_related("live__document").get()
    return state.live


def version(*, number: int) -> PolicyVersion:
    """Return one version with its document. Raise NotFound."""
    found = PolicyVersion.objects.select_related("document").filter(number=number).first()
    if found is None:
        raise NotFound(f"policy version {number}")
    return found


def working_document() -> Wire:
    """Return the policy document of the rows as they stand: two queries."""
    return rows.document(rows.entry_of(layer, rules) for layer, rules in rows.load())


def version_or_live(*, number: int | None = None) -> PolicyVersion:
    """Return one version with its document, the live one by default. Raise NotFound."""
    found = live() if number is None else version(number=number)
    if found is None:
        raise NotFound("live policy; run `manage.py setup`")
    return found


def export(*, number: int | None = None) -> Wire:
    """Return the document of a version, of the live one by default. Raise NotFound."""
    document: Wire = json.loads(version_or_live(number=number).document.text)
    return document


def diff(*, before: int, after: int) -> list[Wire]:
    """Return what differs between two versions, as `_policy_diff.diff` says it. Raise NotFound."""
    return _policy_diff.diff(export(number=before), export(number=after))


# --- layers --------------------------------------------------------------------------------------


@transaction.atomic
def create_layer(*, actor: Actor, values: Values, origin: Origin = NOWHERE) -> Saved:
    """Add a layer without rules, by default last in its scope.

    `values` has the members of the API. A new strict layer is fail-safe unless it says otherwise.
    """
    draft = Draft.open()
    scope = values.get("scope", Scope.CONFIG.value)
    combining = values.get("combining", Combining.DENY_OVERRIDES.value)
    entry: Wire = {
        "scope": scope,
        "combining": combining,
        "position": draft.next_position(scope),
        "settings": {} if combining == Combining.LAST_MATCH else {"fail_safe": True},
        "policy": {"name": "", "rules": []},
    }
    _policy_edits.edit_layer(entry, values)
    place = Place(entry)
    draft.places.append(place)
    change = _layer_change("create_layer", "added the layer", place)
    return _publish(draft, Author(actor=actor, origin=origin), change, Sent(place=place))


@transaction.atomic
def update_layer(
    *, actor: Actor, layer: int, version: int, values: Values, origin: Origin = NOWHERE
) -> Saved:
    """Change the members of a layer that are given; `layer` is its key, `version` as seen."""
    draft = Draft.open()
    place = draft.layer(layer)
    place.expect_version(version)
    scope, combining = place.entry["scope"], place.entry["combining"]
    change = _layer_change("update_layer", "changed the layer", place)
    _policy_edits.edit_layer(place.entry, values)
    if place.entry["combining"] != combining:
        message = f"a layer stays {shown(combining)} once it exists; add another layer instead"
        raise InvalidInput([Fault("/combining", message)])
    if place.entry["scope"] != scope and "position" not in values:
        place.entry["position"] = draft.next_position(place.entry["scope"], place)
    return _publish(draft, Author(actor=actor, origin=origin), change, Sent(place=place))


@transaction.atomic
def delete_layer(*, actor: Actor, layer: int, version: int, origin: Origin = NOWHERE) -> Saved:
    """Delete a layer with its rules."""
    draft = Draft.open()
    place = draft.layer(layer)
    place.expect_version(version)
    draft.places.remove(place)
    change = _layer_change("delete_layer", "deleted the layer", place)
    return _publish(draft, Author(actor=actor, origin=origin), change)


@transaction.atomic
def reorder_layers(
    *, actor: Actor, scope: str, version: int, order: Sequence[int], origin: Origin = NOWHERE
) -> Saved:
    """Put the layers of a scope in this order; `order` names the key of each one once.

    `version` is that of the policy as seen: an order is of the whole, no single layer's.
    """
    draft = Draft.open()
    draft.expect_live(version)
    places = {
        place.layer.pk: place
        for place in draft.places
        if place.layer is not None and place.entry["scope"] == scope
    }
    _refuse_other_order(order, places, f"layer of the scope {shown(scope)}")
    for position, pk in enumerate(order):
        draft.layer(pk).entry["position"] = position
    summary = f"reordered the layers of the scope {shown(scope)}"
    change = Change(action="reorder_layers", summary=summary)
    return _publish(draft, Author(actor=actor, origin=origin), change)


# --- rules ---------------------------------------------------------------------------------------


@transaction.atomic
def create_rule(*, actor: Actor, layer: int, values: Values, origin: Origin = NOWHERE) -> Saved:
    """Add a rule to a layer, by default as its last one; without an `id` it gets one."""
    draft = Draft.open()
    place = draft.layer(layer)
    taken = [rule["id"] for rule in place.rule_wires]
    wire = {"id": _policy_edits.new_id(values, taken), "match": {}}
    index = _policy_edits.place_of(values.get("position", len(taken)), len(taken))
    place.insert_rule(index, wire, None)
    _policy_edits.edit_rule(place.entry, index, {**values, "id": wire["id"]})
    change = _rule_change("create_rule", "added the rule", place, index)
    return _publish(
        draft, Author(actor=actor, origin=origin), change, Sent(place=place, rule=index)
    )


@transaction.atomic
def update_rule(
    *, actor: Actor, rule: int, version: int, values: Values, origin: Origin = NOWHERE
) -> Saved:
    """Change the members of a rule that are given; `rule` is its key, `version` its layer's."""
    draft = Draft.open()
    place, index = draft.rule(rule)
    place.expect_version(version)
    change = _rule_change("update_rule", "changed the rule", place, index)
    _policy_edits.edit_rule(place.entry, index, values)
    if "position" in values:
        wire, row = place.take_rule(index)
        index = _policy_edits.place_of(values["position"], len(place.rules))
        place.insert_rule(index, wire, row)
    return _publish(
        draft, Author(actor=actor, origin=origin), change, Sent(place=place, rule=index)
    )


@transaction.atomic
def delete_rule(*, actor: Actor, rule: int, version: int, origin: Origin = NOWHERE) -> Saved:
    """Delete a rule."""
    draft = Draft.open()
    place, index = draft.rule(rule)
    place.expect_version(version)
    change = _rule_change("delete_rule", "deleted the rule", place, index)
    wire, _ = place.take_rule(index)
    place.entry.get("settings", {}).get("rules", {}).pop(wire["id"], None)
    return _publish(draft, Author(actor=actor, origin=origin), change)


@transaction.atomic
def reorder_rules(
    *, actor: Actor, layer: int, version: int, order: Sequence[int], origin: Origin = NOWHERE
) -> Saved:
    """Put the rules of a layer in this order; `order` names the key of each one once."""
    draft = Draft.open()
    place = draft.layer(layer)
    place.expect_version(version)
    pairs = {
        row.pk: (wire, row)
        for wire, row in zip(place.rule_wires, place.rules, strict=True)
        if row is not None
    }
    _refuse_other_order(order, pairs, "rule of the layer")
    place.rule_wires[:] = [pairs[pk][0] for pk in order]
    place.rules[:] = [pairs[pk][1] for pk in order]
    change = _layer_change("reorder_rules", "reordered the rules of the layer", place)
    return _publish(draft, Author(actor=actor, origin=origin), change, Sent(place=place))


# --- the whole policy ----------------------------------------------------------------------------


@transaction.atomic
def publish(*, actor: Actor, origin: Origin = NOWHERE) -> Saved:
    """Make the rows as they stand live, where they are not."""
    change = Change(action="publish", summary="published the policy", kind=RecordKind.PUBLISH)
    return _publish(Draft.open(), Author(actor=actor, origin=origin), change)


@transaction.atomic
def roll_back(
    *, actor: Actor, number: int, why: str = "", seen: int | None = None, origin: Origin = NOWHERE
) -> Saved:
    """Make the policy again what it was in version `number`, as a new version; `why` is kept.

    Layers and rules that have the same name or id keep their rows. `seen` is the number of the
    live version that the caller saw; raises Stale when another is live now.
    """
    draft = Draft.open()
    if seen is not None:
        draft.expect_live(seen)
    entries = json.loads(version(number=number).document.text)["layers"]
    draft.replace(entries)
    summary = f"rolled back to version {number}{f': {why}' if why else ''}"
    change = Change(action="roll_back", summary=summary)
    return _publish(draft, Author(actor=actor, origin=origin), change)


@transaction.atomic
def install_baseline(*, actor: Actor, origin: Origin = NOWHERE) -> Saved:
    """Add those of the three baseline layers that are not there (SPEC §6)."""
    change = Change(action="install_baseline", summary="installed the baseline layers")
    return _add(BASELINE_LAYERS, Author(actor=actor, origin=origin), change)


@transaction.atomic
def add_layers(
    *, actor: Actor, layers: Sequence[Wire], summary: str, origin: Origin = NOWHERE
) -> Saved:
    """Add those of these layers whose names are not there, as one version.

    Each is an entry of a policy document without its position: it becomes the last of its scope.
    """
    change = Change(action="add_layers", summary=summary)
    return _add(layers, Author(actor=actor, origin=origin), change)


def _add(layers: Sequence[Wire], author: Author, change: Change) -> Saved:
    draft = Draft.open()
    known = {place.entry["policy"]["name"] for place in draft.places}
    for entry in layers:
        if entry["policy"]["name"] not in known:
            placed = {**entry, "position": draft.next_position(entry["scope"])}
            draft.places.append(Place(placed, rules=[None] * len(entry["policy"]["rules"])))
    return _publish(draft, author, change)


def _refuse_other_order(order: Sequence[int], known: Mapping[int, Any], what: str) -> None:
    if sorted(order) != sorted(known):
        raise InvalidInput([Fault("", f"name each {what} exactly once")])


def _layer_change(action: str, done: str, place: Place) -> Change:
    name = str(place.entry["policy"]["name"])
    return Change(action=action, summary=f"{done} {shown(name)}", layer=name)


def _rule_change(action: str, done: str, place: Place, index: int) -> Change:
    name, rule = place.entry["policy"]["name"], place.rule_wires[index]["id"]
    summary = f"{done} {shown(rule)} of the layer {shown(name)}"
    return Change(action=action, summary=summary, layer=name, rule=rule)
