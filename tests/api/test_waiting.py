"""What happens while a request waits for the database counts for it already."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from tests.live import SYSTEM, make_live, strict
from toolpolicy.models import Freeze, Layer, Record, SessionTaint
from toolpolicy.services import clients, freezes, seen

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = {"surface": "call", "tool": "x", "context": {"agent": "research", "session": "s-1"}}
LISTED = {"surface": "catalog", "subjects": [{"name": "x"}], "context": {"agent": "research"}}
FREEZE = {"kind": "agent", "value": "research", "reason": "posting loop"}


@pytest.fixture
def meanwhile(monkeypatch):
    """Let something be committed when the next transaction was about to begin."""

    def arrange(happens: Callable[[], Any]) -> None:
        begin, left = connection.set_autocommit, [happens]

        def waits(autocommit: bool, *arguments: Any, **options: Any) -> None:
            if not autocommit and left:
                left.pop()()
            begin(autocommit, *arguments, **options)

        monkeypatch.setattr(connection, "set_autocommit", waits)

    yield arrange
    seen.forget()


@pytest.fixture
def warm(api):
    """Give the API with its key's use noted, over a policy that denies what is untrusted."""
    make_live([strict({"effect": "deny", "match": {}, "when": {"untrusted_content": "true"}})])
    assert api.post("decisions/", QUESTION).json()["outcome"] == "allow"
    SessionTaint.objects.all().delete()
    return api


def freeze() -> None:
    freezes.freeze(actor=SYSTEM, values=FREEZE)


def lift() -> None:
    Freeze.objects.update(lifted_at="2026-01-01T00:00:00Z")


def deny() -> None:
    make_live([strict({"effect": "deny", "match": {}})])


def plain(body: Any) -> Any:
    return body


def first(body: Any) -> Any:
    return body["results"][0]


ASKED = [
    ("decisions/", QUESTION, {}, plain),
    ("decisions/", QUESTION, {"Idempotency_Key": "k"}, plain),
    ("explain/", QUESTION, {}, plain),
    ("decisions/batch/", {"items": [QUESTION]}, {}, first),
]


@pytest.mark.parametrize("asked", ASKED, ids=["plain", "repeatable", "explained", "in a batch"])
@pytest.mark.parametrize(
    ("happens", "code"), [("freeze", "frozen"), ("deny", "rule_denied"), ("taint", "rule_denied")]
)
def test_a_decision_is_judged_by_what_stands_after_the_wait(warm, meanwhile, asked, happens, code):
    def taint() -> None:
        SessionTaint.objects.create(client=warm.client, session="s-1")

    meanwhile({"freeze": freeze, "deny": deny, "taint": taint}[happens])
    path, sent, headers, answer = asked
    found = answer(warm.post(path, sent, **headers).json())
    assert (found["outcome"], found["reason_code"]) == ("deny", code)


def test_a_listing_is_judged_by_what_stands_after_the_wait(warm, meanwhile):
    assert len(warm.post("catalog/", LISTED).json()["tools"]) == 1
    meanwhile(freeze)
    assert warm.post("catalog/", LISTED).json()["tools"] == []


def test_what_is_lifted_during_the_wait_stops_no_more(warm, meanwhile):
    freeze()
    meanwhile(lift)
    assert warm.post("decisions/", QUESTION).json()["outcome"] == "allow"


WRITES = [
    ("layers/", {"name": "new", "scope": "config", "combining": "deny_overrides"}),
    ("clients/", {"name": "child"}),
    ("freezes/", FREEZE),
    ("families/", {"name": "kit", "kind": "toolpack"}),
    ("audit/holds/", {"name": "case", "reason": "a case", "filter": {"agent": "a"}}),
]


@pytest.mark.parametrize(
    ("path", "sent"), [*WRITES, *((path, sent) for path, sent, *_ in ASKED), ("catalog/", LISTED)]
)
def test_a_key_that_is_revoked_during_the_wait_does_and_learns_nothing(warm, meanwhile, path, sent):
    before = Record.objects.latest("pk").pk
    meanwhile(lambda: clients.revoke(actor=SYSTEM, client=warm.client.pk))
    refused = warm.post(path, sent)
    assert (refused.status_code, refused.json()["code"]) == (401, "key_revoked")
    kinds = Record.objects.filter(pk__gt=before).order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["key", "refused"]
    assert not Layer.objects.filter(name="new").exists()


def test_the_same_writes_pass_where_nobody_revokes_the_key(warm):
    for path, sent in WRITES:
        assert warm.post(path, sent).status_code == 201


def test_a_key_may_revoke_itself_and_then_nothing_any_more(warm):
    assert warm.post(f"clients/{warm.client.pk}/revoke/").status_code == 200
    assert warm.post("decisions/", QUESTION).status_code == 401
