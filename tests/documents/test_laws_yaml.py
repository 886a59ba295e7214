"""Laws of policy files: YAML carries every JSON value and policy exactly (SPEC §10)."""

import json

from tests.growing import documents
from tests.strategies import json_value, law, several
from toolpolicy.engine import canonical, strictjson
from toolpolicy.engine.documents import dump_policy, parse_policy
from toolpolicy.services.documents import yaml_text


@law(values=several(json_value))
def test_a_value_survives_yaml_with_the_kinds_of_its_numbers(values):
    for value in values:
        held = strictjson.loads(canonical.dumps(value).encode())
        back = yaml_text.loads(yaml_text.dumps(held).encode()).value
        assert json.dumps(back) == json.dumps(held)


@law(written=several(documents))
def test_a_policy_survives_yaml(written):
    for document in written:
        policy = parse_policy(document)
        text = yaml_text.dumps(dump_policy(policy))
        assert parse_policy(yaml_text.loads(text.encode()).value) == policy
