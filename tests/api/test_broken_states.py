"""Whatever is wrong with what is stored, a request is refused and recorded, and never allowed.

Somebody who owns the database broke one row; each way into a decision meets it.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, transaction

from tests.api.test_fault_injection import forget
from tests.audit.logs import tampering
from tests.factories import SYSTEM
from tests.live import make_live, strict
from tests.registry.samples import imported, named
from toolpolicy.engine import canonical
from toolpolicy.engine.questions import parse_list_question, parse_question
from toolpolicy.models import ApiClient, Document, Freeze, Masking, PolicyState, Record
from toolpolicy.services import decisions, deployment, masking, registry_store
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import ServiceError

pytestmark = pytest.mark.django_db
NOWHERE = "sha256:" + "0" * 64
CALL = {"surface": "call", "tool": "wipe"}
CATALOG = {"surface": "catalog"}
REST: dict[str, dict[str, Any]] = {
    "decisions/": CALL,
    "decisions/batch/": {"items": [CALL, {**CALL, "tool": "read"}]},
    "catalog/": CATALOG,
}
IN_PROCESS: dict[str, Callable[[Actor], Any]] = {
    "decide": lambda asker: decisions.decide(asker=asker, question=parse_question(CALL)),
    "decide_batch": lambda asker: decisions.decide_batch(
        asker=asker, questions=[parse_question(CALL), parse_question(CALL)]
    ),
    "list_tools": lambda asker: decisions.list_tools(
        asker=asker, question=parse_list_question(CATALOG)
    ),
}


def state(**values: str) -> Callable[[], None]:
    return lambda: update("toolpolicy_policystate", **values)


def version(document: str) -> Callable[[], None]:
    return lambda: update("toolpolicy_policyversion", document_id=digest_of(document))


def update(table: str, **values: str) -> None:
    sets = ", ".join(f"{name} = %s" for name in values)
    with tampering() as cursor:
        cursor.execute(f"UPDATE {table} SET {sets}", [digest_of(v) for v in values.values()])  # noqa: S608


def delete(table: str) -> None:
    with tampering() as cursor:
        cursor.execute(f"DELETE FROM {table}")  # noqa: S608


def digest_of(named: str) -> str:
    """Return the digest of a stored document by its kind, or of a new one; else what is given."""
    if named.startswith("text "):
        text = named.removeprefix("text ")
        digest = canonical.digest(text)
        Document.objects.create(digest=digest, text=text)
        return digest
    found = PolicyState.objects.select_related("live").get()
    known = {
        "policy": found.live.document_id if found.live else "",
        "registry": found.registry_digest,
        "settings": found.settings_digest,
        "masking": found.masking_digest,
    }
    return known.get(named, named)


def freeze_of_unknown_kind() -> None:
    sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute(
            "PRAGMA ignore_check_constraints = 1"
            if sqlite
            else "ALTER TABLE toolpolicy_freeze DROP CONSTRAINT freeze_kind_known"
        )
        Freeze.objects.create(kind="x", value="hunter2", reason="hunter2")
        if sqlite:
            cursor.execute("PRAGMA ignore_check_constraints = 0")


def pinned(text: str) -> Callable[[], None]:
    return lambda: update("toolpolicy_apiclient", pinned_context=text)


ALTERED, INTERNAL = (503, "altered"), (500, "internal")
# What is broken: how, and the status and code that every way in answers.
BROKEN: dict[str, tuple[Callable[[], None], tuple[int, str]]] = {
    "the live version names no document": (version(""), ALTERED),
    "the policy is gone": (version(NOWHERE), ALTERED),
    "a registry in the place of the policy": (version("registry"), ALTERED),
    "settings in the place of the policy": (version("settings"), ALTERED),
    "a policy that is no JSON": (version("text nonsense"), ALTERED),
    "a policy that is no object": (version("text []"), ALTERED),
    "a policy of layers that are none": (
        version('text {"format":"toolpolicy/1","layers":[{}]}'),
        ALTERED,
    ),
    "the state names no registry": (state(registry_digest=""), ALTERED),
    "the registry is gone": (state(registry_digest=NOWHERE), ALTERED),
    "a registry digest of another form": (state(registry_digest="x"), ALTERED),
    "a policy in the place of the registry": (state(registry_digest="policy"), ALTERED),
    "masking in the place of the registry": (state(registry_digest="masking"), ALTERED),
    "a registry of tools that are none": (
        state(registry_digest='text {"format":"toolpolicy-registry/1","tools":[{}]}'),
        ALTERED,
    ),
    "the declarations are gone": (lambda: delete("toolpolicy_tooldeclaration"), ALTERED),
    "the state names no masking": (state(masking_digest=""), ALTERED),
    "the masking is gone": (state(masking_digest=NOWHERE), ALTERED),
    "a registry in the place of the masking": (state(masking_digest="registry"), ALTERED),
    "masking that is of another form": (
        state(masking_digest='text {"format":"toolpolicy-masking/1","all":{"mode":"x"}}'),
        ALTERED,
    ),
    "a key bound to a list": (pinned('["agent"]'), ALTERED),
    "a key bound to a word": (pinned('"agent"'), ALTERED),
    "a key bound to null": (pinned("null"), ALTERED),
    "a freeze of an unknown kind": (freeze_of_unknown_kind, INTERNAL),
}


def forget_all() -> None:
    forget()
    for cached in (masking.load, deployment.load):
        cached.cache_clear()
    registry_store._entries.clear()


@pytest.fixture
def house(api) -> Iterator[Any]:
    """Give the API over a policy that denies `wipe`, as it is before something is broken."""
    imported(named("read", "wipe"))
    make_live([strict({"effect": "deny", "match": {"name": "wipe"}})])
    rules = {"keys": ["*token*"]}
    masking.change(actor=SYSTEM, version=Masking.objects.get().version, rules=rules)
    assert api.post("decisions/", CALL).json()["outcome"] == "deny"
    forget_all()
    # What is broken must not meet the check of foreign keys at the end of a test.
    around = transaction.atomic()
    # As the one of the test itself, and no caller's.
    around._from_testcase = True  # type: ignore[attr-defined]
    with around:
        yield api
        transaction.set_rollback(True)
    forget_all()


def new_records(after: int) -> list[Record]:
    return list(Record.objects.filter(pk__gt=after).select_related("body").order_by("pk"))


def last() -> int:
    return Record.objects.latest("pk").pk


def expect_refused(response: Any, expected: tuple[int, str], after: int) -> None:
    problem = response.json()
    assert (response.status_code, problem["code"]) == expected
    assert problem["outcome"] == "deny"
    (record,) = new_records(after)
    assert (record.kind, record.outcome, record.reason_code) == ("refused", "refused", expected[1])
    assert record.request_id == problem["request_id"]
    assert "hunter2" not in record.body.text


def expect_nothing(way: Callable[[Actor], Any], code: str, client: ApiClient) -> None:
    after = last()
    with pytest.raises(KeyError if code == "internal" else ServiceError) as raised:
        way(Actor.for_client(client))
    assert getattr(raised.value, "code", "internal") == code
    assert new_records(after) == []


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_state_is_a_recorded_deny_and_in_process_an_error(house, name):
    broken, expected = BROKEN[name]
    broken()
    for path, sent in REST.items():
        after = last()
        expect_refused(house.post(path, sent), expected, after)
    for way in IN_PROCESS.values():
        expect_nothing(way, expected[1], ApiClient.objects.get(pk=house.client.pk))


def test_a_fault_that_nobody_foresaw_is_recorded_without_its_text(house, monkeypatch):
    def fail(*_: Any) -> Any:
        raise RuntimeError("hunter2")

    monkeypatch.setattr("toolpolicy.services.decisions.gather", fail)
    for path, sent in REST.items():
        after = last()
        expect_refused(house.post(path, sent), INTERNAL, after)


def test_a_refusal_whose_record_fails_too_stays_what_it_is(house, monkeypatch):
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("hunter2")

    state(masking_digest=NOWHERE)()
    monkeypatch.setattr("toolpolicy.services.refusals.record", fail)
    after = last()
    for path, sent in REST.items():
        response = house.post(path, sent)
        assert (response.status_code, response.json()["code"]) == ALTERED
        assert response.json()["outcome"] == "deny"
        assert "hunter2" not in response.content.decode()
    assert new_records(after) == []


def test_a_listing_by_a_policy_that_is_too_old_is_a_recorded_deny(house):
    after = last()
    response = house.post("catalog/", {**CATALOG, "min_policy_version": 999})
    expect_refused(response, (503, "stale_policy"), after)


@pytest.mark.parametrize(
    "broken",
    [lambda: PolicyState.objects.update(live=None), lambda: delete("toolpolicy_policystate")],
    ids=["nothing is live", "no state"],
)
def test_without_a_policy_every_way_in_denies_and_records(house, broken):
    broken()
    after = last()
    expect_refused(house.post("catalog/", CATALOG), (503, "no_policy"), after)
    answers = [
        house.post("decisions/", CALL).json(),
        *house.post("decisions/batch/", REST["decisions/batch/"]).json()["results"],
    ]
    assert {(one["outcome"], one["reason_code"]) for one in answers} == {("deny", "no_policy")}
    assert [one.kind for one in new_records(after)[1:]] == ["decision"] * 3


@pytest.mark.parametrize("how", ["gone", "of another form"])
def test_a_repeat_that_is_explained_by_settings_that_are_broken_is_a_recorded_deny(house, how):
    asked: dict[str, Any] = {**CALL, "explain": True}
    assert house.post("decisions/", asked, Idempotency_Key="k").status_code == 200
    digest = deployment.current().digest
    with tampering() as cursor:
        if how == "gone":
            cursor.execute("DELETE FROM toolpolicy_document WHERE digest = %s", [digest])
        else:
            cursor.execute("UPDATE toolpolicy_document SET text = '{}' WHERE digest = %s", [digest])
    forget_all()
    after = last()
    expect_refused(house.post("decisions/", asked, Idempotency_Key="k"), ALTERED, after)
