"""The policy while it is being changed: every layer's rows beside its entry in the document."""

import copy
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from toolpolicy.engine.documents import dump_policy, parse_policy
from toolpolicy.engine.faults import Fault, Faults
from toolpolicy.models import Layer, PolicyState, Rule
from toolpolicy.models.choices import Scope
from toolpolicy.services import _policy_rows as rows
from toolpolicy.services._policy_edits import new_id, sent_faults
from toolpolicy.services._policy_rows import Wire
from toolpolicy.services.errors import InvalidInput, NotFound, Stale


@dataclass(slots=True)
class Place:
    """One layer of a draft. Without a row it is new; without `was` too. Rules likewise."""

    entry: Wire
    layer: Layer | None = None
    rules: list[Rule | None] = field(default_factory=list)
    was: Wire | None = None

    @property
    def rule_wires(self) -> list[Wire]:
        """The rules of the entry, as written."""
        wires: list[Wire] = self.entry["policy"]["rules"]
        return wires

    def expect_version(self, version: int) -> None:
        """Raise Stale unless the layer is at `version`."""
        if self.layer is not None and self.layer.version != version:
            raise Stale(version, self.layer.version)

    def insert_rule(self, index: int, wire: Wire, row: Rule | None) -> None:
        """Put a rule at `index`."""
        self.rule_wires.insert(index, wire)
        self.rules.insert(index, row)

    def take_rule(self, index: int) -> tuple[Wire, Rule | None]:
        """Take the rule at `index` out. Its settings stay behind."""
        return self.rule_wires.pop(index), self.rules.pop(index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What the caller sent: a layer, or one of its rules. Faults are told in its terms."""

    place: Place
    rule: int | None = None


@dataclass(slots=True)
class Draft:
    """The whole policy, locked until the transaction ends."""

    state: PolicyState
    places: list[Place]
    before: Wire

    @classmethod
    def open(cls) -> Self:
        """Lock the policy and read it: three queries.

        The lock is the state row on PostgreSQL; on SQLite it is the transaction itself, which is
        IMMEDIATE. Whoever waited for it reads what the other one committed.
        """
        # Of the row alone: PostgreSQL cannot lock the optional side of a join.
        state = PolicyState.objects.select_for_update(of=("self",)).select_related("live").get()
        places = [
            Place(entry := rows.entry_of(layer, rules), layer, list(rules), entry)
            for layer, rules in rows.load()
        ]
        return cls(state, places, rows.document(place.entry for place in places))

    def expect_live(self, number: int) -> None:
        """Raise Stale unless version `number` of the policy is live; 0 is none."""
        live = self.state.live.number if self.state.live else 0
        if live != number:
            raise Stale(number, live)

    def layer(self, pk: int) -> Place:
        """Return the place of a layer, ready to be changed."""
        for place in self.places:
            if place.layer is not None and place.layer.pk == pk:
                place.entry = copy.deepcopy(place.entry)  # `was` stays as it was
                return place
        raise NotFound(f"layer {pk}")

    def rule(self, pk: int) -> tuple[Place, int]:
        """Return the place of a rule's layer, ready to be changed, and the rule's index."""
        for place in self.places:
            for index, rule in enumerate(place.rules):
                if rule is not None and rule.pk == pk and place.layer is not None:
                    return self.layer(place.layer.pk), index
        raise NotFound(f"rule {pk}")

    def replace(self, entries: Iterable[Wire]) -> None:
        """Put these entries in place of all; where name or id is the same, the row is kept."""
        self.places = [_place_again(entry, self.places) for entry in entries]

    def next_position(self, scope: Any, besides: Place | None = None) -> int:
        """Return the position after the last layer of a scope, `besides` not counted."""
        others = [place.entry for place in self.places if place is not besides]
        return max((e["position"] for e in others if e["scope"] == scope), default=-1) + 1

    def settle(self, sent: Sent | None) -> Wire:
        """Parse the whole, put the engine's own spelling into the entries, and return it.

        Raise InvalidInput with every fault, in terms of what was sent.
        """
        try:
            policy = parse_policy(rows.document(place.entry for place in self.places))
        except Faults as error:
            raise InvalidInput(self._told(error.faults, sent)) from None
        for place, entry in zip(self.places, dump_policy(policy)["layers"], strict=True):
            place.entry = _as_held(entry)
        self._refuse_shared_positions()
        self.places.sort(key=_order)
        return rows.document(place.entry for place in self.places)

    def _told(self, faults: Iterable[Fault], sent: Sent | None) -> list[Fault]:
        if sent is None:
            return list(faults)
        number = next(n for n, place in enumerate(self.places) if place is sent.place)
        rule = None if sent.rule is None else (sent.rule, sent.place.rule_wires[sent.rule]["id"])
        return sent_faults(faults, number, rule)

    def _refuse_shared_positions(self) -> None:
        positions = Counter((p.entry["scope"], p.entry["position"]) for p in self.places)
        faults = [
            Fault("/position", f"another layer of the scope `{scope}` has the position {position}")
            for (scope, position), count in positions.items()
            if count > 1
        ]
        if faults:
            raise InvalidInput(faults)


def _place_again(entry: Wire, places: Iterable[Place]) -> Place:
    """Return the place of another entry, with the rows that are still there."""
    old = next((p for p in places if p.entry["policy"]["name"] == entry["policy"]["name"]), None)
    ids = [rule.get("id") for rule in entry["policy"]["rules"]]
    if old is None or old.entry["combining"] != entry["combining"]:
        return Place(entry, rules=[None] * len(ids))
    known = {row.rule_id: row for row in old.rules if row is not None}
    return Place(entry, old.layer, [known.get(name or "") for name in ids], old.was)


def _as_held(entry: Wire) -> Wire:
    """Return an entry as rows hold it, so that what is published is what the rows say.

    Every rule gets an id; an empty reason, for example, is none.
    """
    taken = {rule["id"] for rule in entry["policy"]["rules"] if "id" in rule}
    for rule in entry["policy"]["rules"]:
        if "id" not in rule:
            rule["id"] = new_id({"effect": rule.get("mode"), **rule}, taken)
            taken.add(rule["id"])
    rules = [Rule(**values) for values in rows.rule_values(entry)]
    return rows.entry_of(Layer(**rows.layer_values(entry)), rules)


def _order(place: Place) -> tuple[int, int, str]:
    """Sort as layers apply (SPEC §5)."""
    entry = place.entry
    rank = Scope.values.index(entry["scope"])
    return rank, entry["position"], entry["policy"]["name"]
