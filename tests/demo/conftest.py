"""The demo, loaded as a newcomer loads it: after the baseline."""

from typing import Any

import pytest

from toolpolicy.models import (
    Document,
    Layer,
    PolicyState,
    PolicyVersion,
    Rule,
    Tool,
    ToolDeclaration,
    ToolFamily,
)
from toolpolicy.services import demo, policies
from toolpolicy.services.actors import Actor

ACTOR = Actor.system("a test")
TABLES = (Document, PolicyVersion, Layer, Rule, ToolFamily, ToolDeclaration, Tool)
_rows: dict[Any, Any] = {}


@pytest.fixture
def loaded(db) -> None:
    """Put the demo in: by the services the first time, afterwards as they left them."""
    if _rows:
        for table in TABLES:
            table._base_manager.bulk_create(_rows[table])
        PolicyState.objects.update(**_rows[PolicyState])
        return
    policies.install_baseline(actor=ACTOR)
    demo.load(actor=ACTOR)
    _rows.update({table: list(table._base_manager.all()) for table in TABLES})
    _rows[PolicyState] = PolicyState.objects.values("live_id", "registry_digest").get()
