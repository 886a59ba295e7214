"""One record as a page shows it: what was asked, what was answered, and why."""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, Final

from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.tracing.answers import AnswerView
from toolpolicy.admin.words import Words
from toolpolicy.audit.commitments import MASKED
from toolpolicy.audit.writer import leaf_hash
from toolpolicy.engine.faults import join
from toolpolicy.engine.met_values import HIDDEN, without_values
from toolpolicy.engine.values import Policy
from toolpolicy.models import Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.services import decisions
from toolpolicy.services.decisions import proving
from toolpolicy.services.decisions.proving import Proof, Verdict
from toolpolicy.services.errors import NotFound
from toolpolicy.services.evidence.seals import Holds, Seal, is_overdue, seal_of
from toolpolicy.services.live import policy_of
from toolpolicy.services.payloads import Payload, ValuesMissing, without_payload

JUDGED: Final = (RecordKind.DECISION, RecordKind.SIMULATION)
SEALS: Final[Mapping[Holds, Words]] = {
    Holds.GOOD: _("The proof checks: record, path and the signature over the block fit together."),
    Holds.RECORD_ALTERED: _(
        "The proof does not check: the record, or a hash beside it, is not what was sealed."
    ),
    Holds.BLOCK_ALTERED: _("The proof does not check: the block is not as it was signed."),
    Holds.BLOCK_MISSING: _("The proof does not check: the block that held the record is missing."),
    Holds.KEY_UNKNOWN: _("The proof does not check: no key of the log signed the block."),
}


class RecordView:
    """A record, read for its page: without what the caller sent, unless `payload` is given."""

    def __init__(self, record: Record, payload: Payload | None = None) -> None:
        self.record = record
        self.kind = RecordKind(record.kind).label
        # Retention deletes texts; the record and its hash stay.
        self.text: str | None = record.body.text if hasattr(record, "body") else None
        self.stored: dict[str, Any] = json.loads(self.text) if self.text else {}
        self.payload = payload
        self.body = payload.body if payload else without_payload(self.stored)

    @property
    def judged(self) -> bool:
        """Whether it is a decision or a simulation, with an answer to show."""
        return self.record.kind in JUDGED and "answer" in self.body

    @property
    def title(self) -> str:
        """Say in words what happened."""
        record = self.record
        if self.judged:
            who = record.agent or record.actor_label
            return gettext("%(who)s asked about %(tool)s") % {"who": who, "tool": record.tool}
        summary = self.body.get("summary")
        if isinstance(summary, str):
            return f"{record.actor_label} {summary}"
        return f"{capfirst(self.kind)}: {record.object_label or record.actor_label}"

    @property
    def masked(self) -> list[dict[str, Any]]:
        """What the text does not show: where, by which rule, and why it is missing if it is."""
        missing = self.payload.missing if self.payload else {}
        told = self.stored.get(MASKED, [])
        return [{**one, "missing": missing.get(one["pointer"], "")} for one in told]

    @property
    def has_payload(self) -> bool:
        """Whether there is something that only who may read payloads sees."""
        return MASKED in self.stored or without_payload(self.stored) != self.stored

    @property
    def context(self) -> Mapping[str, str]:
        """The context that the decision was judged by, without what is masked of it."""
        hidden = {one["pointer"] for one in self.masked}
        context: dict[str, str] = self.body.get("context", {})
        if self.payload:
            return context
        return {k: HIDDEN if join("/context", k) in hidden else v for k, v in context.items()}

    @property
    def has_arguments(self) -> bool:
        """Whether the call had an arguments document, which can be null."""
        return "arguments" in self.body.get("asked", {})

    @property
    def arguments(self) -> str:
        """The arguments, laid out."""
        return laid_out(self.body["asked"]["arguments"])

    @property
    def laid_out_text(self) -> str:
        """The whole text, laid out."""
        return laid_out(self.body)

    @property
    def intact(self) -> bool:
        """Whether the text still is the one whose hash was stored."""
        return self.text is not None and leaf_hash(self.text) == self.record.leaf_hash

    @cached_property
    def answered(self) -> AnswerView | None:
        """The answer as it was given, with its explanation: the stored one, else made anew."""
        if not self.judged:
            return None
        document, policy = self.body["answer"], Policy()
        with suppress(NotFound):
            policy = policy_of(self.body["policy"]["digest"])
        return AnswerView(document, self.context, self._explanation(), policy)

    @cached_property
    def _replayed(self) -> dict[str, Any] | None:
        """The explanation made anew; None where something is missing, which the proof names."""
        with suppress(NotFound, ValuesMissing):
            return decisions.replay(self.record).explanation
        return None

    def _explanation(self) -> dict[str, Any] | None:
        """Return the explanation: the values that rules met only with the payload."""
        stored: dict[str, Any] | None = self.body["answer"].get("explanation")
        if self.payload:
            return self._replayed or stored
        if stored is not None or self._replayed is None:
            return stored
        return without_values(self._replayed, self._hidden_keys())

    def _hidden_keys(self) -> set[str]:
        return {key for key, value in self.context.items() if value == HIDDEN}

    @cached_property
    def proof(self) -> Proof | None:
        """The recorded inputs judged again; None for what was not judged."""
        judged = self.record.kind in proving.JUDGED and "engine" in self.stored
        return proving.prove(self.record) if judged else None

    @property
    def proof_word(self) -> Any:
        """What came of it, in words."""
        return proving.WORDS[self.proof.verdict] if self.proof else ""

    @property
    def proof_same(self) -> bool:
        """Whether the answer is proven."""
        return self.proof is not None and self.proof.verdict is Verdict.SAME

    @cached_property
    def seal(self) -> Seal | None:
        """Its place in the log and whether the proof holds; None while it is not sealed."""
        return seal_of(self.record)

    @property
    def seal_word(self) -> Words:
        """What came of its proof, in words."""
        return SEALS[self.seal.proof] if self.seal else ""

    @property
    def seal_holds(self) -> bool:
        """Whether its place in the log is proven."""
        return self.seal is not None and self.seal.proof is Holds.GOOD

    @property
    def overdue(self) -> bool:
        """Whether it waits for its seal longer than it should."""
        return self.seal is None and is_overdue(self.record)


def laid_out(value: Any) -> str:
    """Return JSON laid out to be read."""
    return json.dumps(value, indent=2, ensure_ascii=False)
