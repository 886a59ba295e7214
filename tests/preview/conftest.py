"""Tools and a layer to preview rules of."""

import pytest

from tests.factories import make_layer
from tests.registry.samples import imported, named


@pytest.fixture
def layer(db):
    imported(named("send", "read", "delete"))
    return make_layer()
