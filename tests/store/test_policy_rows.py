"""The law of rows and documents: each holds exactly what the other does."""

from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factories import SYSTEM, live_version
from tests.strategies import World, worlds
from toolpolicy.engine.canonical import dumps
from toolpolicy.engine.documents import RULE_SETTINGS_MEMBERS, dump_policy, parse_policy
from toolpolicy.models import Layer
from toolpolicy.services import _policy_rows as rows
from toolpolicy.services import policies
from toolpolicy.services._policy_draft import Draft, Place
from toolpolicy.services._publishing import Author, Change, publish
from toolpolicy.services.actors import NOWHERE

# Fewer cases than of a pure law: each one is some twenty statements.
in_one_database = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def storable(world: World) -> list[dict[str, Any]]:
    """Return the layers of a world at positions of their own, every rule with an id."""
    for position, layer in enumerate(world.layers):
        layer["position"] = position
        for number, rule in enumerate(layer["policy"]["rules"]):
            rule.setdefault("id", f"n{number}")
    return world.layers


def put(layers: list[dict[str, Any]]) -> None:
    """Make the rows those of these layers, whatever they were."""
    draft = Draft.open()
    draft.places = [Place(layer, rules=[None] * len(layer["policy"]["rules"])) for layer in layers]
    change = Change(action="put", summary="put")
    publish(draft, Author(actor=SYSTEM, origin=NOWHERE), change)


def normal(layers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the document of these layers as the engine writes it, in the order of application.

    An empty reason is none: rows do not tell them apart.
    """
    for layer in layers:
        for rule in layer["policy"]["rules"]:
            if rule.get("reason") == "":
                del rule["reason"]
    written = dump_policy(parse_policy({"format": "toolpolicy/1", "layers": layers}))["layers"]
    ranks = ("config", "agent", "channel", "session")
    return rows.document(
        sorted(
            written,
            key=lambda e: (ranks.index(e["scope"]), e["position"], e["policy"]["name"]),
        )
    )


@pytest.mark.django_db
@in_one_database
@given(worlds())
def test_what_rows_hold_is_the_document_as_the_engine_writes_it(world):
    layers = storable(world)
    with transaction.atomic():
        put(layers)
        stored = policies.working_document()
        assert dumps(stored) == dumps(normal(layers))
        assert live_version().document.text == dumps(stored)
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_what_a_document_may_leave_out_is_filled_in_before_it_is_published():
    rules = [
        {"effect": "deny", "match": {"name": "a"}, "reason": ""},
        {"id": "deny-a", "effect": "deny"},
        {"effect": "deny", "match": {"name": "a"}},
    ]
    entry = {
        "scope": "config",
        "position": 0,
        "combining": "deny_overrides",
        "settings": {"rules": {"deny-a": {"approval": {}}}},
        "policy": {"name": "x", "rules": rules},
    }
    ordered = {"policy": {"name": "y", "rules": [{"mode": "off", "match": {"verb": "list"}}]}}
    put([entry, {**entry, **ordered, "position": 1, "combining": "last_match", "settings": {}}])
    one, other = policies.working_document()["layers"]
    assert [rule["id"] for rule in one["policy"]["rules"]] == ["deny-a-2", "deny-a", "deny-a-3"]
    assert ("settings" in one, "reason" in one["policy"]["rules"][0]) == (False, False)
    assert other["policy"]["rules"][0]["id"] == "off-list"
    assert live_version().document.text == dumps(policies.working_document())
    assert not policies.publish(actor=SYSTEM).changed


@pytest.mark.django_db
@in_one_database
@given(worlds(), worlds())
def test_rolling_back_makes_the_rows_what_they_were(one, other):
    with transaction.atomic():
        put(storable(one))
        first, columns = live_version(), all_columns()
        put(storable(other))
        policies.roll_back(actor=SYSTEM, number=first.number)
        assert live_version().document_id == first.document_id
        assert all_columns() == columns
        transaction.set_rollback(True)


def all_columns() -> list[Any]:
    """Return every column of every row but keys and versions."""
    rule_fields = (*rows.RULE_MEMBERS, *RULE_SETTINGS_MEMBERS, "position")
    return [
        (
            {name: getattr(layer, name) for name in rows.layer_values(rows.entry_of(layer, rules))},
            [{name: getattr(rule, name) for name in rule_fields} for rule in rules],
        )
        for layer, rules in rows.load()
    ]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.django_db
@in_one_database
@given(st.lists(JSON, max_size=3))
def test_a_json_column_gives_back_the_very_numbers_that_were_put_in(examples):
    with transaction.atomic():
        layer = Layer.objects.create(name="x", position=0)
        layer.rules.create(rule_id="r", effect="deny", position=0, examples=examples)
        assert dumps(layer.rules.get().examples) == dumps(examples)
        transaction.set_rollback(True)
