"""The API held to its own description: whatever is sent, no server error and no other answer."""

import pytest
import schemathesis
from django.db import connections
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from project.wsgi import application
from tests.factories import SYSTEM, make_layer, make_rule
from toolpolicy.services import registry

# Methods that are not offered have a test of their own (test_scopes).
CONFIG = schemathesis.Config.from_dict({"phases": {"coverage": {"unexpected-methods": []}}})
schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", application, config=CONFIG)
CHECKS = (
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
# For each of some 35 operations; a case takes some 50 ms, most of it to make one up.
EXAMPLES = 6
SERVER_ERROR = 500


@pytest.fixture
def filled(api, monkeypatch):
    """Give the API with something to find behind small numbers."""
    # A real server closes a connection that is inside a transaction: here it is the test's own.
    monkeypatch.setattr(connections["default"], "close_if_unusable_or_obsolete", lambda: None)
    document = {"tools": [{"name": "send_mail"}, {"name": "wipe"}]}
    registry.import_tools(actor=SYSTEM, family="mail", document=document)
    layer = make_layer()
    make_rule(layer, match={"name": "wipe"})
    api.post("decisions/", {"surface": "call", "tool": "send_mail"})
    return api


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
    ],
)
def test_every_operation_keeps_to_its_description(filled, case):
    response = case.call(headers={"Authorization": f"Bearer {filled.key}"})
    case.validate_response(response, checks=CHECKS)
    # A newer policy than any can be asked for; then there is no answer, and that is no failure.
    assert response.status_code < SERVER_ERROR or response.json()["code"] == "stale_policy"
