"""Proof that a recorded answer follows from what its record names: the same inputs, judged again.

Either every member of the answer is the same, or it is said which differ, or what is missing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import zip_longest
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from toolpolicy.audit.writer import leaf_hash
from toolpolicy.engine.faults import join, shown
from toolpolicy.engine.questions import parse_list_question
from toolpolicy.engine.schema_changes import same
from toolpolicy.engine.values import ABSENT
from toolpolicy.models import Document, Record
from toolpolicy.models.choices import RecordKind
from toolpolicy.services.decisions.answers import told_in
from toolpolicy.services.decisions.listing import list_by
from toolpolicy.services.decisions.recording import ENGINE
from toolpolicy.services.decisions.replaying import facts_of, replay_of, restored
from toolpolicy.services.errors import Altered, NotFound

Wire = Mapping[str, Any]
JUDGED: Final = (RecordKind.DECISION, RecordKind.SIMULATION, RecordKind.LISTING)


class Verdict(StrEnum):
    """What came of it."""

    SAME = "same"
    DIFFERS = "differs"
    INCOMPLETE = "incomplete"


class Lack(StrEnum):
    """Why a record cannot be judged again."""

    KIND = "kind"
    TEXT = "text"
    ALTERED = "altered"
    ENGINE = "engine"
    VALUES = "values"
    POLICY = "policy"
    REGISTRY = "registry"
    SETTINGS = "settings"


WORDS: Final[Mapping[str, Any]] = {
    Verdict.SAME: _("The same inputs give the same answer, member by member."),
    Verdict.DIFFERS: _("The same inputs give another answer."),
    Verdict.INCOMPLETE: _("It cannot be judged again: something is missing."),
    Lack.KIND: _("only decisions, simulations and listings are judged"),
    Lack.TEXT: _("the record's text is no longer kept"),
    Lack.ALTERED: _("the text is not the one that was hashed, so it proves nothing"),
    Lack.ENGINE: _("answers have another meaning since: engine %(then)s then, %(now)s now"),
    Lack.VALUES: _("values that the text does not show are no longer kept: %(places)s"),
    Lack.POLICY: _("the policy is not kept: %(digest)s"),
    Lack.REGISTRY: _("the registry is not kept: %(digest)s"),
    Lack.SETTINGS: _("the settings are not kept: %(digest)s"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A member of the answer (a JSON pointer) that came out otherwise."""

    pointer: str
    recorded: Any = field(hash=False)
    replayed: Any = field(hash=False)

    @property
    def recorded_text(self) -> str:
        """The recorded value, shortly."""
        return _short(self.recorded)

    @property
    def replayed_text(self) -> str:
        """The value that came out now, shortly."""
        return _short(self.replayed)

    def wire(self) -> dict[str, Any]:
        """Return it as JSON; what is not there is left out."""
        sides = {"recorded": self.recorded, "replayed": self.replayed}
        known = {name: value for name, value in sides.items() if value is not ABSENT}
        return {"pointer": self.pointer, **known}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What came of judging a record again: `lacks` are words by code, empty unless incomplete.

    `judged_by` are the digests that it names, and `members` how many values were compared.
    """

    verdict: Verdict
    lacks: Mapping[Lack, str] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    judged_by: Mapping[str, Any] = field(default_factory=dict)
    members: int = 0

    @property
    def told(self) -> tuple[str, ...]:
        """What is missing, in words. A template that asks `lacks` for `values` gets that lack."""
        return tuple(self.lacks.values())

    def wire(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "verdict": str(self.verdict),
            "message": str(WORDS[self.verdict]),
            "missing": [{"code": str(c), "message": text} for c, text in self.lacks.items()],
            "differences": [one.wire() for one in self.differences],
            "judged_by": dict(self.judged_by),
            "compared": self.members,
        }


def _short(value: Any) -> str:
    return "nothing" if value is ABSENT else shown(value).strip("`")


def prove(record: Record) -> Proof:
    """Judge a record again by exactly what it names, and compare.

    At most seven queries, none for what is cached; one more for a body that is not loaded.
    """
    if record.kind not in JUDGED:
        return _incomplete(Lack.KIND)
    if not hasattr(record, "body"):
        return _incomplete(Lack.TEXT)
    if leaf_hash(record.body.text) != record.leaf_hash:
        return _incomplete(Lack.ALTERED)
    body, gone = restored(record)
    judged_by = {name: body[name] for name in ("engine", "policy", "registry", "settings", "now")}
    lacks = dict(_lacks(body, gone))
    recorded: Wire = {}
    replayed: Wire = {}
    if not lacks:
        try:
            recorded, replayed = _again(record, body)
        except NotFound as error:
            lacks = dict(_not_kept(body)) or {Lack.ALTERED: error.faults[0].message}
        except Altered as error:
            lacks = {Lack.ALTERED: error.faults[0].message}
    if lacks:
        return Proof(verdict=Verdict.INCOMPLETE, lacks=lacks, judged_by=judged_by)
    found = tuple(_differences(recorded, replayed, ""))
    return Proof(
        verdict=Verdict.DIFFERS if found else Verdict.SAME,
        differences=found,
        judged_by=judged_by,
        members=_count(recorded),
    )


def _incomplete(lack: Lack) -> Proof:
    return Proof(verdict=Verdict.INCOMPLETE, lacks={lack: str(WORDS[lack])})


def _lacks(body: Wire, gone: tuple[str, ...]) -> Iterator[tuple[Lack, str]]:
    if body["engine"] != ENGINE:
        said = {"then": body["engine"], "now": ENGINE}
        yield Lack.ENGINE, str(WORDS[Lack.ENGINE]) % said
    if gone:
        yield Lack.VALUES, str(WORDS[Lack.VALUES]) % {"places": ", ".join(gone)}


def _not_kept(body: Wire) -> Iterator[tuple[Lack, str]]:
    """Yield which of the documents that a record names are gone. One query."""
    named = {
        Lack.POLICY: body["policy"]["digest"],
        Lack.REGISTRY: body["registry"],
        Lack.SETTINGS: body["settings"],
    }
    kept = set(Document.objects.filter(digest__in=named.values()).values_list("digest", flat=True))
    for lack, digest in named.items():
        if digest and digest not in kept:
            yield lack, str(WORDS[lack]) % {"digest": digest}


def _again(record: Record, body: Wire) -> tuple[Wire, Wire]:
    """Return the recorded answer, and the one that its inputs give. Raises `NotFound`."""
    return _listing(body) if record.kind == RecordKind.LISTING else _decision(body)


def _decision(body: Wire) -> tuple[Wire, Wire]:
    return told_in(body["answer"]), replay_of(body).answer


def _listing(body: Wire) -> tuple[Wire, Wire]:
    question = replace(parse_list_question(body["asked"]), context=body["context"])
    tools, withheld = list_by(question, facts_of(body))
    listed = [[tool["family"], tool["name"], tool["call"]] for tool in tools]
    recorded = {name: body[name] for name in ("listed", "withheld")}
    return recorded, {"listed": listed, "withheld": withheld}


def _differences(recorded: Any, replayed: Any, at: str) -> Iterator[Difference]:
    if isinstance(recorded, dict) and isinstance(replayed, dict):
        for name in [*recorded, *(name for name in replayed if name not in recorded)]:
            pair = recorded.get(name, ABSENT), replayed.get(name, ABSENT)
            yield from _differences(*pair, join(at, name))
    elif isinstance(recorded, list) and isinstance(replayed, list):
        for number, pair in enumerate(zip_longest(recorded, replayed, fillvalue=ABSENT)):
            yield from _differences(*pair, join(at, number))
    elif not same(recorded, replayed):
        yield Difference(pointer=at, recorded=recorded, replayed=replayed)


def _count(value: Any) -> int:
    """Return how many plain values JSON holds."""
    if isinstance(value, dict):
        return sum(map(_count, value.values()))
    return sum(map(_count, value)) if isinstance(value, list) else 1
