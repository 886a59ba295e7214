"""A policy or a registry made live from its document, for tests of what decides by them."""

from collections.abc import Sequence
from typing import Any

from toolpolicy.engine import canonical
from toolpolicy.engine.documents import FORMAT, parse_policy
from toolpolicy.models import ApiClient, Document, PolicyState, PolicyVersion, ToolFamily
from toolpolicy.services import registry
from toolpolicy.services.actors import Actor

SYSTEM = Actor.system("tests")


def make_live(layers: Sequence[dict[str, Any]]) -> PolicyVersion:
    """Publish a document of these layers, past the rows that an admin edits."""
    document = {"format": FORMAT, "layers": list(layers)}
    parse_policy(document)
    text = canonical.dumps(document)
    stored, _ = Document.objects.get_or_create(
        digest=canonical.digest(text), defaults={"text": text}
    )
    number = PolicyVersion.objects.count() + 1
    version = PolicyVersion.objects.create(
        number=number, document=stored, published_by_label="tests"
    )
    PolicyState.objects.filter(pk=1).update(live=version)
    return version


def strict(*rules: dict[str, Any], name: str = "base", **envelope: Any) -> dict[str, Any]:
    """Return a strict config layer of these rules; ids are given where missing."""
    policy = {
        "name": name,
        "default": envelope.pop("default", "allow"),
        "rules": [{"id": f"r{number}", **rule} for number, rule in enumerate(rules)],
    }
    place = {"scope": "config", "position": 0, "combining": "deny_overrides"}
    return {**place, **envelope, "policy": policy}


def register(family: str, *documents: dict[str, Any], **laid: Any) -> None:
    """Declare tools of a family by hand; `laid` is given to each of them."""
    if not ToolFamily.objects.filter(name=family).exists():
        registry.create_family(actor=SYSTEM, values={"name": family, "kind": "toolpack"})
    for document in documents:
        registry.declare_tool(actor=SYSTEM, family=family, document=document, laid=laid or None)


def make_client(name: str = "harness", key_id: str = "testkey1") -> ApiClient:
    """Return a client with a key that nobody holds."""
    return ApiClient.objects.create(
        name=name, key_id=key_id, secret_hash="0" * 64, scopes=["decide"]
    )
