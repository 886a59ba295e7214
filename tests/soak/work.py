"""What the processes of a trial do: decide, write records, seal."""

import json
import time
from dataclasses import dataclass, replace
from typing import Any, Final

from django.conf import settings
from django.db import transaction

from tests.live import make_client, make_live, strict
from tests.soak.children import Say, Work
from toolpolicy.audit import background, keeping, sealer, writer
from toolpolicy.audit.verification.whole import verify
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import ApiClient, Block, Leaf, Record
from toolpolicy.services import decisions, sealing
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import Unavailable

# As long as the text of a decision.
BODY: Final[dict[str, Any]] = {"asked": {"arguments": {"text": "x" * 900}}, "answer": {"n": 1}}
UNANSWERED: Final = "unanswered"
INDEX: Final = writer.RecordIndex(surface="call", outcome="allow", tool="send_mail", agent="a")


def prepare() -> None:
    """Publish a policy and make a client, where there is none."""
    if not ApiClient.objects.exists():
        make_live([strict({"effect": "deny", "match": {"name": "drop_*"}})])
        make_client()


def deciding(until: float) -> Work:
    """Ask again and again, and say the id of each decision once it was answered.

    Where the database keeps somebody waiting too long, as SQLite may, that is said: the caller has
    an error then, and no answer.
    """

    def work(say: Say) -> None:
        asker, number = Actor.for_client(ApiClient.objects.get()), 0
        while time.monotonic() < until:
            number += 1
            tool = "drop_table" if number % 3 == 0 else "send_mail"
            asked = {"surface": "call", "tool": tool, "context": {"agent": f"agent-{number}"}}
            try:
                say(decisions.decide(asker=asker, question=parse_question(asked)).decision_id)
            except Unavailable:
                say(UNANSWERED)

    return work


def writing(until: float) -> Work:
    """Write records as fast as it goes, and say at the end how many."""

    def work(say: Say) -> None:
        count = 0
        while time.monotonic() < until:
            with transaction.atomic():
                writer.write(kind="decision", body=BODY, index=INDEX)
            count += 1
        say(json.dumps(count))

    return work


def sealing_on(until: float, *, pause: float = 0.0) -> Work:
    """Do the worker's rounds."""

    def work(_say: Say) -> None:
        while time.monotonic() < until:
            keeping.keep()
            time.sleep(pause)

    return work


def with_thread(work: Work) -> Work:
    """Let a process also seal in a thread of its own, as a server without a worker does."""

    def both(say: Say) -> None:
        settings.TOOLPOLICY = replace(settings.TOOLPOLICY, seal_in_process=True)
        keeping.PATIENCE = keeping.PATIENCE * 0  # type: ignore[misc]  # at once, not after others
        background.keep_in_background()
        work(say)

    return both


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the log stands after a trial."""

    records: int
    blocks: int
    sealed: int
    numbered: bool
    good: bool
    first: str

    @property
    def whole(self) -> bool:
        """Whether every record is sealed once, without gaps, and the log is good."""
        return self.good and self.numbered and self.sealed == self.records


def lost(answered: set[str]) -> int:
    """Return how many decisions were answered and have no record."""
    known = {str(uid) for uid in Record.objects.values_list("uid", flat=True)}
    return len(answered - known)


def judged() -> Outcome:
    """Seal what is left and judge the log."""
    sealing.seal()
    verdict = verify(full=True)
    seqs = Leaf.objects.order_by("seq").values_list("seq", flat=True)
    # The checkpoint of the last seal is a record that waits.
    sealer.seal_all()
    return Outcome(
        records=Record.objects.count(),
        blocks=Block.objects.count(),
        sealed=Leaf.objects.values("record_id").distinct().count(),
        numbered=list(seqs) == list(range(1, len(seqs) + 1)),
        good=verdict.good,
        first="" if verdict.first is None else verdict.first.message,
    )
