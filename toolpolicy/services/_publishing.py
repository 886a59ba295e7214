"""From a changed draft of the policy to rows, a version, the live pointer and a record.

Every change of the policy goes through `publish`: the whole document that would result is parsed
first, so that nothing is ever stored that could not be live.
"""

from dataclasses import dataclass

from django.db.models import Max

from toolpolicy.audit import writer
from toolpolicy.engine.canonical import digest, dumps
from toolpolicy.models import Document, Layer, PolicyState, PolicyVersion, Rule
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import sealing
from toolpolicy.services._policy_draft import Draft, Sent
from toolpolicy.services._policy_rows import Wire
from toolpolicy.services._policy_store import store
from toolpolicy.services.actors import Actor, Origin
from toolpolicy.services.baseline import BASELINE_NAMES
from toolpolicy.services.errors import Refused
from toolpolicy.services.live import compiled


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who changes the policy, and from where."""

    actor: Actor
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One user action: its stable name, what was done in words, and what it was done to."""

    action: str
    summary: str
    layer: str = ""
    rule: str = ""
    kind: RecordKind = RecordKind.CHANGE

    @property
    def label(self) -> str:
        """What the change is about, for lists of records; no layer: several, or their order."""
        return f"{self.layer} / {self.rule}" if self.rule else self.layer or "the policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What a change came to. `changed` is false when it left the policy as it was."""

    changed: bool
    version: PolicyVersion | None
    layer: Layer | None = None
    rule: Rule | None = None


def publish(draft: Draft, author: Author, change: Change, sent: Sent | None = None) -> Saved:
    """Store the draft, make it live and record it; nothing of that when nothing changed.

    Must run in the transaction that opened the draft. Raise InvalidInput in terms of what was
    sent, Refused (`baseline_protected`) when the actor may not change the baseline.
    """
    after = draft.settle(sent)
    text = dumps(after)
    new_digest, live = digest(text), draft.state.live
    published = live is not None and live.document_id == new_digest
    if published and text == dumps(draft.before):
        return _saved(live, sent, changed=False)
    _guard_baseline(draft.before, after, author.actor)
    store(draft)
    if live is None or live.document_id != new_digest:
        live = _make_live(draft.state, _stored_document(new_digest, text), author, change)
    _record(draft.before, after, live, author, change)
    sealing.after_commit()
    return _saved(live, sent, changed=True)


def _saved(version: PolicyVersion | None, sent: Sent | None, *, changed: bool) -> Saved:
    layer = sent.place.layer if sent else None
    rule = sent.place.rules[sent.rule] if sent and sent.rule is not None else None
    return Saved(changed=changed, version=version, layer=layer, rule=rule)


def _stored_document(new_digest: str, text: str) -> str:
    if not Document.objects.filter(pk=new_digest).exists():
        Document.objects.create(digest=new_digest, text=text)
    return new_digest


def _make_live(state: PolicyState, document: str, author: Author, change: Change) -> PolicyVersion:
    last = PolicyVersion.objects.aggregate(number=Max("number"))["number"] or 0
    version = PolicyVersion.objects.create(
        number=last + 1,
        document_id=document,
        published_by_id=author.actor.user.pk if author.actor.user else None,
        published_by_label=author.actor.label,
        comment=change.summary,
        request_id=author.origin.request_id,
    )
    # Compiled before the pointer moves: here at least, no decision waits for it.
    compiled(document, state.registry_digest)
    state.live = version
    state.save(update_fields=("live",))
    return version


def _record(before: Wire, after: Wire, live: PolicyVersion, author: Author, change: Change) -> None:
    body = {
        "action": change.action,
        "summary": change.summary,
        "actor": author.actor.wire(),
        "origin": author.origin.wire(),
        "object": {"layer": change.layer, **({"rule": change.rule} if change.rule else {})},
        "policy": {"version": live.number, "digest": live.document_id},
        "before": before,
        "after": after,
    }
    index = writer.RecordIndex(
        layer=change.layer,
        rule=change.rule,
        policy_version=live.number,
        actor_label=author.actor.label,
        object_label=change.label,
        request_id=author.origin.request_id,
    )
    writer.write(kind=change.kind, body=body, index=index, client=author.actor.client)


def _guard_baseline(before: Wire, after: Wire, actor: Actor) -> None:
    """Raise Refused when a baseline layer differs (SPEC §6); its position does not matter."""
    if dumps(_baseline(before)) != dumps(_baseline(after)) and not actor.may("change_baseline"):
        raise Refused(
            "baseline_protected",
            "the baseline layers can be changed only with the permission `change_baseline`",
        )


def _baseline(document: Wire) -> dict[str, Wire]:
    named = {entry["policy"]["name"]: entry for entry in document["layers"]}
    return {
        name: {member: value for member, value in entry.items() if member != "position"}
        for name, entry in named.items()
        if name in BASELINE_NAMES
    }
