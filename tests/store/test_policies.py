"""A save of a layer or rule: live and recorded whole, or refused when late, at a fixed cost."""

import json
from itertools import count
from typing import Any

import pytest
from django.db import OperationalError, connection

from tests.factories import ORIGIN, SYSTEM, live_version, make_layer, make_rule, make_user
from tests.store.saving import (
    create_rule,
    last_change,
    live_document,
    rule_ids,
    update_layer,
    update_rule,
)
from toolpolicy.engine.canonical import digest, dumps
from toolpolicy.models import Document, Layer, PolicyState, PolicyVersion, Record, RecordBody, Rule
from toolpolicy.services import policies
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import NotFound, Stale

pytestmark = pytest.mark.django_db


# --- what a save makes live ----------------------------------------------------------------------


def test_a_saved_rule_is_live_in_a_new_version():
    layer = make_layer()
    saved = create_rule(layer, id="no-mail", effect="deny", match={"name": "mail_*"})
    version = live_version()
    assert (saved.changed, saved.version, version.number) == (True, version, 2)
    assert live_document() == {
        "format": "toolpolicy/1",
        "layers": [
            {
                "scope": "config",
                "position": 0,
                "combining": "deny_overrides",
                "settings": {"fail_safe": True},
                "policy": {
                    "name": "house rules",
                    "default": "allow",
                    "rules": [{"id": "no-mail", "effect": "deny", "match": {"name": "mail_*"}}],
                },
            }
        ],
    }
    assert policies.working_document() == live_document()


def test_the_document_of_a_version_stands_under_the_digest_of_its_canonical_text():
    make_layer()
    document = live_version().document
    assert document.digest == digest(document.text)
    assert document.text == dumps(json.loads(document.text))


def test_a_change_is_recorded_with_both_documents_actor_and_request():
    layer = make_layer()
    before = live_document()
    user = make_user("ada")
    policies.create_rule(
        actor=Actor.for_user(user), layer=layer.pk, values={"effect": "hide"}, origin=ORIGIN
    )
    body = last_change()
    assert (body["before"], body["after"]) == (before, live_document())
    assert body["actor"] == {
        "kind": "user",
        "label": "ada",
        "user": str(user.pk),
        "superuser": False,
    }
    assert body["origin"] == {"request_id": "request-1", "address": "192.0.2.7"}
    assert body["summary"] == "added the rule `hide-all` of the layer `house rules`"
    assert body["policy"] == {"version": 2, "digest": live_version().document_id}
    record = Record.objects.newest_first()[0]
    assert (record.kind, record.layer, record.rule) == ("change", "house rules", "hide-all")
    assert (record.actor_label, record.object_label) == ("ada", "house rules / hide-all")
    assert (record.policy_version, record.request_id) == (2, "request-1")


def test_a_version_says_who_when_and_what():
    user = make_user("ada")
    policies.create_layer(actor=Actor.for_user(user), values={"name": "x"}, origin=ORIGIN)
    version = live_version()
    assert (version.published_by, version.published_by_label) == (user, "ada")
    assert (version.comment, version.request_id) == ("added the layer `x`", "request-1")


def test_a_save_that_changes_nothing_leaves_no_trace():
    layer = make_layer(description="d")
    rule = make_rule(layer, match={"name": ["a"]}, when={"agent": "x"})
    counts = (PolicyVersion.objects.count(), Record.objects.count(), layer.version)
    for saved in (
        update_layer(layer, description="d", enabled=True, target=None, valid_from=None),
        update_rule(rule, match={"name": "a"}, position=0, **{"except": None}),
        policies.publish(actor=SYSTEM),
        policies.reorder_layers(actor=SYSTEM, scope="config", version=2, order=[layer.pk]),
        policies.roll_back(actor=SYSTEM, number=2),
    ):
        assert not saved.changed
    layer.refresh_from_db()
    assert counts == (PolicyVersion.objects.count(), Record.objects.count(), layer.version)


@pytest.mark.parametrize(
    ("old", "new"), [([1], [True]), ([1], [1.0]), ([0], [False]), ([1e16], [10**16])]
)
def test_numbers_and_booleans_that_python_calls_equal_are_a_change(old, new):
    rule = make_rule(make_layer(), examples=old)
    assert update_rule(rule, examples=new).changed
    assert dumps(Rule.objects.get().examples) == dumps(new)
    assert dumps(
        live_document()["layers"][0]["settings"]["rules"][rule.rule_id]["examples"]
    ) == dumps(new)


def test_going_back_to_an_earlier_content_is_a_new_version_of_the_same_document():
    layer = make_layer(description="a")
    first = live_version()
    update_layer(layer, description="b")
    layer.refresh_from_db()
    update_layer(layer, description="a")
    again = live_version()
    assert (again.number, again.document_id) == (3, first.document_id)
    assert Document.objects.count() == 2


