"""Who asks for decisions."""

import pytest

from tests.live import make_client
from toolpolicy.services.actors import Actor


@pytest.fixture
def client_actor():
    return Actor.for_client(make_client())
