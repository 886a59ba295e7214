"""The settings that change what a decision means, as a document that records can name."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from django.db import transaction

from toolpolicy.audit import writer
from toolpolicy.conf import UnregisteredTools, conf
from toolpolicy.engine import canonical
from toolpolicy.models import Document, PolicyState
from toolpolicy.models.choices import RecordKind
from toolpolicy.services.actors import Actor
from toolpolicy.services.made_once import made_once
from toolpolicy.services.stored_texts import made_of

FORMAT: Final = "toolpolicy-settings/1"


@dataclass(frozen=True, slots=True)
class Deployment:
    """What this deployment says where the policy is silent (SPEC §8)."""

    unregistered_tools: UnregisteredTools

    @property
    def text(self) -> str:
        """Its canonical document."""
        return _written(self)[0]

    @property
    def digest(self) -> str:
        """The digest that records name."""
        return _written(self)[1]


# Every decision names the digest; a process has one such document.
@lru_cache(maxsize=len(UnregisteredTools))
def _written(deployment: Deployment) -> tuple[str, str]:
    """Return the canonical document and its digest."""
    said = {"format": FORMAT, "unregistered_tools": deployment.unregistered_tools}
    text = canonical.dumps({name: str(value) for name, value in said.items()})
    return text, canonical.digest(text)


def current() -> Deployment:
    """Return the settings of this process."""
    return Deployment(unregistered_tools=conf().unregistered_tools)


@made_once(len(UnregisteredTools))
def load(digest: str) -> Deployment:
    """Return the settings with this digest. One query unless cached.

    Raises `Lost` and `Altered`.
    """
    return made_of("settings document", digest, FORMAT, _said_in)


def _said_in(document: Any) -> Deployment:
    return Deployment(unregistered_tools=UnregisteredTools(document["unregistered_tools"]))


def in_force(stored_digest: str) -> Deployment:
    """Return this process's settings, and see to it that records can name them.

    `stored_digest` is the one in the state row. Settings never seen before are adopted at once;
    known ones that are not the stored ones are left to `adopt`, so that two processes which
    disagree do not take turns. No query where the digests agree, one where they do not.
    """
    deployment = current()
    if deployment.digest != stored_digest:
        known = Document.objects.filter(digest=deployment.digest)
        if not known.exists():
            adopt()
    return deployment


@transaction.atomic
def adopt() -> None:
    """Make this process's settings the stored ones, with a record where that changes something."""
    deployment = current()
    document = Document(digest=deployment.digest, text=deployment.text)
    Document.objects.bulk_create([document], ignore_conflicts=True)
    state = PolicyState.objects.select_for_update().get(pk=1)
    if state.settings_digest == deployment.digest:
        return
    before, state.settings_digest = state.settings_digest, deployment.digest
    state.save(update_fields=["settings_digest"])
    body = {
        "actor": Actor.system("settings").wire(),
        "what": "the deployment's settings changed",
        "digests": {"before": before, "after": deployment.digest},
        "settings": {"unregistered_tools": str(deployment.unregistered_tools)},
    }
    index = writer.RecordIndex(actor_label="settings", object_label="settings")
    writer.write(kind=RecordKind.CHANGE, body=body, index=index)