def test_rows_that_were_changed_behind_our_back_go_live_with_the_next_publication():
    make_layer()
    Layer.objects.update(description="by hand")
    saved = policies.publish(actor=SYSTEM)
    assert (saved.changed, live_document()["layers"][0]["settings"]["description"]) == (
        True,
        "by hand",
    )
    assert Record.objects.newest_first()[0].kind == "publish"


# --- lost updates --------------------------------------------------------------------------------


def test_a_change_of_a_rule_counts_its_layer_up():
    layer = make_layer()
    rule = make_rule(layer)
    assert layer.version == 2
    update_rule(rule, reason="x")
    layer.refresh_from_db()
    assert layer.version == 3


def test_a_save_of_what_somebody_else_changed_is_refused():
    layer = make_layer()
    seen = layer.version
    rule = make_rule(layer)
    common: dict[str, Any] = {"actor": SYSTEM, "version": seen}
    for late in (
        lambda: policies.update_layer(layer=layer.pk, values={"enabled": False}, **common),
        lambda: policies.delete_layer(layer=layer.pk, **common),
        lambda: policies.update_rule(rule=rule.pk, values={"enabled": False}, **common),
        lambda: policies.delete_rule(rule=rule.pk, **common),
        lambda: policies.reorder_rules(layer=layer.pk, order=[rule.pk], **common),
    ):
        with pytest.raises(Stale) as caught:
            late()
        assert (caught.value.expected, caught.value.found) == (1, 2)
    assert PolicyVersion.objects.count() == 2


def test_an_order_of_layers_is_refused_once_anybody_changed_the_policy():
    layers = [make_layer(name) for name in "ab"]
    order = [layers[1].pk, layers[0].pk]
    make_rule(layers[0])
    with pytest.raises(Stale) as caught:
        policies.reorder_layers(actor=SYSTEM, scope="config", version=2, order=order)
    assert (caught.value.expected, caught.value.found) == (2, 3)
    assert [layer.name for layer in Layer.objects.in_order()] == ["a", "b"]


def test_what_is_not_there_is_not_found():
    for missing in (
        lambda: policies.update_layer(actor=SYSTEM, layer=9, version=1, values={}),
        lambda: policies.create_rule(actor=SYSTEM, layer=9, values={"effect": "deny"}),
        lambda: policies.update_rule(actor=SYSTEM, rule=9, version=1, values={}),
        lambda: policies.roll_back(actor=SYSTEM, number=9),
        lambda: policies.version(number=9),
    ):
        with pytest.raises(NotFound):
            missing()


# --- faults of the database ----------------------------------------------------------------------


def everything():
    tables = (Layer, Rule, Document, PolicyVersion, PolicyState, Record, RecordBody)
    return [list(table.objects.order_by("pk").values()) for table in tables]


class Failing:
    """Lets some statements pass, and fails the next one."""

    def __init__(self, passing):
        self.left = passing

    def __call__(self, execute, *arguments):
        self.left -= 1
        if self.left == -1:
            raise OperationalError
        return execute(*arguments)


@pytest.mark.django_db(transaction=True)
def test_a_database_that_fails_at_any_statement_leaves_the_policy_as_it_was():
    layer = make_layer()
    rule, _ = make_rule(layer, id="a"), make_rule(layer, id="b")
    before = everything()
    for passing in count():
        try:
            with connection.execute_wrapper(Failing(passing)):
                update_rule(rule, reason="x", position=1)
            break
        except OperationalError:
            assert everything() == before
    assert (passing > 15, rule_ids(layer)) == (True, ["b", "a"])
    numbers = Record.objects.order_by("id").values_list("writer_n", flat=True)
    assert list(numbers) == list(range(numbers[0], numbers[0] + 4))


# --- cost ----------------------------------------------------------------------------------------


def test_reading_and_saving_cost_the_same_for_one_rule_and_for_five_hundred(
    django_assert_num_queries,
):
    layer = make_layer()
    first = make_rule(layer, id="first")

    def check_cost():
        layer.refresh_from_db()
        with django_assert_num_queries(2):
            policies.working_document()
        # Lock, layers, rules; rule, layer; two for each of document, version and record; the
        # document read again to compile it; the state; and a savepoint around it all.
        with django_assert_num_queries(15):
            policies.update_rule(
                actor=SYSTEM,
                rule=first.pk,
                version=layer.version,
                values={"reason": str(layer.version)},
            )

    check_cost()
    more = [
        Rule(layer=layer, rule_id=f"r{n}", effect="deny", match={"name": f"t{n}"}, position=n)
        for n in range(1, 500)
    ]
    Rule.objects.bulk_create(more)
    policies.publish(actor=SYSTEM)
    check_cost()
    assert len(live_document()["layers"][0]["policy"]["rules"]) == 500
