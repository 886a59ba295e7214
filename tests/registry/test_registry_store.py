"""The registry's snapshot: kept by digest, read with a fixed number of queries."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.registry.samples import ADMIN, imported, named, tool
from toolpolicy.engine import canonical
from toolpolicy.engine.registry import Registry
from toolpolicy.models import Document, PolicyState
from toolpolicy.services import registry, registry_store
from toolpolicy.services.errors import NotFound

pytestmark = pytest.mark.django_db


def digest() -> str:
    return PolicyState.objects.get().registry_digest


def fresh_load(name: str) -> tuple[Registry, int]:
    registry.load.cache_clear()
    # What another cache still holds of a test before this one is known, too.
    registry_store._entries.clear()
    with CaptureQueriesContext(connection) as captured:
        found = registry.load(name)
    return found, len(captured)


def test_before_anything_is_registered_the_registry_is_empty():
    assert digest() == ""
    assert len(registry.live()) == 0


def test_the_snapshot_is_a_canonical_document_under_its_digest():
    imported(named("run", "Stop"), family="b")
    imported(named("run"), family="a")
    document = Document.objects.get(digest=digest())
    listed = json.loads(document.text)
    assert document.text == canonical.dumps(listed)
    assert canonical.digest(document.text) == document.digest
    assert [(tool["family"], tool["name"]) for tool in listed["tools"]] == [
        ("a", "run"),
        ("b", "Stop"),
        ("b", "run"),
    ]
    assert set(listed["tools"][0]) == {"family", "name", "state", "trusted", "declaration"}


def test_a_registry_is_read_with_as_many_queries_for_a_hundred_tools_as_for_one():
    imported(named("run"))
    one = fresh_load(digest())
    imported(named(*(f"tool_{n}" for n in range(99))), family="many")
    many = fresh_load(digest())
    assert (len(one[0]), len(many[0])) == (1, 100)
    assert one[1] == many[1] == 2


def test_a_cached_registry_costs_no_query_and_is_the_same_value():
    imported(named("run"))
    name = digest()
    found, _ = fresh_load(name)
    with CaptureQueriesContext(connection) as captured:
        assert registry.load(name) is found
    assert len(captured) == 0


def test_a_registry_of_the_past_is_read_as_it_was():
    imported({"tools": [tool("run", description="Old.")]})
    old = digest()
    imported({"tools": [tool("run", description="New."), tool("stop")]})
    registry.retire_tool(actor=ADMIN, family="box", name="stop")
    found, queries = fresh_load(old)
    assert [entry.subject.description for entry in found] == ["Old."]
    assert queries == 3


def test_an_unknown_digest_is_not_found():
    with pytest.raises(NotFound):
        registry.load("sha256:" + "0" * 64)


@pytest.mark.django_db(transaction=True)
def test_threads_read_one_registry():
    imported(named("run", "stop"))
    name = digest()

    def read(_: int) -> int:
        try:
            return len(registry.load(name))
        finally:
            connection.close()

    registry.load.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(read, range(16))) == {2}
