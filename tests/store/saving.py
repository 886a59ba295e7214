"""Layers and rules saved by the tests, and what is stored then."""

import json

import pytest

from tests.factories import SYSTEM, live_version
from toolpolicy.models import Layer, Record, Rule
from toolpolicy.services import policies
from toolpolicy.services.errors import InvalidInput


def live_document():
    return json.loads(live_version().document.text)


def last_change():
    return json.loads(Record.objects.newest_first().select_related("body")[0].body.text)


def faults_of(call, *args, **kwargs):
    with pytest.raises(InvalidInput) as caught:
        call(*args, **kwargs)
    return [(fault.pointer, fault.code) for fault in caught.value.faults]


def create_layer(**values):
    return policies.create_layer(actor=SYSTEM, values=values)


def update_layer(layer, **values):
    return policies.update_layer(actor=SYSTEM, layer=layer.pk, version=layer.version, values=values)


def create_rule(layer, **values):
    return policies.create_rule(actor=SYSTEM, layer=layer.pk, values=values)


def update_rule(rule, **values):
    version = Layer.objects.get(pk=rule.layer_id).version
    return policies.update_rule(actor=SYSTEM, rule=rule.pk, version=version, values=values)


def rule_ids(layer):
    rules = Rule.objects.filter(layer=layer).in_order()
    assert [rule.position for rule in rules] == list(range(len(rules)))
    return [rule.rule_id for rule in rules]
