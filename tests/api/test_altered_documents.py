"""What is changed in the database decides nothing: a policy, a registry, a declaration."""

from collections.abc import Iterator

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from tests.api.test_fault_injection import forget
from tests.audit.logs import tampering, verdict
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, named
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import Document, PolicyState, PolicyVersion, Record, ToolDeclaration
from toolpolicy.services import decisions, health, registry_store, sealing
from toolpolicy.services.decisions.proving import Lack, Verdict, prove
from toolpolicy.services.errors import Altered

pytestmark = pytest.mark.django_db
CALL = {"surface": "call", "tool": "wipe"}


@pytest.fixture
def house(db) -> Iterator[None]:
    imported(named("read", "wipe"))
    make_rule(make_layer(), match={"name": "wipe"})
    assert outcome() == "deny"
    sealing.seal()
    assert verdict().good
    forget()
    yield
    forget()


def outcome() -> str:
    answer = decisions.decide(asker=SYSTEM, question=parse_question(CALL))
    return str(answer.document["outcome"])


def altered(model: type[Document | ToolDeclaration], digest: str, old: str, new: str) -> None:
    table = model._meta.db_table
    with tampering() as cursor:
        cursor.execute(
            f"UPDATE {table} SET text = replace(text, %s, %s) WHERE digest = %s",  # noqa: S608
            [old, new, digest],
        )


def policy() -> None:
    digest = PolicyVersion.objects.order_by("-number")[0].document_id
    altered(Document, digest, '"deny"', '"hide"')


def registry() -> None:
    altered(Document, PolicyState.objects.get().registry_digest, '"wipe"', '"wipf"')


def declaration() -> None:
    digest = ToolDeclaration.objects.get(text__contains='"wipe"').digest
    altered(ToolDeclaration, digest, '"wipe"', '"wipf"')


@pytest.mark.parametrize("change", [policy, registry, declaration])
def test_what_was_changed_decides_nothing_and_verification_names_it(house, change):
    record = Record.objects.filter(kind="decision").latest("pk")
    change()
    with pytest.raises(Altered, match="is not what its digest says"):
        outcome()
    proof = prove(record)
    assert list(proof.lacks) == [Lack.ALTERED]
    assert "is not what its digest says" in proof.lacks[Lack.ALTERED]
    said = verdict().first
    assert said is not None
    assert (str(said.kind), "is not what its digest says" in said.message) == ("altered", True)
    assert len(verdict().findings) == 1


def test_a_record_whose_declarations_are_gone_is_not_proven(house):
    record = Record.objects.filter(kind="decision").latest("pk")
    registry_store._entries.clear()
    with transaction.atomic():
        with tampering() as cursor:
            cursor.execute("DELETE FROM toolpolicy_tooldeclaration")
        proof = prove(record)
        transaction.set_rollback(True)
    assert (proof.verdict, list(proof.lacks)) == (Verdict.INCOMPLETE, [Lack.ALTERED])
    assert "there is no declaration" in proof.lacks[Lack.ALTERED]


def test_a_server_says_so_and_refuses(api, house):
    policy()
    forget()
    answer = api.post("decisions/", CALL)
    assert (answer.status_code, answer.json()["code"]) == (503, "altered")
    assert answer.json()["outcome"] == "deny"
    assert "is not what its digest says" in health.readiness()["policy"]
    assert APIClient().get("/readyz").status_code == 503


def test_a_version_whose_document_is_gone_is_named(house):
    version = PolicyVersion.objects.order_by("-number")[0]
    with tampering() as cursor:
        cursor.execute(
            "UPDATE toolpolicy_policyversion SET document_id = %s WHERE id = %s",
            ["sha256:" + "0" * 64, version.pk],
        )
        found = verdict().findings
        cursor.execute(
            "UPDATE toolpolicy_policyversion SET document_id = %s WHERE id = %s",
            [version.document_id, version.pk],
        )
    live = f"the live version {version.number} has the document `sha256:{'0' * 64}`"
    assert [(str(one.kind), one.message.split(";")[0]) for one in found] == [
        ("missing", f"the document of version {version.number} of the policy is gone"),
        ("altered", live),
    ]
