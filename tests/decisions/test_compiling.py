"""After a publication one thread of a process compiles; the others wait for it."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from tests.registry.samples import imported, named
from toolpolicy.engine.compiled import CompiledPolicy
from toolpolicy.engine.registry import Registry, read_registry
from toolpolicy.engine.values import Policy
from toolpolicy.models import PolicyState
from toolpolicy.services import live, registry_store
from toolpolicy.services.made_once import made_once


@pytest.fixture
def made(monkeypatch):
    """Give the policies that were compiled, each of which takes a while."""
    found = []

    def compile_slowly(policy):
        time.sleep(0.05)
        found.append(policy)
        return CompiledPolicy(policy)

    live.compiled.cache_clear()
    monkeypatch.setattr(live, "CompiledPolicy", compile_slowly)
    monkeypatch.setattr(live, "policy_of", lambda _digest: Policy())
    monkeypatch.setattr(registry_store, "load", lambda _digest: Registry())
    yield found
    live.compiled.cache_clear()


def test_a_new_policy_is_compiled_once_however_many_threads_ask(made):
    with ThreadPoolExecutor(8) as pool:
        ready = list(pool.map(lambda _: live.compiled("new", "registry"), range(8)))
    assert len(made) == 1
    assert {id(policy) for policy in ready} == {id(ready[0])}


def test_what_is_compiled_is_not_compiled_again(made):
    assert live.compiled("a", "registry") is live.compiled("a", "registry")
    live.compiled("b", "registry")
    assert len(made) == 2


def test_of_one_value_there_is_one_maker_and_of_others_another():
    started = Barrier(2)

    @made_once(4)
    def make(key: str) -> object:
        started.wait(timeout=30)  # two that are made at the same time
        return object()

    keys = distinct_locks(2)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(make, keys * 4))
    assert len(set(found)) == 2
    assert found[::2] == [found[0]] * 4


def distinct_locks(count: int) -> list[str]:
    """Return keys that do not share a lock; which do differs from process to process."""
    by_lock = {hash((key,)) % 16: key for key in map(str, range(1_000))}
    return list(by_lock.values())[:count]


def test_an_error_is_not_kept():
    tries = []

    @made_once(4)
    def make(key: str) -> str:
        tries.append(key)
        if len(tries) == 1:
            raise OSError
        return key

    with pytest.raises(OSError):  # noqa: PT011  (it has no message)
        make("a")
    assert (make("a"), make("a"), len(tries)) == ("a", "a", 2)
    make.cache_clear()
    assert (make("a"), len(tries)) == ("a", 3)


@pytest.mark.django_db(transaction=True)
def test_a_registry_is_read_once_however_many_threads_ask(monkeypatch):
    imported(named("run", "stop"))
    digest = PolicyState.objects.get().registry_digest
    read = []

    def read_slowly(*given):
        time.sleep(0.05)
        read.append(given)
        return read_registry(*given)

    def load(_: int) -> Registry:
        try:
            return registry_store.load(digest)
        finally:
            connection.close()

    registry_store.load.cache_clear()
    monkeypatch.setattr(registry_store, "read_registry", read_slowly)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(load, range(8)))
    assert (len(read), {id(registry) for registry in found}) == (1, {id(found[0])})
